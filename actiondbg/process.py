"""Start the tool with the agent in it, wait for it, end it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from actiondbg.errors import LaunchError, ProtocolError
from actiondbg.waiting import HeldInterrupts, Watch, wait_for_end

Redirection = str | os.PathLike[str] | int | IO[str] | IO[bytes] | None

_END_SECONDS = 5.0  # from the end of the connection to the end of the tool


@dataclass(frozen=True)
class Streams:
    """Where the tool's standard streams go.

    Args:
        stdin: a path, a file or its descriptor; None for ours, or nothing when ours is a terminal,
            which the tool must not compete for.
        stdout: a path, a file or its descriptor, ``"inherit"`` for ours; None for a file of the
            session's.
        stderr: as ``stdout``.
    """

    stdin: Redirection = None
    stdout: Redirection = None
    stderr: Redirection = None


class Listener:
    """The socket that the agent connects to.

    Args:
        path: where it is made.
        waiting: how many may have connected that were not accepted yet.
    """

    def __init__(self, path: Path, waiting: int = 1) -> None:
        self.path = path
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(os.fspath(path))
        self._socket.listen(waiting)

    def accept(
        self, process: int, held: HeldInterrupts, seconds: float | None = None
    ) -> socket.socket | None:
        """Wait for the agent.

        Args:
            process: the pidfd of the process that is to connect.
            held: opened while waiting.
            seconds: to wait at most; None for as long as it takes.

        Returns:
            The connection; None when the process has ended without one.

        Raises:
            ProtocolError: a process of another user connected.
            TimeoutError: nothing connected in time.
        """
        if not Watch(held, self._socket.fileno(), process).wait(seconds):
            return None
        return self._accept()

    def accept_pending(self) -> socket.socket | None:
        """Accept one that has connected, without waiting; None when none has.

        Raises:
            ProtocolError: it is a process of another user.
        """
        poll = select.poll()  # select(2) knows no descriptors from 1024
        poll.register(self._socket, select.POLLIN)
        return self._accept() if poll.poll(0) else None

    def _accept(self) -> socket.socket:
        connection, _ = self._socket.accept()
        pid, uid = peer_of(connection)
        if uid != os.getuid():
            connection.close()
            raise ProtocolError(
                f"Process {pid} of the user {uid} connected instead of the tool, and was refused: "
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


class Process:
    """The tool's process, the leader of a group of its own: Ctrl-C does not reach it."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self.pid = popen.pid
        self.pidfd = os.pidfd_open(popen.pid)

    def end(self, kill: bool) -> int:
        """Wait for the end, bounded, and reap.

        Args:
            kill: kill the tool and its children at once.

        Returns:
            The exit status, negative for a signal.
        """
        if self._popen.returncode is not None:
            return self._popen.returncode
        if kill or not wait_for_end(self.pidfd, _END_SECONDS):
            # Not reaped yet: the pid, and so the group, is still the tool's.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        status = self._popen.wait()
        os.close(self.pidfd)
        return status


def start_process(
    argv: list[str],
    executable: Path,
    environment: Mapping[str, str],
    cwd: str | os.PathLike[str] | None,
    streams: Streams,
    directory: Path,
) -> Process:
    """Start the tool.

    Args:
        argv: its command line.
        executable: its file.
        environment: see ``agent_environment``.
        cwd: where it runs; None for here.
        streams: where its standard streams go.
        directory: of the session, where ``stdout`` and ``stderr`` are kept if they go nowhere else.

    Raises:
        LaunchError: a file cannot be opened, or the tool cannot be started.
    """
    with contextlib.ExitStack() as opened:
        stdin = _open_input(streams.stdin, opened)
        stdout = _open_output(streams.stdout, directory / "stdout", opened)
        stderr = _open_output(streams.stderr, directory / "stderr", opened)
        try:
            popen = subprocess.Popen(
                argv,
                executable=executable,
                env=environment,
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                process_group=0,
            )
        except (OSError, ValueError) as error:
            raise LaunchError(
                f"{os.fspath(executable)!r} could not be started ({error}): check the tool and "
                "the directory that it runs in."
            ) from error
        return Process(popen)


def agent_environment(
    base: Mapping[str, str], agent: Path, listener: Path | None
) -> dict[str, str]:
    """Return the environment that puts the agent into the tool.

    Args:
        base: the environment of the tool without the agent; its own LD_PRELOAD is kept, and the
            agent restores it for the tool's children.
        agent: the shared object.
        listener: the socket to connect to; None to connect to nobody.
    """
    result = dict(base)
    preloaded = result.get("LD_PRELOAD")
    result["LD_PRELOAD"] = f"{agent}:{preloaded}" if preloaded else str(agent)
    if preloaded:
        result["ACTIONDBG_PRELOAD"] = preloaded
    if listener is not None:
        result["ACTIONDBG_SOCKET"] = str(listener)
    return result


def is_shared(where: Redirection) -> bool:
    """Tell whether what goes to a place goes into the same file as our own output or errors."""
    if where == "inherit":
        return True
    if where is None or isinstance(where, str | os.PathLike):
        return False
    try:
        theirs = os.fstat(where if isinstance(where, int) else where.fileno())
        return any(os.path.samestat(theirs, os.fstat(ours)) for ours in (1, 2))
    except (OSError, ValueError):
        return False


def _open_input(
    source: Redirection, opened: contextlib.ExitStack
) -> int | IO[str] | IO[bytes] | None:
    if source is None:
        return subprocess.DEVNULL if _is_terminal() else None
    if isinstance(source, str | os.PathLike):
        return open_stream(source, "rb", opened)
    return source


def _open_output(
    sink: Redirection, spool: Path, opened: contextlib.ExitStack
) -> int | IO[str] | IO[bytes] | None:
    if sink == "inherit":
        return None
    if sink is None:
        return open_stream(spool, "wb", opened)
    if isinstance(sink, str | os.PathLike):
        return open_stream(sink, "wb", opened)
    return sink


def open_stream(path: str | os.PathLike[str], mode: str, opened: contextlib.ExitStack) -> IO[bytes]:
    """Open a file for a stream of the tool, until ``opened`` is closed; raises LaunchError."""
    try:
        return opened.enter_context(open(path, mode))
    except OSError as error:
        action = "read" if mode == "rb" else "written"
        raise LaunchError(
            f"{os.fspath(path)!r} cannot be {action} ({error.strerror}): name another file."
        ) from error


def _is_terminal() -> bool:
    try:
        return os.isatty(sys.__stdin__.fileno()) if sys.__stdin__ else True
    except (OSError, ValueError):
        return True
