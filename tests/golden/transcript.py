"""Run a scenario and write its transcript, with what varies between runs replaced."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from scenarios import Scenario, Step

from tests.fakes import command_line

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(sys.prefix) / f"lib/python3.{sys.version_info.minor}/site-packages"
TOOLS = PACKAGES / "mlir/bin"
SECONDS = 120  # a step of the shell that hangs ends the test
# What only a shell does, outside of quotation marks.
_OF_THE_SHELL = re.compile(r"[|&;<>()$`\\\n*?\[\]~{}#!\"']")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")

_DURATION = r"\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)? ?(?:ns|us|ms|s|min)\b"
_REPLACED = [
    (r"\b(python3\.)\d+", r"\1N"),
    (r"\b(actiondbg )\d+\.\d+\.\d+\b", r"\1VERSION"),
    (r"\b[0-9a-f]{40}\b", "BUILD-ID"),
    (r"\b0x[0-9a-f]{6,}\b", "ADDRESS"),
    (r"\b(run=\w+-)[0-9a-f]{8}\b", r"\1HASH"),
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?", "DATE"),
    (r"\d+(?:\.\d+)? (?:B|kB|MB|bytes), \d+(?:\.\d+)? bytes each", "SIZE, SIZE each"),
    (r"\(\d+\.\d [kM]B\)", "(SIZE)"),
    (r"(?<=, )[\d,]+\.\d [kM]B\b", "SIZE"),
    # How often the plain tool runs beside the search of a bisection.
    (r'("plain_(?:bad|runs)": )[2-8]\b', r"\1N"),
    # How many operations the tool has before its first action; it depends on addresses.
    (r'(tracked(?:": | +))\d+', r"\1N"),
    (
        r'("(?:seconds|started_unix_ns|start_ns|duration_ns|self_ns|dur|ts)": ?)-?\d[\d.e+-]*',
        r"\1T",
    ),
    (r'("p?t?id": ?)(\d{3,})', r"\1PID"),
    (r"\b((?:process|pid) +)\d+\b", r"\1PID"),
    # Of info processes; its column is aligned to the right.
    (r"(?m)^process +pid\b", "process pid"),
    (r"(?m)^(p\d+) +\d+\b", r"\1 PID"),
    # Of tables of durations, which are aligned to the right.
    (r"(?m) +time(?=  name$)", " time"),
    (r'\b(forks(?:": "| +))\d[\d, ]*', r"\1PIDS"),
    (r'("automatic": )\{[^}]*\}', r"\1CHECKPOINTS"),
    (r"\bat byte \d+", "at byte N"),  # the header of a recording holds paths
    (r"\b(DIR/tmp/actiondbg-)(\w+-)?\w+", r"\1SCRATCH"),
    # Frames of a stack dump of the tool.
    (r"(?m)^ *#\d+ ADDRESS .*\n", ""),
    # Progress is printed at most so often a second.
    (r"(?m)^bisect: [^\n]*: \d+ trials?\b.*\n", ""),
]
# Durations are aligned to the right: the spaces before them vary as well.
_MEASURED = rf"(?m)(?:(?<=\s)|^) *{_DURATION}"


def transcribe(scenario: Scenario, directory: Path) -> str:
    """Run the steps of a scenario in a directory and return the transcript."""
    environment = _environment(directory)
    work = directory / "work"
    parts = [f"# {scenario.name}\n"]
    for step in scenario.steps:
        done = _run(step, work, environment)
        parts.append(f"\n$ {step.shown}\n--- exit status {done.returncode}\n")
        outputs = {"output" if step.merged else "stdout": done.stdout, "stderr": done.stderr or ""}
        for stream, text in outputs.items():
            kept = normalise(text, step, directory)
            if kept:
                end = "" if kept.endswith("\n") else "\n(no newline at the end)\n"
                parts.append(f"--- {stream}\n{kept}{end}")
    return "".join(parts)


def _run(step: Step, work: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    name, _, words = step.command.partition(" ")
    if name == "actiondbg" and _OF_THE_SHELL.search(_QUOTED.sub("", words)) is None:
        return command_line.run(
            *shlex.split(words), stdin=step.stdin, cwd=work, env=environment, merged=step.merged
        )
    return subprocess.run(
        ["bash", "-c", step.command],
        input=step.stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if step.merged else subprocess.PIPE,
        text=True,
        cwd=work,
        env=environment,
        timeout=SECONDS,
        check=False,
    )


def normalise(text: str, step: Step, directory: Path) -> str:
    """Replace what varies between runs and machines: paths, durations, versions, process ids."""
    for path, name in ((directory, "DIR"), (PACKAGES, "PACKAGES"), (ROOT, "ROOT")):
        text = text.replace(str(path), name)
    for pattern, replacement in _REPLACED:
        text = re.sub(pattern, replacement, text)
    if not step.literal:
        text = re.sub(_MEASURED, " T", text)
    if step.squeezed:
        text = re.sub(r"(?m) *$", "", re.sub(r"-{2,}", "--", re.sub(r" {2,}", " ", text)))
    return text


def _environment(directory: Path) -> dict[str, str]:
    """Return an environment that holds nothing of the user's but the way to the tools."""
    home = directory / "home"
    path = [str(Path(sys.executable).parent), str(TOOLS), "/usr/bin", "/bin"]
    kept = {name: os.environ[name] for name in ("CXX", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        "PATH": os.pathsep.join(path),
        "HOME": str(home),
        "TMPDIR": str(directory / "tmp"),
        "XDG_CACHE_HOME": str(directory / "cache"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONUNBUFFERED": "1",  # merged streams keep the order of writing
    }
