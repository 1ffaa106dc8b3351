"""The process of the tool: its start with the agent in it, the socket, its end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import sys
import threading
from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from actiondbg import protocol
from actiondbg.errors import ProtocolError
from actiondbg.process.process_status import exit_status
from actiondbg.process.streams import Redirection, Streams
from actiondbg.protocol.client import Client
from actiondbg.support.interrupts import HeldInterrupts, SocketWatch, wait_for_end
from actiondbg.support.processes import open_pidfd
from actiondbg.tool.program import Program, StartedProgram
from actiondbg.tool.seen_programs import SeenPrograms


@dataclass
class LaunchOptions:
    """The settings that the agent gets after its hello."""

    resume: protocol.Resume  # the control with which the tool resumes
    # Set before the tool resumes.
    breakpoints: list[protocol.WireBreakpoint] = field(
        default_factory=list[protocol.WireBreakpoint]
    )
    # Verification and counting.
    options: protocol.SetOptions = field(default_factory=protocol.SetOptions)
    skips: protocol.SetSkips | None = None  # the actions to skip; None for none
    milliseconds: int = 0  # the run time between two automatic checkpoints; 0 for none
    megabytes: int = 0  # the limit for their memory


_END_SECONDS = 5.0  # from the end of the connection to the end of the tool


class Listener:
    """The socket for the connection of the agent."""

    def __init__(self, path: Path, backlog: int = 16) -> None:
        self.path = path
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(os.fspath(path))
        self._socket.listen(backlog)

    def accept(
        self, process: int, held: HeldInterrupts, seconds: float | None = None
    ) -> socket.socket | None:
        """Wait for the agent in the process of a pidfd, at most some seconds.

        Returns:
            The connection; None when the process has ended without one.

        Raises:
            ProtocolError: a process of another user connected.
            TimeoutError: nothing connected in time.
        """
        if not SocketWatch(held, self._socket.fileno(), process).wait(seconds):
            return None
        return self._accept()

    def accept_pending(self) -> socket.socket | None:
        """Accept a pending connection without waiting, None for none; see ``accept``."""
        poll = select.poll()  # select(2) is limited to descriptors below 1024
        poll.register(self._socket, select.POLLIN)
        return self._accept() if poll.poll(0) else None

    def _accept(self) -> socket.socket:
        connection, _ = self._socket.accept()
        pid, uid = peer_of(connection)
        if uid != os.getuid():
            connection.close()
            raise ProtocolError(
                f"Process {pid} of user {uid} connected instead of the tool and was refused: "
                "start the tool again."
            )
        return connection

    def close(self) -> None:
        self._socket.close()
        self.path.unlink(missing_ok=True)


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the pid and the uid at the other end (SO_PEERCRED of unix(7))."""
    size = struct.calcsize("3i")
    pid, uid, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return pid, uid


class ToolProcess(Protocol):
    """The current process of a run: one that was started, or a fork."""

    pid: int
    pidfd: int

    def end(self, kill: bool) -> int | None:
        """Wait for the end, bounded.

        Args:
            kill: kill the process and its children at once.

        Returns:
            The exit status, negative for a signal; None where it is unknown.
        """
        ...

    def give_way(self, client: Client | None) -> bool:
        """Let a fork take its place: end, unless another process waits for its end.

        Args:
            client: the connection to its agent; None if it has ended.

        Returns:
            Whether it stays, and keeps the connection.
        """
        self.end(kill=True)
        return False


class OtherProcess(ToolProcess):
    """A process that is not our child, by a pidfd of it, which ``end`` closes."""

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self._is_open = True

    def end(self, kill: bool) -> int | None:
        if not self._is_open:
            return None
        self._is_open = False
        self._wait(kill)
        status = exit_status(self.pid, self.pidfd)
        os.close(self.pidfd)
        return status

    @abstractmethod
    def _wait(self, kill: bool) -> None:
        """Wait for the end, bounded, or kill the process at once."""


class Process(ToolProcess):
    """The tool's process, which leads a process group: Ctrl-C does not reach it."""

    def __init__(self, started: StartedProgram) -> None:
        self._popen, self._guard = started
        self.pid = self._popen.pid
        self._ending = threading.Lock()  # another thread may kill a tool that is waited for
        try:
            self.pidfd = open_pidfd(self.pid)
        except BaseException:
            self._kill()
            self._popen.wait()
            raise

    def end(self, kill: bool) -> int:
        """Wait for the end, bounded, and reap; see ``ToolProcess``."""
        with self._ending:
            return self._end(kill)

    def _end(self, kill: bool) -> int:
        if self._popen.returncode is not None:
            return self._popen.returncode
        if kill or not wait_for_end(self.pidfd, _END_SECONDS):
            # Not reaped yet: the pid, and so the group, is still the tool's.
            self._kill()
        status = self._popen.wait()
        if self._guard is not None:
            self._guard.close()
        os.close(self.pidfd)
        return status

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._guard is not None:
            self._guard.kill()  # those that have left the group, too


def start_process(
    program: Program,
    listener: Listener,
    streams: Streams,
    directory: Path,
    seen: SeenPrograms | None = None,
) -> Process:
    """Start the tool of a session.

    Args:
        streams: the redirections of the standard streams. The default of stdin is ours, unless
            that is a terminal, which the tool must not compete for.
        directory: of the session; holds the default files ``stdout`` and ``stderr``.
        seen: notes what a program starts; None for a tool.

    Raises:
        LaunchError: a file cannot be opened, or the tool cannot be started.
    """
    stdin = os.devnull if _is_terminal() else "inherit"
    defaults = Streams(stdin, directory / "stdout", directory / "stderr")
    chosen = (other if one is None else one for one, other in zip(streams, defaults, strict=True))
    with Streams(*chosen).opened() as opened:
        variables = {"ACTIONDBG_SOCKET": str(listener.path)}
        if seen is not None:
            variables |= seen.variables
        return Process(program.popen(variables, opened, group=0))


def is_shared(where: Redirection) -> bool:
    """Return whether a redirection leads to the same file as our own stdout or stderr."""
    if where == "inherit":
        return True
    if where is None or isinstance(where, str | os.PathLike):
        return False
    try:
        theirs = os.fstat(where if isinstance(where, int) else where.fileno())
        return any(os.path.samestat(theirs, os.fstat(ours)) for ours in (1, 2))
    except (OSError, ValueError):
        return False


def _is_terminal() -> bool:
    try:
        return os.isatty(sys.__stdin__.fileno()) if sys.__stdin__ else True
    except (OSError, ValueError):
        return True
