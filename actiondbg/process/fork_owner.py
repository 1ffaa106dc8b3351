"""Making the forks of a run, and accepting those that the tool makes of itself."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.errors import NoAnswer, ProtocolError, ToolGone
from actiondbg.process.fork_process import ForkProcess, kill_group
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.process.tool_process import Listener, peer_of
from actiondbg.protocol.client import Client, ConnectionEnded
from actiondbg.support.interrupts import HeldInterrupts

_HELLO_SECONDS = 10.0  # from the fork of the tool to the hello of the child
_PENDING_SECONDS = 1.0  # for the hello of one that has connected
_SOCKETS = 1 << 12  # a name of three digits: the path of a socket must not be longer

_REPLICA = protocol.Fork(role="replica")


class ForkOwner:
    """The forks of one run; threads may share it.

    Args:
        directory: of the session, where they connect.
        held: opened while one is waited for.
    """

    def __init__(self, directory: Path, held: HeldInterrupts) -> None:
        self.held = held
        self._directory = directory
        self._numbers = itertools.count()
        self._lock = threading.Lock()  # of what follows
        self._alive: set[ForkedTool] = set()
        self._closed = False
        self._accepted: list[ForkedTool] = []  # and not given to anybody yet

    def make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None = None,
        fork: protocol.Fork = _REPLICA,
    ) -> ForkedTool:
        """Make one.

        Args:
            ask: asks the process that is forked.
            stop: where that stands; None where nothing has been dispatched yet.
            fork: what it is to be; its socket is chosen here.

        Raises:
            AgentError: the agent refused.
            NoAnswer: the fork ended, or said nothing.
            ProtocolError: it said what it must not.
            ToolGone: the run was ended meanwhile.
        """
        made: list[ForkedTool] = []
        try:
            with self.held:
                made.append(self._make(ask, stop, fork))
            return made[0]
        except BaseException:
            for one in made:
                one.close()
            raise

    def accept_all(self, listener: Listener) -> list[ForkedTool]:
        """Accept what has connected by itself, without waiting for more.

        Args:
            listener: what the tool's checkpoints of itself connect to.

        Returns:
            The checkpoints in the order in which they connected; without those that have ended
            since, that say nothing, or that are no forks of our user's.
        """
        with self.held:
            while True:
                try:
                    connection = listener.accept_pending()
                except ProtocolError:
                    continue
                if connection is None:
                    break
                replica = self._greet_pending(connection)
                if replica is not None:
                    self._accepted.append(self._keep(replica))
            accepted, self._accepted = self._accepted, []
            for one in accepted:
                if one.is_gone:
                    one.close()
            return [one for one in accepted if not one.is_closed]

    def forget(self, replica: ForkedTool) -> None:
        """No longer end a replica with the run: it has ended."""
        with self._lock:
            self._alive.discard(replica)

    def close(self) -> None:
        """End all of them, and those that are being made."""
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        for one in alive:
            one.close()

    def _keep(self, replica: ForkedTool) -> ForkedTool:
        with self._lock:
            if not self._closed:
                self._alive.add(replica)
                return replica
        replica.close()
        raise ToolGone("The run was ended while the tool was forked.")

    def _make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None,
        fork: protocol.Fork,
    ) -> ForkedTool:
        listener = Listener(self._directory / f"f{next(self._numbers) % _SOCKETS:x}")
        try:
            forked = ask(msgspec.structs.replace(fork, socket=str(listener.path)))
            replica = self._greet(listener, forked.pid, stop)
        finally:
            listener.close()
        return self._keep(replica)

    def _greet(self, listener: Listener, pid: int, stop: Stop | None) -> ForkedTool:
        """Wait for a fork's hello; a fork that is not waited for ends, as nobody listens."""
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError as error:
            raise NoAnswer(f"The fork of the tool, process {pid}, ended at once.") from error
        with contextlib.ExitStack() as undo:
            undo.callback(os.close, pidfd)
            undo.callback(kill_group, pid, pidfd)
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
                    f"The fork of the tool, process {pid}, {how} before it said hello: is there "
                    "room left in memory and on the disk?"
                ) from error
            undo.pop_all()
        return ForkedTool(self, ForkProcess(client, pidfd, pid), hello, stop)

    def _greet_pending(self, connection: socket.socket) -> ForkedTool | None:
        """Read the hello of one that has connected; one that is not kept ends with this."""
        pid, _ = peer_of(connection)
        with contextlib.ExitStack() as undo:
            undo.callback(connection.close)
            try:
                pidfd = os.pidfd_open(pid)
                undo.callback(os.close, pidfd)
                client = Client(connection, pidfd, self.held)
                hello = client.receive_hello(_PENDING_SECONDS)
            except (ProcessLookupError, ConnectionEnded, TimeoutError, ProtocolError):
                return None
            # While the connection is there, the pid is not another's.
            if _has_ended(connection):
                return None
            undo.pop_all()
        return ForkedTool(self, ForkProcess(client, pidfd, pid), hello, None)


def _has_ended(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))
