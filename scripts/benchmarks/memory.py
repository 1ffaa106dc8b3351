"""The memory of the debugger and of the agent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import actiondbg
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import PIPELINE, many_functions
from scripts.benchmarks.overhead import BREAKPOINTS


def _status(process: int | str, field: str) -> float:
    text = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"/proc/{process}/status has no {field}")
    return int(found[1]) * 1024 / 1e6


def resident(process: int | str) -> float:
    """Return the resident memory of a process in MB."""
    return _status(process, "VmRSS")


def resident_peak(process: int | str) -> float:
    """Return the most that a process had resident, in MB."""
    return _status(process, "VmHWM")


def peak_of_run(argv: list[str], *, fails: bool = False) -> float:
    """Run to the end; return the most that it had resident, in MB."""
    code = (
        "import resource, subprocess, sys; run = subprocess.run(sys.argv[2:], "
        "stderr=subprocess.DEVNULL); assert bool(run.returncode) == (sys.argv[1] == 'fails'); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    expected = "fails" if fails else "ends well"
    run = subprocess.run(
        [sys.executable, "-c", code, expected, *argv], capture_output=True, text=True, check=True
    )
    return int(run.stdout) * 1024 / 1e6


def _debugger_at_a_stop(argv: list[str]) -> float:
    """Return what `actiondbg`, with its shell, has resident at a stop, in MB."""
    import pexpect  # only for this: a shell wants a terminal

    shell: pexpect.spawn[bytes] = pexpect.spawn(
        str(Path(sys.executable).with_name("actiondbg")),
        ["-nx", "-ex", "start", "--", *argv],
        env={**os.environ, "TERM": "xterm"},
        timeout=60,
    )
    shell.expect("Stopped before")
    shell.expect(r"\(actiondbg\)")
    assert shell.pid is not None
    held = resident(shell.pid)
    shell.close(force=True)
    return held


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar."""
    source = many_functions(directory / "memory.mlir", 100 if quick else 2000)
    flags = [f"--pass-pipeline={PIPELINE}", "-o", "/dev/null", "--mlir-disable-threading"]
    argv = [str(find_tool(tool).path), str(source), *flags]
    yield ("the debugger at a stop, MB resident", f"{_debugger_at_a_stop(argv):.0f}", "90")
    bare = peak_of_run(argv)
    with actiondbg.launch(argv) as session:
        for spec, condition in BREAKPOINTS:
            session.breakpoints.add(spec, condition)
        # The last action is over, and nothing is freed yet.
        session.breakpoints.add("pass:canonicalize", after=True)
        session.run()
        session.continue_()
        assert session.target.pid is not None
        held = resident_peak(session.target.pid)
    yield ("the agent in the tool with 20 breakpoints, MB at the peak", f"{held - bare:.1f}", "10")
