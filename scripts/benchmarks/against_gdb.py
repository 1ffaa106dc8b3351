"""First stop and steps, against gdb driving upstream's debugger hook."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect

import actiondbg
from actiondbg.tool import find_tool
from scripts.benchmarks.inputs import many_functions, one_function
from scripts.benchmarks.wall_time import seconds
from tests.fakes.dap_client import ServedClient

_HOOK = "mlirDebuggerBreakpointHook"
_INSTALL = "mlir::setupDebuggerExecutionContextHook"
_ADD_BREAKPOINT = (
    '-data-evaluate-expression "((void *(*)(const char *))mlirDebuggerAddTagBreakpoint)'
    '(\\"pass-execution\\")"'
)
_STEP = '-data-evaluate-expression "((void (*)(int))mlirDebuggerSetControl)(3)"'
_ENV = {**os.environ, "TERM": "xterm"}


def _first_stop(argv: list[str]) -> float:
    """Return the seconds from the start of `actiondbg` to its prompt at the first stop."""
    command = str(Path(sys.executable).with_name("actiondbg"))
    begin = time.perf_counter()
    shell: pexpect.spawn[bytes] = pexpect.spawn(
        command, ["-nx", "-ex", "start", "--", *argv], env=_ENV, timeout=60
    )
    shell.expect("Stopped before")
    shell.expect(r"\(actiondbg\)")
    taken = time.perf_counter() - begin
    shell.close(force=True)
    return taken


def _gdb(argv: list[str]) -> tuple[pexpect.spawn[bytes], float]:
    """Return gdb at its first stop in the hook, and the seconds that it took."""
    begin = time.perf_counter()
    gdb: pexpect.spawn[bytes] = pexpect.spawn(
        "gdb",
        ["-q", "-nx", "-i=mi3", "--args", *argv, "--mlir-enable-debugger-hook"],
        env=_ENV,
        timeout=120,
    )
    gdb.delaybeforesend = None  # pexpect's own 50 ms are not gdb's
    gdb.expect(rb"\(gdb\)")
    # Upstream's hook is called only where one of its own breakpoints is, and these can be
    # set only once it is installed.
    for command, answer in (
        ("-gdb-set breakpoint pending on", rb"\^done"),
        (f"-break-insert -f -t {_INSTALL}", rb"\^done"),
        (f"-break-insert -f {_HOOK}", rb"\^done"),
        ("-exec-run", rb"\*stopped[^\n]*"),
        (_ADD_BREAKPOINT, rb"\^done"),
        ("-exec-continue", rb"\*stopped[^\n]*breakpoint-hit[^\n]*" + _HOOK.encode()),
    ):
        gdb.sendline(command)
        gdb.expect(answer)
    return gdb, time.perf_counter() - begin


def _gdb_step(gdb: pexpect.spawn[bytes]) -> float:
    begin = time.perf_counter()
    gdb.sendline(_STEP)
    gdb.expect(rb"\^done")
    gdb.sendline("-exec-continue")
    gdb.expect(rb"\*stopped[^\n]*breakpoint-hit")
    return time.perf_counter() - begin


def _steps(argv: list[str], count: int) -> float:
    """Return the median seconds of one step there and back through Session."""
    with actiondbg.launch(argv) as session:
        session.start()
        return statistics.median(seconds(session.step) for _ in range(count))


def _editor_steps(argv: list[str], count: int) -> float:
    """Return the median seconds of next, its stop, the stack and the top scope over DAP."""
    client = ServedClient()
    try:
        client.launch(*argv)
        client.break_at("pattern:*")
        client.run()
        client.break_at()

        def step() -> None:
            client.resume("next")
            frame = client.frames()[0]["id"]
            scope = client.request("scopes", {"frameId": frame})["scopes"][0]
            client.parts(scope["variablesReference"])

        return statistics.median(seconds(step) for _ in range(count))
    finally:
        client.kill()


def measure(tool: str, directory: Path, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the rows: name, figure, bar; gdb's are left out where there is no gdb."""
    source = many_functions(directory / "steps.mlir", 20)
    argv = [str(find_tool(tool).path), str(source), "--canonicalize", "-o", "/dev/null"]
    rounds = 2 if quick else 5
    _first_stop(argv)
    first = statistics.median(_first_stop(argv) for _ in range(rounds))
    yield ("process start to the first stop at a prompt, s", f"{first:.2f}", "0.8")
    step = _steps(argv, 100 if quick else 1000)
    yield ("step there and back through Session, median, ms", f"{step * 1000:.3f}", "0.12")
    large = one_function(directory / "large.mlir", 7500)
    in_large = _steps([argv[0], str(large), *argv[2:]], 100 if quick else 1000)
    yield ("the same in a function of 7,500 operations", f"{in_large * 1000:.3f}", "0.3")
    seen = _editor_steps([argv[0], str(large), *argv[2:]], 100 if quick else 500)
    yield ("next, its stop, stack and top scope in an editor, there, ms", f"{seen * 1000:.1f}", "5")
    if shutil.which("gdb") is None:
        return
    taken: list[float] = []
    steps: list[float] = []
    for _ in range(rounds):
        gdb, begin = _gdb(argv)
        taken.append(begin)
        if not steps:
            steps = [_gdb_step(gdb) for _ in range(20 if quick else 100)]
        gdb.close(force=True)
    theirs = statistics.median(taken)
    yield (f"times ahead of gdb's {theirs:.1f} s", f"{theirs / first:.1f}", "at least 2")
    median = statistics.median(steps)
    yield (
        f"times ahead of gdb's step by name, {median * 1000:.1f} ms",
        f"{median / step:.0f}",
        "at least 20",
    )
