"""The processes of a session's tool, its scratch directory, and the updates at each stop."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from actiondbg import protocol
from actiondbg.errors import NoAnswer, NotStopped, UsageError
from actiondbg.process.execution import Execution, State, start_execution
from actiondbg.process.program_run import OtherTurn, Suspended, WaitingProgram
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Redirection, Streams
from actiondbg.process.tool_process import LaunchOptions, is_shared
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.support.scratch_directory import make_directory, remove_directory
from actiondbg.tool.program import Program

R = TypeVar("R", bound=protocol.Message)


class _Resources:
    """The resources released with a session, even if it is garbage-collected unclosed."""

    def __init__(self) -> None:
        self.execution: Execution | None = None
        self._directory: Path | None = None
        self._owner = os.getpid()

    def directory(self) -> Path:
        """Return the session's scratch directory, made at the first call."""
        if self._directory is None:
            self._directory = make_directory()
        return self._directory

    def release(self) -> None:
        """End the tool and remove the directory; not in a fork of the front end."""
        if os.getpid() != self._owner:
            return
        held = HeldInterrupts()
        with held, held.blocked():
            try:
                if self.execution is not None:
                    self.execution.kill()
            finally:
                if self._directory is not None:
                    remove_directory(self._directory)
                    self._directory = None


class Executions:
    """Starts, replaces and ends the processes of the tool, of which one is current.

    Sends requests to the agent of the current one (``AgentAccess``).
    """

    def __init__(self, program: Program, streams: Streams) -> None:
        self.program = program
        self.streams = streams
        self._default_streams = streams
        self._held = HeldInterrupts()
        self._beside = 0  # processes started beside a current one
        self._spool = ""  # the subdirectory with the output of the current one
        self._prints = 0
        self._resources = _Resources()
        self.is_closed = False

    @property
    def current(self) -> Execution | None:
        """The current process of the tool, which may have ended; None before the first."""
        return self._resources.execution

    @property
    def state(self) -> State:
        """Whether the tool runs."""
        return self.current.state if self.current else "not-running"

    @property
    def stop(self) -> Stop | None:
        """The current stop, or the end; None while the tool runs and before its first start."""
        current = self.current
        return current.stop if current and current.state != "running" else None

    @property
    def release(self) -> Callable[[], None]:
        """A function that ends the tool and removes the scratch directory.

        It holds no reference to this object.
        """
        return self._resources.release

    def need(self) -> Execution:
        """Return the current execution; raises NotStopped without one, UsageError if closed."""
        self._check_open()
        if self.current is None:
            raise NotStopped("The tool is not running: start it with run or start.")
        return self.current

    def need_idle(self) -> Execution:
        """Return the current execution; raises NotStopped when there is none, or it runs."""
        execution = self.need()
        if execution.state == "running":
            raise NotStopped("The tool is running: interrupt it first.")
        return execution

    def check_idle(self, what: str) -> None:
        """Raise NotStopped while the tool runs; ``what`` names the settings to change."""
        if self.state == "running" and not self.need().awaits_tool:
            raise NotStopped(f"The tool is running: interrupt it before changing {what}.")

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request to the agent; see ``AgentAccess``."""
        return self.need().request(message)

    # --- processes ---

    def redirect(self, streams: Streams) -> None:
        """Redirect the standard streams from the next start on; None restores the default."""
        self.streams = Streams(
            *(
                default if given is None else given
                for given, default in zip(streams, self._default_streams, strict=True)
            )
        )

    def prepare(self) -> None:
        """Look for the tool, and make the scratch directory.

        Raises:
            LaunchError: the tool is missing, or unsuitable for the agent.
            UsageError: the session is closed.
        """
        with self._held:  # an interrupt here would leak the directory
            self.file("")
        self.program.prepare()

    def start(self, options: LaunchOptions) -> Execution:
        """Start the tool and make it current, after the previous one was killed."""
        with self._held.alone():
            started = start_execution(self.program, self.file(""), self.streams, options)
            self._resources.execution = started
            self._spool = ""
        return started

    def follow(self, options: LaunchOptions) -> Execution | None:
        """Make the next process of the program current; return None if the program ended first."""
        ended = self.need()
        if ended.program is None:
            return None
        ended.program.go_on(ended.stop.status if ended.stop else None)
        if ended.holds_up():
            ended.release()
        if ended.program.suspended:
            return self._take_turn(ended.program.suspended[-1], options)
        following = Execution(ended.program, ended.program.listener, options)
        if not following.wait_for_tool():
            return None
        with self._held:
            ended.release()
            self._resources.execution = following
        return following

    def turn(self, turn: OtherTurn, options: LaunchOptions) -> Execution:
        """Make another process of the program current, while the current one runs on."""
        current = self.need()
        current.suspend(options.breakpoints)
        if turn.suspended is not None:
            return self._take_turn(turn.suspended, options)
        if current.program is None:
            return current
        with self._held:
            following = Execution(current.program, current.program.listener, options)
            self._resources.execution = following
        return following

    def share(self, breakpoints: Callable[[], list[protocol.WireBreakpoint]]) -> None:
        """Send breakpoints to the processes of the program that run while another has its turn."""
        current = self.current
        if current is not None and current.program is not None and current.program.suspended:
            wanted = breakpoints()
            for one in current.program.suspended:
                one.take_breakpoints(wanted)

    def _take_turn(self, suspended: Suspended, options: LaunchOptions) -> Execution:
        assert isinstance(suspended, Execution)
        with self._held:
            ended, self._resources.execution = self.current, suspended
            suspended.take_turn(options.breakpoints)
            if ended is not None and ended.state == "exited":
                if ended.is_changed and ended.stop is not None and ended.stop.process is not None:
                    suspended.keep_child(ended.stop.process)
                ended.release()
        return suspended

    def why_not_beside(self) -> str | None:
        """Return why no other process of the tool can be started; None if one can."""
        current = self.current.program if self.current else None
        if current is not None and not current.is_tool and current.current is not None:
            return (
                f"{current.current.name} cannot be started again without the rest of the "
                "program: run starts all of it."
            )
        if isinstance(self.program, WaitingProgram):
            return (
                "A program that waited in actiondbg.attach() goes forward only: it outlives the "
                "debugger, and is neither forked nor started again."
            )
        return None

    def start_beside(self, options: LaunchOptions) -> Execution:
        """Start another process of the tool, beside the current one.

        Raises:
            NoAnswer: a program started the tool, which is not to start its other tools again, or
                it waited for a front end.
        """
        if (why := self.why_not_beside()) is not None:
            raise NoAnswer(why)
        with self._held.alone():
            self._beside += 1
            directory = self.file(f"{self._beside}")
            directory.mkdir()
            return start_execution(self.program, directory, self.streams, options)

    def replace(self, execution: Execution) -> None:
        """Make an execution from ``start_beside`` current, and kill the previous one."""
        with self._held:
            if self.current is not None:
                self.current.kill()
            self._resources.execution = execution
            self._spool = execution.directory.name

    def update(self, stop: Stop) -> Stop:
        """Record the newest stop on the timeline."""
        self.need().branches.reach(stop)
        return stop

    def forget(self) -> None:
        """Drop the current execution."""
        self._resources.execution = None

    def close(self) -> None:
        """Refuse new processes and files; ``release`` ends the existing ones."""
        self.is_closed = True

    # --- files ---

    def file(self, name: str) -> Path:
        """Return the path of a file in the scratch directory; raises UsageError if closed."""
        self._check_open()
        return self._resources.directory() / name

    def _check_open(self) -> None:
        if self.is_closed:
            raise UsageError("The session is closed: launch another.")

    def new_print(self) -> Path:
        """Return the path of a new file for printed IR."""
        self._prints += 1
        return self.file(f"print-{self._prints}")

    def spooled(self, name: str, where: Redirection) -> str:
        """Return the output so far to "stdout" or "stderr"; raises UsageError if redirected."""
        if where is not None:
            raise UsageError(f"The tool's {name} is redirected: read it at its destination.")
        file = self.file(self._spool) / name
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    def shared_streams(self) -> list[int]:
        """Return the descriptors of the tool's streams that others write to, too.

        These may be we, or the process of a program that started the tool.
        """
        current = self.current
        if current is not None and current.program is not None and not current.program.is_tool:
            # A program that has gone on may have written to any file after the tool.
            return [1, 2] if current.has_been_seen_to_end else current.program.shared
        streams = ((1, self.streams.stdout), (2, self.streams.stderr))
        return [number for number, where in streams if is_shared(where)]


# A program ends its workers by SIGTERM when it needs them no longer, as a pool does.
_NO_ERROR = (0, -signal.SIGTERM)

Resuming = Callable[[], None]
Update = Callable[[Stop], Stop]


class StopUpdates:
    """Resumes the tool up to each stop of the session, and runs the updates.

    Args:
        resuming: called before the tool resumes, in any order.
        updates: called with the stop, in order; each returns the stop for the next one.
        follow: called when a tool has ended and the program that started it runs on; returns the
            stop of the next process of the program, or the end.
        turn: called when another process of the program has its turn; likewise.
    """

    def __init__(
        self,
        executions: Executions,
        resuming: list[Resuming],
        updates: list[Update],
        follow: Update,
        turn: Callable[[OtherTurn], Stop],
    ) -> None:
        self._executions = executions
        self._follow = follow
        self._turn = turn
        self._resuming = resuming
        self._updates = updates

    def resume(self, wait: Callable[[], Stop]) -> Stop:
        """Resume the tool, wait for its stop, and update the session.

        Args:
            wait: resumes and waits; if it raises, no update runs.

        Raises:
            SkipMismatch: a saved skip matches no action.
        """
        for each in self._resuming:
            each()
        stop = self._wait(wait)
        notes: list[str] = []  # of ends that are not shown
        while stop.status in _NO_ERROR and self._executions.need().goes_on:
            notes.append((stop.message or "").rpartition("\n")[0])
            stop = self._wait(functools.partial(self._follow, stop))
        if any(notes):
            message = "\n".join(filter(None, [*notes, stop.message]))
            stop = msgspec.structs.replace(stop, message=message)
        for update in self._updates:
            stop = update(stop)
        return stop

    def _wait(self, wait: Callable[[], Stop]) -> Stop:
        """Wait for a stop of the process that has its turn."""
        while True:
            try:
                return wait()
            except OtherTurn as turn:
                wait = functools.partial(self._turn, turn)


class InnerStops:
    """Counts the stops inside of an action, after the same event: crashes, failures, interrupts."""

    def __init__(self) -> None:
        self.event = 0
        self.number = 0

    def update(self, stop: Stop) -> Stop:
        """Count a stop."""
        number = self.number if self.event == stop.event else 0
        if stop.when != "during":
            number = 0
        elif stop.reason != "interrupt":
            number += 1
        self.event, self.number = stop.event, number
        return stop
