"""The native debugger of the tool's own code: gdb or lldb, attached to a fork of the tool."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from types import FrameType
from typing import Literal

import msgspec

from actiondbg import protocol
from actiondbg.errors import UsageError
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.process_status import process_status
from actiondbg.session.executions import Executions
from actiondbg.session.scout import Scout
from actiondbg.support.executables import which

Debugger = Literal["gdb", "lldb"]

_POLL_SECONDS = 0.02  # between two looks at whether the debugger has attached


class NativeRun(msgspec.Struct, kw_only=True, frozen=True):
    """A run of a native debugger."""

    debugger: Debugger  # "gdb" or "lldb"
    pid: int  # of the fork of the tool that it was attached to
    functions: list[protocol.NativeFunction]  # of the action, at which breakpoints were set
    status: int  # the exit status of the debugger
    output: str | None  # of the debugger and the fork; None if they had the terminal


class NativeDebugger:
    """Attaches native debuggers to forks of the stopped tool: the session is not affected."""

    def __init__(self, executions: Executions, scout: Scout) -> None:
        self._executions = executions
        self._scout = scout

    def attach(
        self,
        debugger: Debugger | None = None,
        commands: Sequence[str] = (),
        terminal: str | None = None,
        on_start: Callable[[NativeRun], None] = lambda _: None,
    ) -> NativeRun:
        """Attach a debugger to a fork of the tool, and wait for its end; the fork ends with it.

        Before an action, breakpoints are set at its functions (matchAndRewrite of a pattern,
        runOnOperation of a pass, the hook of a fold), and the fork continues to them. At a crash
        it continues to the signal.

        Args:
            debugger: None for gdb, or lldb where there is no gdb.
            commands: of the debugger, after which it ends.
            terminal: the path of the terminal, which the debugger uses then; None to run the
                commands only.
            on_start: called before the debugger starts.

        Raises:
            NotStopped: the tool is not stopped.
            UsageError: the debugger is not installed, or could not attach.
        """
        stop = self._executions.stop
        is_crash = stop is not None and stop.is_crash
        with self._scout.fork_tool() as fork:
            return debug_fork(
                fork, self._executions, debugger, commands, terminal, on_start, is_crash=is_crash
            )


def debug_fork(
    fork: ForkedTool,
    executions: Executions,
    debugger: Debugger | None = None,
    commands: Sequence[str] = (),
    terminal: str | None = None,
    on_start: Callable[[NativeRun], None] = lambda _: None,
    *,
    is_crash: bool = False,
) -> NativeRun:
    """Attach a debugger to a fork, perhaps one at a crash; see ``NativeDebugger.attach``."""
    name, program = _find(debugger)
    output = None if terminal else executions.new_print()
    if output is not None:
        output.touch()
    try:
        message = protocol.PrepareNative(output=terminal or str(output))
        run = NativeRun(
            debugger=name,
            pid=fork.pid,
            functions=fork.request(message).functions,
            status=0,
            output=None,
        )
        on_start(run)
        argv = [program, *_arguments(run, is_crash, commands)]
        status, has_attached = _run(argv, fork, output)
        text = None if output is None else output.read_text(errors="replace")
    finally:
        if output is not None:
            output.unlink(missing_ok=True)
    if not has_attached:
        raise UsageError(_refusal(run, text))
    return msgspec.structs.replace(run, status=status, output=text)


def _find(debugger: Debugger | None) -> tuple[Debugger, str]:
    names: tuple[Debugger, ...] = ("gdb", "lldb") if debugger is None else (debugger,)
    for name in names:
        found = which(name)
        if found is not None:
            return name, str(found)
    raise UsageError(f"{' or '.join(names)} was not found: install it, or add its folder to PATH.")


def _arguments(run: NativeRun, is_crash: bool, commands: Sequence[str]) -> list[str]:
    lines = ["continue"] if run.functions or is_crash else []
    return (_gdb if run.debugger == "gdb" else _lldb)(run, lines, commands)


def _gdb(run: NativeRun, lines: list[str], commands: Sequence[str]) -> list[str]:
    lines = [*(f"break *{one.address:#x}" for one in run.functions), *lines, *commands]
    # The pager would ask in the middle of the breakpoints.
    first, last = ["-iex", "set pagination off"], "set pagination on"
    if commands:
        # A fork that the debugger only detaches from would run on, and write.
        first, last = ["--batch", "-iex", "set confirm off"], "kill"
    words = [word for line in [*lines, last] for word in ("-ex", line)]
    return ["--quiet", *first, "-p", str(run.pid), *words]


def _lldb(run: NativeRun, lines: list[str], commands: Sequence[str]) -> list[str]:
    breakpoints = (f"breakpoint set --address {one.address:#x}" for one in run.functions)
    # The agent's signal for an arriving message; gdb passes it on by default.
    signals = "process handle SIGIO --stop false --notify false --pass true"
    lines = [signals, *breakpoints, *lines, *commands]
    first: list[str] = []
    if commands:
        first, lines = ["--batch"], [*lines, "process kill"]
    return [*first, "-p", str(run.pid), *(word for line in lines for word in ("-o", line))]


def _run(argv: list[str], fork: ForkedTool, output: Path | None) -> tuple[int, bool]:
    """Run the debugger; return its exit status, and whether it has attached to the fork."""
    with contextlib.ExitStack() as stack:
        if output is None:
            stack.enter_context(_interrupts_ignored())
            process = subprocess.Popen(argv)
        else:
            file = stack.enter_context(output.open("ab"))
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
            )
        try:
            has_attached = _wait_for_tracer(process, fork.pid)
            if has_attached:
                # The fork waits for this when the debugger lets it run.
                fork.resume_unattended()
            return process.wait(), has_attached
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _wait_for_tracer(process: subprocess.Popen[bytes], pid: int) -> bool:
    """Wait until a debugger is attached; return False if it has ended before."""
    while not ((status := process_status(pid)) and status.tracer):
        if process.poll() is not None:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _refusal(run: NativeRun, output: str | None) -> str:
    lines = (output or "").strip().splitlines()
    said = next((line for line in lines if "ptrace" in line or "attach" in line), "")
    why = f" ({said})" if said else ""
    return (
        f"{run.debugger} has not attached to process {run.pid}{why}: check that ptrace is allowed "
        "here, see ptrace(2) and /proc/sys/kernel/yama/ptrace_scope."
    )


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


@contextlib.contextmanager
def _interrupts_ignored() -> Generator[None]:
    """Leave Ctrl-C to the debugger, which gets it too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Not SIG_IGN, which the debugger would inherit.
    before = signal.signal(signal.SIGINT, _ignore)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
