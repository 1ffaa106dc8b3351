"""ForkOwner of the tool: they repeat its run up to some action, or go on from there."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Generator
from typing import Literal, Protocol, TypeVar

from actiondbg import protocol
from actiondbg.errors import AgentError, ProtocolError, ToolGone
from actiondbg.process.fork_process import ForkProcess
from actiondbg.process.stop import Stop, exit_of, stop_of
from actiondbg.protocol.client import Client, ConnectionEnded, decode_notification
from actiondbg.support.closeable import Closeable
from actiondbg.support.interrupts import HeldInterrupts

R = TypeVar("R", bound=protocol.Message)

_END_SECONDS = 5.0  # from the end of the connection to the end of the process


class Owner(Protocol):
    """The owner of forked tools: makes them, and ends those that are left."""

    @property
    def held(self) -> HeldInterrupts:
        """Opened while a fork is waited for."""
        ...

    def make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None = None,
        fork: protocol.Fork = ...,
    ) -> ForkedTool:
        """Make a fork of the process that ``ask`` asks."""
        ...

    def forget(self, replica: ForkedTool) -> None:
        """No longer end a fork with the run."""
        ...


class ForkedTool(Closeable):
    """A fork of the tool; close it. Another thread may close it while it is waited for.

    What it is for is its ``role``: a "replica" writes nothing, a "checkpoint" keeps the tool's
    files, a "trial" has files of its own, and the "tool" goes on in the tool's place.

    Attributes:
        hello: what its agent said of it.
        stop: where it stands, or how it ended; None where nothing has been dispatched yet, and
            in a checkpoint that the tool took of itself, which stands before the event after
            ``event``.
        exited: what its agent said when it was about to end of itself, or None.
        crashed: what its agent said when it was about to die, or None.
    """

    def __init__(
        self, forks: Owner, process: ForkProcess, hello: protocol.Hello, stop: Stop | None
    ) -> None:
        self.hello = hello
        self.stop = stop
        self.exited: protocol.Exited | None = None
        self.crashed: protocol.Crashed | None = None
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
        """The newest event that it has seen, from 1; 0 at the beginning."""
        return self.hello.event if self.stop is None else self.stop.event

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, handed over, or found to have ended."""
        return self._process.is_ended

    @property
    def is_gone(self) -> bool:
        """Whether its process has ended, also of itself: the tool thins its own forks out."""
        return self._process.is_gone

    def close(self) -> None:
        """Kill it; a request that another thread waits for ends with ToolGone."""
        with self._forks.held:
            self._process.end()
            self._forks.forget(self)

    def hand_over(self) -> tuple[Client, int]:
        """Give the connection and the pidfd away; the replica is closed, its process lives on.

        Raises:
            NotStopped: it is closed.
        """
        with self._forks.held:
            given = self._process.give_away()
            self._forks.forget(self)
            return given

    def request(self, message: protocol.Request[R]) -> R:
        """Ask its agent.

        Raises:
            NotStopped: it is closed.
            AgentError: the agent refused.
            ToolGone: it ended instead of answering.
        """
        with self._forks.held, self._process.talk() as client:
            try:
                return client.request(message)
            except ConnectionEnded as ended:
                raise self._gone("ended instead of answering.") from ended
            except ProtocolError:
                self.close()
                raise

    def fork(
        self,
        role: protocol.Role = "replica",
        *,
        stdout: str | None = None,
        stderr: str | None = None,
        output: str | None = None,
        muted: tuple[int, int] | None = None,
        shared: list[int] | None = None,
    ) -> ForkedTool:
        """Make another that stands where this one stands.

        Args:
            role: what it is for.
            stdout: the file that its standard output goes to, with what has been written so far;
                None for where it goes already.
            stderr: as ``stdout``.
            output: the same for every other file that the tool writes.
            muted: of a "tool", the bytes of stdout and stderr that have been shown already.
            shared: of a "tool", the descriptors of files that others write too.

        Raises:
            AgentError, NoAnswer: it cannot be made.
        """
        fork = protocol.Fork(
            role=role,
            stdout=stdout,
            stderr=stderr,
            output=output,
            muted=muted,
            shared=shared or [],
        )
        return self._forks.make(self.request, self.stop, fork)

    def advance(self, ordinal: int, when: Literal["before", "after"] = "before") -> Stop:
        """Repeat the run up to an action.

        Args:
            ordinal: of an action that has not been passed yet.
            when: the side of it.

        Returns:
            The stop; a breakpoint that was set in the replica may make it another.

        Raises:
            ToolGone: the replica ended before it came there.
        """
        stop = self.stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, when):
            return stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, "before"):
            return self.resume("next")
        until = protocol.Until(
            terms=[protocol.Term(kind="ordinal", ordinal=ordinal)],
            condition=None,
            within=False,
            after=when == "after",
        )
        return self.resume("continue", until=until)

    def go(self, event: int, keep: int = 0, control: protocol.Control = "continue") -> Stop:
        """Go on quietly up to an event; nothing stops it on the way.

        Args:
            event: its number; the one at which it stands, or one that has not come yet.
            keep: how many of the newest hits on the way are remembered (``passed`` of the status).
            control: of the action that it stands before: continue, apply or skip.

        Raises:
            NotStopped, AgentError: see ``request``.
            ToolGone: it ended before.
        """
        stop = self.stop
        if stop is not None and stop.event == event and stop.when in ("before", "after"):
            return stop
        return self._resume(protocol.Resume(control=control, event=event, keep=keep))

    def complete(self, seconds: float | None = None) -> Stop:
        """Let it run to its end, or to the next stop, such as one of a catch.

        Args:
            seconds: for all of it at most; None for as long as it takes.

        Returns:
            The stop. At an exit ``status`` is the exit status, negative for the signal, and -9 if
            nothing is known; it is closed then.

        Raises:
            NotStopped, AgentError: see ``request``.
            TimeoutError: it took longer; it is closed.
            ToolGone: another thread closed it.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._forks.held, self._process.talk() as client:
            number = client.send(protocol.Resume(control="continue"))
            try:
                stop = self._take(client, number, to_end=True, deadline=deadline)
                self.stop = stop or self._take_exit()
            except AgentError:
                raise  # it stands where it stood
            except BaseException:
                self.close()
                raise
            return self.stop

    def resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Let it go on to the next stop; a KeyboardInterrupt meanwhile ends it.

        Raises:
            NotStopped, AgentError: see ``request``.
            ToolGone: it ended instead of stopping.
        """
        return self._resume(protocol.Resume(control=control, count=count, until=until))

    def _resume(self, message: protocol.Resume) -> Stop:
        with self._forks.held, self._process.talk() as client:
            number = client.send(message)
            try:
                stop = self._take(client, number)
                if stop is None:
                    raise self._ended_early()
            except AgentError:
                raise  # it stands where it stood
            except BaseException:
                self.close()
                raise
            self.stop = stop
            return stop

    def _take(
        self, client: Client, number: int, to_end: bool = False, deadline: float | None = None
    ) -> Stop | None:
        """Take what comes in after a resume, up to the stop.

        Returns:
            The stop; None when the connection ends or, unless ``to_end``, is about to.
        """
        try:
            while True:
                seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
                incoming = client.receive(seconds)
                if incoming.method is None:
                    client.is_response(incoming, number)
                    continue
                message = decode_notification(incoming)
                if isinstance(message, protocol.Stopped):
                    return stop_of(message)
                self._note_end(message)
                if not to_end:
                    return None
        except ConnectionEnded:
            return None

    def _note_end(self, message: protocol.Message) -> None:
        if isinstance(message, protocol.Exited):
            self.exited = message
        elif isinstance(message, protocol.Crashed):
            self.crashed = message
        else:
            raise ProtocolError("The agent of a replica said hello twice.")

    def _take_exit(self) -> Stop:
        """Wait until its files are written, as it is gone; return the stop."""
        if self.is_closed:
            raise ToolGone("The replica of the tool was closed while it ran.")
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
            how = "came to its end"
        return self._gone(
            f"{how} before it came to where the run was: "
            "the tool does not do the same in every run."
        )

    def _gone(self, how: str) -> ToolGone:
        """Close it, as it has ended, and return the error that says how."""
        was_closed = self.is_closed
        self.close()
        return ToolGone(f"The replica of the tool {'was closed.' if was_closed else how}")


@contextlib.contextmanager
def closed_on_error(fork: ForkedTool) -> Generator[None]:
    """Close a fork if the block raises."""
    try:
        yield
    except BaseException:
        fork.close()
        raise
