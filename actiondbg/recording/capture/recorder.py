"""Run a tool, and have its actions recorded."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, ParamSpec

from actiondbg.errors import LaunchError, UsageError
from actiondbg.process.streams import Redirection, Streams
from actiondbg.recording.format.kind import is_recording
from actiondbg.support.closeable import Closeable
from actiondbg.tool.program import Program

P = ParamSpec("P")

IRDetail = Literal["changed", "function", "none"]

_END_SECONDS = 5.0  # that the tool has to end by itself when we do


class RecordedRun(NamedTuple):
    """A tool that was recorded, and has ended.

    Args:
        path: of the recording; None if there is none, as the tool made no MLIR context.
        status: with which the tool ended, negative for a signal.
    """

    path: Path | None
    status: int


class RecordingProcess(Closeable):
    """A tool that is recorded; leaving its ``with`` block ends it, if it has not ended."""

    def __init__(self, process: subprocess.Popen[bytes], path: Path | None) -> None:
        self.process = process
        self.path = path

    def wait(self) -> RecordedRun:
        """Wait for the end of the tool. Ctrl-C is for the tool, and does not end the waiting."""
        while self.process.returncode is None:
            try:
                self.process.wait()
            except KeyboardInterrupt:
                # It had it as well, from the terminal; not so if only we were sent a signal.
                self.process.send_signal(signal.SIGINT)
        return self._recorded()

    def poll(self, seconds: float) -> RecordedRun | None:
        """Wait for the end of the tool for some seconds at most; return None if it runs on."""
        try:
            if self._ends_in(seconds):
                return self.wait()
        except KeyboardInterrupt:
            self.process.send_signal(signal.SIGINT)
        return None

    def close(self) -> None:
        """End the tool, if it still runs; what it did until then is recorded."""
        if self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(_END_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self.process.kill()
            self.process.wait()

    def _ends_in(self, seconds: float) -> bool:
        """Wait for the end; Popen.wait asks again and again, and notices it up to 50 ms late."""
        # Imported only here, where the tool runs already.
        from actiondbg.support.interrupts import wait_for_end

        if self.process.returncode is not None:
            return True
        try:
            pidfd = os.pidfd_open(self.process.pid)
        except ProcessLookupError:
            return True  # a handler of signals has reaped it
        try:
            return wait_for_end(pidfd, seconds)
        finally:
            os.close(pidfd)

    def _recorded(self) -> RecordedRun:
        path = self.path
        if path is not None and not (path.exists() and path.stat().st_size):
            path.unlink(missing_ok=True)
            path = None
        return RecordedRun(path, self.process.returncode)


def start_recording(
    argv: Sequence[str],
    output: str | os.PathLike[str] | None,
    *,
    ir: IRDetail = "none",
    events: Sequence[str] = (),
    mlir_include: str | os.PathLike[str] | None = None,
    stdin: Redirection = None,
    stdout: Redirection = None,
    stderr: Redirection = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    on_compile: Callable[[], None] | None = None,
    upstream_log: str | os.PathLike[str] | None = None,
) -> RecordingProcess:
    """Start a tool whose actions are recorded. It ends when this thread does.

    Args:
        argv: its command line, such as ``["mlir-opt", "in.mlir", "--canonicalize"]``.
        output: where the recording is written; a recording that is there is replaced. None for no
            recording, with ``upstream_log``.
        ir: which IR is kept: "changed", the operations that an action changes, before and after;
            "function", the functions that they are in; or "none".
        events: the names of what is counted at each action, or ``["default"]``; see docs/stat.md.
        mlir_include: the tool's MLIR headers, when they are not found by themselves.
        stdin: a path, a file or its descriptor; None for ours.
        stdout: as ``stdin``.
        stderr: as ``stdin``.
        cwd: where the tool runs; None for here.
        env: the tool's environment; None for ours.
        on_compile: called when the agent is compiled, which takes some seconds, once.
        upstream_log: where to write what the tool's own --log-actions-to would.

    Raises:
        UsageError: the command line is empty, an event is not known, or what stands at ``output``
            is no recording.
        LaunchError: the tool cannot be started, or a file not be opened.
    """
    program = Program(list(argv), mlir_include, cwd, env, on_compile)
    orders = _orders(output, ir, events, upstream_log)
    agent = program.agent()
    with Streams(stdin, stdout, stderr).opened() as streams:
        path = None if output is None else _emptied(output)
        try:
            return RecordingProcess(program.popen(agent, orders, streams), path)
        except BaseException:
            if path is not None:
                path.unlink(missing_ok=True)
            raise


def _to_its_end(start: Callable[P, RecordingProcess]) -> Callable[P, RecordedRun]:
    def record(*args: P.args, **kwargs: P.kwargs) -> RecordedRun:
        """Run a tool to its end, and record its actions; see ``start_recording``."""
        with start(*args, **kwargs) as running:
            return running.wait()

    return record


record = _to_its_end(start_recording)  # with its parameters


def _orders(
    output: str | os.PathLike[str] | None,
    ir: IRDetail,
    events: Sequence[str],
    upstream_log: str | os.PathLike[str] | None,
) -> dict[str, str]:
    """Return what tells the agent what to write."""
    orders = {"ACTIONDBG_RECORD_PARENT": str(os.getpid())}
    if output is not None:
        orders["ACTIONDBG_RECORD"] = os.path.realpath(output)
        orders["ACTIONDBG_RECORD_IR"] = ir
        if events:
            # Only then: to try which events there are needs ctypes.
            from actiondbg.recording.statistics.event_probe import choose

            chosen = choose(events)
            orders["ACTIONDBG_RECORD_EVENTS"] = ",".join(event.spec for event in chosen)
    if upstream_log is not None:
        orders["ACTIONDBG_UPSTREAM_LOG"] = str(Path(upstream_log).absolute())
    return orders


def _emptied(output: str | os.PathLike[str]) -> Path:
    """Make the file of the recording, empty, before the tool is started for nothing."""
    # Asked before links are resolved: that of /dev/stdout may lead to a pipe, which has no path.
    if os.path.exists(output) and not os.path.isfile(output):
        raise UsageError(
            f"{os.fspath(output)!r} is no regular file, as a recording has to be: name one."
        )
    path = Path(os.path.realpath(output))
    try:
        if path.exists() and not (is_recording(path) or _is_empty(path)):
            raise UsageError(
                f"{str(path)!r} is no recording, and is not overwritten: name another file."
            )
        # A new file: who reads the one of before goes on reading it.
        path.unlink(missing_ok=True)
        path.touch()
    except OSError as error:
        raise LaunchError(
            f"{str(path)!r} cannot be written ({error.strerror}): name another file."
        ) from error
    return path


def _is_empty(path: Path) -> bool:
    found = path.stat()
    return stat.S_ISREG(found.st_mode) and not found.st_size
