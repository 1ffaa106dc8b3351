"""The owner of the forks of a run: makes them, and accepts automatic checkpoints."""

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
from actiondbg.errors import AgentError, NoAnswer, ProtocolError, ToolGone
from actiondbg.process.fork_process import ForkProcess, kill_group
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.process.tool_process import Listener, peer_of
from actiondbg.protocol.client import Client, ConnectionEnded
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.support.pidfd import open_pidfd

_HELLO_SECONDS = 10.0  # from the fork of the tool to the hello of the child
_PENDING_SECONDS = 1.0  # for the hello of one that has connected
_SOCKETS = 1 << 12  # names have three digits, as the path of a socket is limited

_REPLICA = protocol.Fork(role="replica")


class ForkOwner:
    """The forks of one run; threads may share it."""

    def __init__(self, directory: Path, held: HeldInterrupts) -> None:
        self.held = held
        self._directory = directory
        self._numbers = itertools.count()
        self._lock = threading.Lock()  # of the attributes below
        self._alive: set[ForkedTool] = set()
        self._closed = False
        self._accepted: list[ForkedTool] = []  # not returned by accept_all yet

    def make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None = None,
        message: protocol.Fork = _REPLICA,
    ) -> ForkedTool:
        """Make a fork.

        Args:
            ask: sends a request to the process to fork.
            stop: the stop of that process; None before the first action.
            message: the request; its socket is chosen here.

        Raises:
            AgentError: the agent refused.
            NoAnswer: the fork ended, or sent no hello in time.
            ProtocolError: the fork broke the protocol.
            ToolGone: the run was ended meanwhile.
        """
        made: list[ForkedTool] = []
        try:
            with self.held:
                made.append(self._make(ask, stop, message))
            return made[0]
        except BaseException:
            for one in made:
                one.close()
            raise

    def accept_all(self, listener: Listener) -> list[ForkedTool]:
        """Accept the automatic checkpoints that have connected, without waiting for more.

        Returns:
            The checkpoints in the order of their connections; without those that have ended,
            that sent no hello, or that belong to another user.
        """
        with self.held:
            while True:
                try:
                    connection = listener.accept_pending()
                except ProtocolError:
                    continue
                if connection is None:
                    break
                fork = self._greet_pending(connection)
                if fork is not None:
                    self._accepted.append(self.keep(fork))
            accepted, self._accepted = self._accepted, []
            for one in accepted:
                if one.is_gone:
                    one.close()
            return [one for one in accepted if not one.is_closed]

    def forget(self, fork: ForkedTool) -> None:
        """Disown a fork that has ended or was handed over."""
        with self._lock:
            self._alive.discard(fork)

    def follow(self, files: list[str]) -> None:
        """Have the frozen forks use output files that the tool has made again.

        Args:
            files: absolute paths.
        """
        with self._lock:
            frozen = [one for one in self._alive if one.role == "checkpoint"]
        for one in frozen:
            with contextlib.suppress(AgentError, ToolGone):
                one.request(protocol.Follow(files=files))

    def close(self) -> None:
        """End all forks, also those that are being made."""
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        for one in alive:
            one.close()

    def keep(self, fork: ForkedTool) -> ForkedTool:
        """Own a fork; raises ToolGone, and closes it, if the run was ended meanwhile."""
        with self._lock:
            if not self._closed:
                self._alive.add(fork)
                return fork
        fork.close()
        raise ToolGone("The run was ended while the tool was forked.")

    def _make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None,
        message: protocol.Fork,
    ) -> ForkedTool:
        listener = Listener(self._directory / f"f{next(self._numbers) % _SOCKETS:x}")
        try:
            forked = ask(msgspec.structs.replace(message, socket=str(listener.path)))
            fork = self._greet(listener, forked.pid, stop)
        finally:
            listener.close()
        return self.keep(fork)

    def _greet(self, listener: Listener, pid: int, stop: Stop | None) -> ForkedTool:
        """Wait for a fork's hello; on an error, kill the fork."""
        try:
            pidfd = open_pidfd(pid)
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
                how = "ended" if isinstance(error, ConnectionEnded) else "hung"
                raise NoAnswer(
                    f"The fork of the tool, process {pid}, {how} before it sent hello: check that "
                    "memory and disk space are left."
                ) from error
            undo.pop_all()
        return ForkedTool(self, ForkProcess(client, pidfd, pid), hello, stop)

    def _greet_pending(self, connection: socket.socket) -> ForkedTool | None:
        """Read the hello of a connected checkpoint; without one, close the connection."""
        pid, _ = peer_of(connection)
        with contextlib.ExitStack() as undo:
            undo.callback(connection.close)
            try:
                pidfd = open_pidfd(pid)
                undo.callback(os.close, pidfd)
                client = Client(connection, pidfd, self.held)
                hello = client.receive_hello(_PENDING_SECONDS)
            except (ProcessLookupError, ConnectionEnded, TimeoutError, ProtocolError):
                return None
            # While the connection is open, the pid cannot have been reused.
            if _has_ended(connection):
                return None
            undo.pop_all()
        return ForkedTool(self, ForkProcess(client, pidfd, pid), hello, None)


def _has_ended(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))
