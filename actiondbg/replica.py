"""Forks of the tool that repeat its run up to some action, to answer questions about the past."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, NoReturn, TypeVar

from actiondbg import protocol
from actiondbg.client import Client, ConnectionEnded, decode_notification
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ProtocolError, ToolGone
from actiondbg.process import Listener
from actiondbg.stop import Stop, stop_of
from actiondbg.waiting import HeldInterrupts, wait_for_end

R = TypeVar("R", bound=protocol.Message)

_HELLO_SECONDS = 10.0  # from the fork of the tool to the hello of the child
_END_SECONDS = 5.0  # from SIGKILL to the end
_SOCKETS = 1 << 12  # a name of three digits: the path of a socket must not be longer


class Replica:
    """A fork of the tool, which writes nothing to its standard streams; close it.

    Attributes:
        hello: what its agent said of it.
        stop: where it stands; None where nothing has been dispatched yet.
    """

    def __init__(
        self, forks: Forks, client: Client, pidfd: int, hello: protocol.Hello, stop: Stop | None
    ) -> None:
        self.hello = hello
        self.stop = stop
        self._forks = forks
        self._client: Client | None = client
        self._pidfd = pidfd

    def __enter__(self) -> Replica:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or has ended."""
        return self._client is None

    def close(self) -> None:
        """Kill it."""
        with self._forks.held:
            client, self._client = self._client, None
            if client is None:
                return
            self._forks.forget(self)
            # Killed first: a tool whose controller goes may clean up what is the user's.
            _end(self._pidfd)
            client.close()

    def request(self, message: protocol.Request[R]) -> R:
        """Ask its agent.

        Raises:
            NotStopped: it is closed.
            AgentError: the agent refused.
            ToolGone: it ended instead of answering.
        """
        with self._forks.held:
            client = self._open_client()
            try:
                return client.request(message)
            except ConnectionEnded as ended:
                self.close()
                raise ToolGone("The replica of the tool ended instead of answering.") from ended
            except ProtocolError:
                self.close()
                raise

    def fork(self) -> Replica:
        """Make another that stands where this one stands.

        Raises:
            NoAnswer: it cannot be made.
        """
        return self._forks.make(self.request, self.stop)

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

    def resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Let it go on to the next stop; a KeyboardInterrupt meanwhile ends it.

        Raises:
            NotStopped, AgentError: see ``request``.
            ToolGone: it ended instead of stopping.
        """
        with self._forks.held:
            client = self._open_client()
            number = client.send(protocol.Resume(control=control, count=count, until=until))
            try:
                self.stop = self._take_stop(client, number)
            except AgentError:
                raise  # it stands where it stood
            except ConnectionEnded as ended:
                self._end_early("ended", ended)
            except BaseException:
                self.close()
                raise
            return self.stop

    def _take_stop(self, client: Client, number: int) -> Stop:
        while True:
            incoming = client.receive()
            if incoming.method is None:
                client.is_response(incoming, number)
                continue
            message = decode_notification(incoming)
            if isinstance(message, protocol.Stopped):
                return stop_of(message)
            if isinstance(message, protocol.Crashed):
                self._end_early(f"crashed in #{message.ordinal}")
            self._end_early("came to its end")

    def _end_early(self, how: str, cause: Exception | None = None) -> NoReturn:
        self.close()
        raise ToolGone(
            f"The replica of the tool {how} before it came to where the run was: "
            "the tool does not do the same in every run."
        ) from cause

    def _open_client(self) -> Client:
        if self._client is None:
            raise NotStopped("The replica is closed: make another.")
        return self._client


class Forks:
    """The forks of one run.

    Args:
        directory: of the session, where they connect.
        held: opened while one is waited for.
    """

    def __init__(self, directory: Path, held: HeldInterrupts) -> None:
        self.held = held
        self._directory = directory
        self._numbers = itertools.count()
        self._alive: set[Replica] = set()

    def make(
        self, ask: Callable[[protocol.Fork], protocol.Forked], stop: Stop | None = None
    ) -> Replica:
        """Make one.

        Args:
            ask: asks the process that is forked.
            stop: where that stands; None where nothing has been dispatched yet.

        Raises:
            AgentError: the agent refused.
            NoAnswer: the fork ended, or said nothing.
            ProtocolError: it said what it must not.
        """
        before = set(self._alive)
        try:
            with self.held:
                return self._make(ask, stop)
        except BaseException:
            for one in self._alive - before:
                one.close()
            raise

    def forget(self, replica: Replica) -> None:
        """No longer end a replica with the run: it has ended."""
        self._alive.discard(replica)

    def close(self) -> None:
        """End all of them."""
        for one in list(self._alive):
            one.close()

    def _make(self, ask: Callable[[protocol.Fork], protocol.Forked], stop: Stop | None) -> Replica:
        listener = Listener(self._directory / f"f{next(self._numbers) % _SOCKETS:x}")
        try:
            forked = ask(protocol.Fork(socket=str(listener.path), replica=True))
            replica = self._greet(listener, forked.pid, stop)
        finally:
            listener.close()
        self._alive.add(replica)
        return replica

    def _greet(self, listener: Listener, pid: int, stop: Stop | None) -> Replica:
        """Wait for a fork's hello; a fork that is not waited for ends, as nobody listens."""
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError as error:
            raise NoAnswer(f"The fork of the tool, process {pid}, ended at once.") from error
        with contextlib.ExitStack() as undo:
            undo.callback(_end, pidfd)
            try:
                connection = listener.accept(pidfd, self.held, _HELLO_SECONDS)
                if connection is None:
                    raise ConnectionEnded
                client = Client(connection, pidfd, self.held)
                undo.callback(client.close)
                hello = client.receive_hello(_HELLO_SECONDS)
            except (ConnectionEnded, TimeoutError) as error:
                how = "ended" if isinstance(error, ConnectionEnded) else "is stuck"
                raise NoAnswer(
                    f"The fork of the tool, process {pid}, {how} before it said hello."
                ) from error
            undo.pop_all()
        return Replica(self, client, pidfd, hello, stop)


def _end(pidfd: int) -> None:
    """Kill a process that is not our child, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    wait_for_end(pidfd, _END_SECONDS)
    os.close(pidfd)
