"""A fork of the tool: replays the run up to an action, or continues from there."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Generator
from typing import Literal, Protocol, TypeVar

from actiondbg import protocol
from actiondbg.errors import AgentError, NoAnswer, ProtocolError, ToolGone
from actiondbg.process.fork_process import ForkProcess
from actiondbg.process.process_status import processor_seconds
from actiondbg.process.stop import Stop, exit_of, final_crash, stop_of
from actiondbg.protocol.client import Client, ConnectionEnded, decode_notification
from actiondbg.support.closeable import Closeable
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import HeldInterrupts

R = TypeVar("R", bound=protocol.Message)

_END_SECONDS = 5.0  # from the end of the connection to the end of the process
NONDETERMINISTIC = "The tool may be nondeterministic."


class RunLimit:
    """The limit of a run that begins now. Processor time does not depend on the load.

    Args:
        pid: the process.
        seconds: of wall time; None for no limit.
        processor: seconds of processor time, of the process and its children that have ended; None
            for no limit.
    """

    def __init__(self, pid: int, seconds: float | None, processor: float | None) -> None:
        self._pid = pid
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._processor = None if processor is None else processor_seconds(pid) + processor

    def left(self) -> float | None:
        """Return the seconds until the limit can be exceeded, 0 if it is; None for no limit."""
        left: list[float] = []
        if self._deadline is not None:
            left.append(self._deadline - time.monotonic())
        if self._processor is not None:
            left.append(self._processor - processor_seconds(self._pid))
        return max(0.0, min(left)) if left else None


class Owner(Protocol):
    """The owner of all forks: makes them, and ends those that remain."""

    @property
    def held(self) -> HeldInterrupts:
        """Admits interrupts during a wait for a fork."""
        ...

    def make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None = None,
        message: protocol.Fork = ...,
    ) -> ForkedTool:
        """Make a fork of the process that ``ask`` sends requests to."""
        ...

    def forget(self, fork: ForkedTool) -> None:
        """Disown a fork that has ended or was handed over."""
        ...


class ForkedTool(Closeable):
    """A fork of the tool; close it. Another thread may close it during a wait.

    Its ``role`` decides about its output: a "replica" writes nothing, a "checkpoint" keeps the
    tool's files, a "trial" has files of its own, and the "tool" replaces the tool.

    Attributes:
        hello: the hello of its agent.
        stop: the current stop, or the end; None before the first action, and in an automatic
            checkpoint, which is stopped just before the event after ``event``.
        exited: its agent's notification before a normal end, or None.
        crashed: its agent's notification before a crash, or None.
        difference: the first action that differed from the run, in a replay up to here, or None.
    """

    def __init__(
        self, forks: Owner, process: ForkProcess, hello: protocol.Hello, stop: Stop | None
    ) -> None:
        self.hello = hello
        self.stop = stop
        self.exited: protocol.Exited | None = None
        self.crashed: protocol.Crashed | None = None
        self.difference: protocol.Difference | None = None
        self._forks = forks
        self._process = process

    @property
    def role(self) -> protocol.Role:
        return self.hello.role

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def event(self) -> int:
        """The newest event, from 1; 0 at the beginning."""
        return self.hello.event if self.stop is None else self.stop.event

    @property
    def is_closed(self) -> bool:
        """Whether it was closed or handed over, or is known to have ended."""
        return self._process.is_ended

    @property
    def is_gone(self) -> bool:
        """Whether its process has ended; the tool itself ends superfluous checkpoints."""
        return self._process.is_gone

    def close(self) -> None:
        """Kill the fork; a pending request of another thread raises ToolGone."""
        with self._forks.held:
            self._process.end()
            self._forks.forget(self)

    def hand_over(self) -> tuple[Client, int]:
        """Return the connection and the pidfd to a new owner; this object is closed.

        Raises:
            NotStopped: it is closed.
        """
        with self._forks.held:
            released = self._process.release()
            self._forks.forget(self)
            return released

    def request(self, message: protocol.Request[R], seconds: float | None = None) -> R:
        """Send a request to the fork's agent, and wait for the reply.

        Args:
            message: the request.
            seconds: to wait at most; None for no limit.

        Raises:
            NotStopped: the fork is closed.
            AgentError: the agent refused.
            ToolGone: the fork ended before it replied.
            TimeoutError: there was no reply in time; the fork is closed.
        """
        with self._forks.held, self._process.talk() as client:
            try:
                return client.request(message, seconds)
            except TimeoutError:
                self.close()
                raise
            except ConnectionEnded as ended:
                raise self._gone("The fork of the tool ended before it replied.") from ended
            except ProtocolError:
                self.close()
                raise

    def check_same(self) -> None:
        """Raise NoAnswer if an action of this replay differed from the run."""
        if self.difference is not None:
            raise NoAnswer(f"{replay_differs(self.difference)} {NONDETERMINISTIC}")

    def fork(
        self,
        role: protocol.Role = "replica",
        *,
        stdout: str | None = None,
        stderr: str | None = None,
        output: str | None = None,
        muted: protocol.Shown | None = None,
        shared: list[int] | None = None,
    ) -> ForkedTool:
        """Fork the fork, at the same stop.

        Args:
            role: of the new fork.
            stdout: the file for its standard output, which begins with the output so far; None
                for an unchanged redirection.
            stderr: as ``stdout``.
            output: as ``stdout``, for every other file that the tool writes.
            muted: of a "tool", the output to stdout and stderr that was written already.
            shared: of a "tool", the descriptors of files that others write too.

        Raises:
            AgentError, NoAnswer: the fork failed.
        """
        message = protocol.Fork(
            role=role,
            stdout=stdout,
            stderr=stderr,
            output=output,
            muted=muted,
            shared=shared or [],
        )
        return self._forks.make(self.request, self.stop, message)

    def advance(self, ordinal: int, when: Literal["before", "after"] = "before") -> Stop:
        """Replay the run up to an action.

        Args:
            ordinal: of an action ahead.
            when: before or after the action.

        Returns:
            The stop, at the action or at a breakpoint on the way.

        Raises:
            ToolGone: the fork ended before the action.
        """
        stop = self.stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, when):
            return stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, "before"):
            return self.resume("next")
        return self.resume("continue", until=protocol.until_action(ordinal, when == "after"))

    def go(self, event: int, keep: int = 0) -> Stop:
        """Replay the run up to an event, without stops on the way.

        Args:
            event: the current event, or one ahead.
            keep: how many of the newest hits on the way are kept in ``passed`` of the status.

        Raises:
            NotStopped, AgentError: see ``request``.
            ToolGone: the fork ended before the event.
        """
        stop = self.stop
        if stop is not None and stop.event == event and stop.when in ("before", "after"):
            return stop
        return self._resume(protocol.Resume(control="continue", event=event, keep=keep))

    def complete(
        self,
        seconds: float | None = None,
        until: protocol.Until | None = None,
        control: protocol.Control = "continue",
        processor: float | None = None,
    ) -> Stop:
        """Run to the end, or to the next stop, such as one of a catch.

        Args:
            seconds: the limit for the whole run; None for no limit.
            until: where to stop before the end; None for nowhere.
            control: continue, apply or skip.
            processor: the limit for the processor time of the run, in seconds; None for no limit.

        Returns:
            The stop. At an exit, ``status`` is the exit status, negative for a signal, and -9 if
            it is unknown; the fork is closed then.

        Raises:
            NotStopped, AgentError: see ``request``.
            TimeoutError: the run exceeded a limit; the fork is closed.
            ToolGone: another thread closed the fork.
        """
        limit = RunLimit(self._process.pid, seconds, processor)
        with self._forks.held, self._process.talk() as client:
            number = client.send(protocol.Resume(control=control, until=until))
            try:
                stop = self._receive_stop(client, number, to_end=True, limit=limit)
                self.stop = stop or self._wait_for_exit()
            except AgentError:
                raise  # still at the same stop
            except BaseException:
                self.close()
                raise
            return self.stop

    def resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Resume the fork, and wait for its next stop; a KeyboardInterrupt ends the fork.

        Raises:
            NotStopped, AgentError: see ``request``.
            ToolGone: the fork ended before it stopped.
        """
        return self._resume(protocol.Resume(control=control, count=count, until=until))

    def resume_unattended(self) -> None:
        """Let the fork run to its end, without waiting; only close it afterwards."""
        with self._forks.held, self._process.talk() as client:
            client.send(protocol.Resume(control="continue"))

    def _resume(self, message: protocol.Resume) -> Stop:
        with self._forks.held, self._process.talk() as client:
            number = client.send(message)
            try:
                stop = self._receive_stop(client, number)
                if stop is None:
                    raise self._ended_early()
            except AgentError:
                raise  # still at the same stop
            except BaseException:
                self.close()
                raise
            self.stop = stop
            return stop

    def _receive_stop(
        self, client: Client, number: int, to_end: bool = False, limit: RunLimit | None = None
    ) -> Stop | None:
        """Receive messages after a resume, up to the stop.

        Returns:
            The stop; None when the connection ends or, unless ``to_end``, the tool is at its end.
        """
        try:
            while True:
                incoming = _receive(client, limit)
                if incoming.method is None:
                    client.is_response(incoming, number)
                    continue
                message = decode_notification(incoming)
                if isinstance(message, protocol.Stopped):
                    self.difference = message.difference
                    self.crashed = None  # the tool has recovered
                    return stop_of(message)
                self._record_end(message)
                if self.exited is not None and not to_end:
                    return None
        except ConnectionEnded:
            return None

    def _record_end(self, message: protocol.Message) -> None:
        if isinstance(message, protocol.Exited):
            self.exited = message
            self.crashed = final_crash(self.crashed, message)
        elif isinstance(message, protocol.Crashed):
            self.crashed = message
        else:
            raise ProtocolError("The agent of a fork sent hello twice.")
        self.difference = message.difference

    def _wait_for_exit(self) -> Stop:
        """Wait for the end of the process, when its files are complete; return the stop."""
        if self.is_closed:
            raise ToolGone("The fork of the tool was closed while it ran.")
        has_ended = self._process.wait(_END_SECONDS)
        self.close()
        status = -signal.SIGKILL
        if self.crashed is not None:
            status = -(self.crashed.signal or signal.SIGKILL)
        elif self.exited is not None and has_ended:
            status = self.exited.status
        return exit_of(status, True, self.exited, self.crashed)

    def _ended_early(self) -> ToolGone:
        how = "ended"
        if self.crashed is not None:
            how = f"crashed in #{self.crashed.ordinal}"
        elif self.exited is not None:
            count = self.exited.actions
            how = f"ended after {counted(count, 'action')}"
        text = f"Replay diverged: the fork of the tool {how}, before it reached the same event."
        if self.difference is not None:
            text += f" {replay_differs(self.difference)}"
        return self._gone(f"{text} {NONDETERMINISTIC}")

    def _gone(self, message: str) -> ToolGone:
        """Close the ended fork, and return the error."""
        was_closed = self.is_closed
        self.close()
        return ToolGone("The fork of the tool was closed." if was_closed else message)


def _receive(client: Client, limit: RunLimit | None) -> protocol.Incoming:
    """Wait for the next message; raises TimeoutError when the limit is exceeded."""
    while True:
        left = limit.left() if limit is not None else None
        try:
            return client.receive(left)
        except TimeoutError:
            if not left:
                raise


@contextlib.contextmanager
def closed_on_error(fork: ForkedTool) -> Generator[None]:
    """Close a fork if the block raises."""
    try:
        yield
    except BaseException:
        fork.close()
        raise


def replay_differs(first: protocol.Difference) -> str:
    """Return the sentence about the first action of a replay that differs from the run."""
    return (
        f"The replay differs from the run at #{first.ordinal}: "
        f"run {first.run}, replay {first.replay}."
    )


def run_differs(first: protocol.Difference) -> str:
    """Return the sentence about the first action that differs from the one before going back."""
    return (
        f"The run differs from before it went back at #{first.ordinal}: "
        f"before {first.run}, now {first.replay}. {NONDETERMINISTIC}"
    )
