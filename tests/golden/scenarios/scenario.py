"""Scenarios, their steps, and the tools and inputs that they share."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

FOLD = "mlir-opt fold.mlir --canonicalize"
CSE = "mlir-opt fold.mlir --canonicalize --cse"
MIXED = (
    "mlir-opt mixed.mlir --pass-pipeline='builtin.module(func.func(canonicalize),func.func(cse),"
    "symbol-dce,inline,canonicalize,sccp)'"
)
CRASH = "mlir-opt crash.mlir --canonicalize --finalize-memref-to-llvm"
VECTOR = "mlir-opt vector.mlir --convert-arith-to-spirv"
TENSOR = "mlir-opt tensor.mlir --allow-unregistered-dialect --one-shot-bufferize"
NOT_CONVERGED = (
    "mlir-opt fold.mlir "
    "--pass-pipeline='builtin.module(canonicalize{test-convergence=true max-iterations=1})'"
)
RECORD = f"actiondbg record -q -o run.adbrec --ir function -- {FOLD} -o out.mlir"
RECORD_PLAIN = f"actiondbg record -q -o plain.adbrec -- {FOLD} -o out.mlir"
OPEN = "open run.adbrec"


@dataclass(frozen=True)
class Step:
    """One command line, and how its output is kept.

    Args:
        shown: the command line in the transcript.
        command: the line of bash that is run.
        stdin: its standard input.
        merged: keep standard output and standard error as one stream, in the order of writing.
        squeezed: replace runs of spaces and dashes, for tables as wide as the durations in them.
        literal: keep durations, which are part of the text and not measured.
        commands: the commands of the shell, one a line.
    """

    shown: str
    command: str
    stdin: str = ""
    merged: bool = False
    squeezed: bool = False
    literal: bool = False
    commands: str = ""


@dataclass(frozen=True)
class Scenario:
    """Steps that share a directory, and the name of their transcript."""

    name: str
    steps: tuple[Step, ...]


def scenario(name: str, *steps: Step) -> Scenario:
    """Make a scenario of steps."""
    return Scenario(name, steps)


def line(command: str, stdin: str = "", *, squeezed: bool = False, literal: bool = False) -> Step:
    """Make a step of a line of bash."""
    return Step(command, command, stdin, squeezed=squeezed, literal=literal)


def session(target: str, commands: str, options: str = "", *, literal: bool = False) -> Step:
    """Make a step of a session in text: each command is echoed before its output.

    Args:
        target: a command line of a tool, or ``open RECORDING``.
        commands: one command a line.
        options: options of actiondbg.
        literal: as in Step.
    """
    words = shlex.join(
        word
        for command in commands.strip().splitlines()
        for word in ("-ex", f"echo (actiondbg) {command}", "-ex", command)
    )
    head = "actiondbg open" if target.startswith("open ") else "actiondbg"
    target = target.removeprefix("open ")
    options = f"-nx --batch --keep-going {options}".strip()
    return Step(
        f"{head} {options} -ex ... {target}",
        f"{head} {options} {words} {target}",
        merged=True,
        literal=literal,
        commands=commands,
    )


def json_session(target: str, commands: str) -> Step:
    """Make a step of a session in JSON, whose commands come from the standard input."""
    head = "actiondbg open --json" if target.startswith("open ") else "actiondbg --json"
    command = f"{head} -nx {target.removeprefix('open ')}"
    return Step(f"{command} < commands", command, f"{commands.strip()}\n", commands=commands)


_DOCUMENTED = Path(__file__).resolve().parents[3] / "docs/commands.md"


def documented_commands() -> list[str]:
    """Return the names of all commands, as the table of docs/commands.md has them."""
    names: list[str] = []
    for row in _DOCUMENTED.read_text().splitlines():
        if row.startswith("| `") and row.count(" | ") == 2 and "| does |" not in row:
            words = row.removeprefix("| `").split("`")[0].split(" [")[0].split()
            name = words[0]
            two = len(words) > 1 and name in ("alias", "delete", "info", "load", "macro", "save")
            if two and words[1].isalpha() and words[1].islower():
                name = f"{name} {words[1]}"
            if name not in names:
                names.append(name)
    return names


SUBCOMMANDS = (
    "bisect",
    "whatif",
    "lint",
    "compare",
    "lineage",
    "record",
    "log",
    "trace",
    "report",
    "stat",
    "query",
    "export",
    "import",
    "connect",
    "dap",
    "mcp",
    "open",
    "annotate",
    "cost",
    "doctor",
    "suite",
    "suite coverage",
    "suite list",
    "suite merge",
    "suite record",
    "track",
    "validate",
    "kernels",
    "kernels bisect",
    "kernels compile",
    "kernels count",
    "kernels generate",
    "kernels judge",
    "kernels profile",
    "kernels report",
    "kernels run",
    "kernels search",
    "kernels tune",
    "kernels verify",
)
