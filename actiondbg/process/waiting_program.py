"""A program that waits for a front end: ``actiondbg.attach(wait=True)`` in it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from actiondbg.errors import LaunchError, NoAnswer
from actiondbg.process.process_status import exit_status
from actiondbg.process.tool_process import Listener, peer_of
from actiondbg.protocol.client import Client
from actiondbg.support.interrupts import wait_for_end
from actiondbg.support.pidfd import open_pidfd
from actiondbg.tool.program import Program

_END_SECONDS = 5.0  # from the end of the connection to the end of the program


class WaitingProcess:
    """The process of a program that outlives the front end."""

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self._is_open = True

    def end(self, kill: bool) -> int | None:
        """Wait for the end, bounded; the process is not killed, but goes on by itself."""
        if not self._is_open:
            return None
        self._is_open = False
        has_ended = not kill and wait_for_end(self.pidfd, _END_SECONDS)
        status = exit_status(self.pid, self.pidfd) if has_ended else None
        os.close(self.pidfd)
        return status

    def give_way(self, client: Client | None) -> bool:
        """Refuse it: a program that outlives the front end is not replaced."""
        raise NoAnswer(
            "A program that waited in actiondbg.attach() runs on as the same process: no "
            "fork replaces it."
        )


class WaitingProgram(Program):
    """A program that waits at a socket until it is told where to connect.

    Raises:
        LaunchError: no program of this user waits there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._begun = False
        try:
            with self._connected() as connection:
                pid, uid = peer_of(connection)
            words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            folder = Path(f"/proc/{pid}/cwd").resolve()
        except OSError as error:
            raise LaunchError(
                f"No program waits at {self._path!r} ({error.strerror}): give the path that "
                "actiondbg.attach(wait=True) printed."
            ) from error
        if uid != os.getuid():
            raise LaunchError(f"The program at {self._path!r} is another user's: debug it as them.")
        self._pid = pid
        super().__init__([os.fsdecode(word) for word in words], cwd=folder)

    def _connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._path)
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self) -> None:
        """Do nothing: the program has loaded its agent itself."""

    def begin(self, listener: Listener) -> WaitingProcess:
        """Have the program connect to a listener when it makes its next MLIR context.

        Raises:
            LaunchError: it was connected before, or has ended.
        """
        if self._begun:
            raise LaunchError(
                "A program that waited cannot be started again: run it anew, and connect to it."
            )
        try:
            pidfd = open_pidfd(self._pid)
            with self._connected() as connection:
                connection.sendall(os.fsencode(listener.path) + b"\n")
        except OSError as error:
            raise LaunchError(
                f"The program at {self._path!r} waits no longer ({error.strerror}): run it again."
            ) from error
        self._begun = True
        return WaitingProcess(self._pid, pidfd)
