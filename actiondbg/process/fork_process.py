"""The process of a fork: the connection to its agent, and its end, from any thread."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Generator

from actiondbg.errors import NotStopped
from actiondbg.process.process_status import exit_status
from actiondbg.protocol.client import Client
from actiondbg.support.interrupts import wait_for_end

_END_SECONDS = 5.0  # from SIGKILL, or the end of the connection, to the end of the process


class ForkProcess:
    """The process of a fork, which is not our child, and the connection to it.

    One thread at a time uses the connection. Another may end the process meanwhile: the wait of
    the first one then fails, and the last of them closes client and pidfd.

    Args:
        client: the connection; owned by this object, until ``release``.
        pidfd: a file descriptor of the process, as of ``os.pidfd_open``; owned likewise.
        pid: the number of the process.

    Attributes:
        is_ended: whether it was ended or released.
    """

    def __init__(self, client: Client, pidfd: int, pid: int) -> None:
        self.pid = pid
        self._client = client
        self._pidfd = pidfd
        self._connection_lock = threading.RLock()
        self._lock = threading.Lock()  # of the attributes below
        self._users = 0
        self.is_ended = False
        self._released = False

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended, for any reason."""
        with self._kept() as kept:
            return not kept or wait_for_end(self._pidfd, 0)

    @contextlib.contextmanager
    def talk(self) -> Generator[Client]:
        """Use the connection in the block; raises NotStopped when the process was ended."""
        with self._connection_lock, self._kept() as kept:
            if not kept or self.is_ended:
                raise NotStopped("The fork is closed: make another.")
            yield self._client

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process; return whether it has ended."""
        with self._kept() as kept:
            return not kept or wait_for_end(self._pidfd, seconds)

    def end(self) -> None:
        """Kill the process, and wait for its end."""
        with self._kept() as kept:
            self.is_ended = True
            if kept:
                # First kill, then close the connection: a tool that loses its controller runs its
                # cleanup, which may remove files of the user's.
                kill_group(self.pid, self._pidfd)

    def release(self) -> tuple[Client, int]:
        """Return the connection and the pidfd; the caller owns them from now on.

        Raises:
            NotStopped: the process was ended.
        """
        with self.talk(), self._lock:
            self.is_ended = self._released = True
            return self._client, self._pidfd

    @contextlib.contextmanager
    def _kept(self) -> Generator[bool]:
        """Keep the descriptors open in the block; yield whether they are open."""
        with self._lock:
            self._users += 1
            kept = not self._released
        try:
            yield kept
        finally:
            with self._lock:
                self._users -= 1
                last = self.is_ended and not self._users and not self._released
                self._released = self._released or last
            if last:
                self._client.close()
                os.close(self._pidfd)


def kill(pidfd: int) -> None:
    """Kill a process that is not our child, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    wait_for_end(pidfd, _END_SECONDS)


def kill_group(pid: int, pidfd: int) -> None:
    """Kill a fork and its children, a process group; see ``kill``."""
    with contextlib.suppress(ProcessLookupError):
        if not wait_for_end(pidfd, 0):  # otherwise the pid may have been reused
            os.killpg(pid, signal.SIGKILL)
    kill(pidfd)


class AdoptedFork:
    """The process of a fork that replaced the tool; only its agent reports its exit status.

    Args:
        pid: the number of the process, which leads a process group.
        pidfd: a file descriptor of the process; ``end`` closes it.
    """

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self._ended = False

    def end(self, kill: bool) -> int | None:
        """Wait for the end, bounded; see ``ToolProcess``."""
        if self._ended:
            return None
        self._ended = True
        if not wait_for_end(self.pidfd, 0 if kill else _END_SECONDS):
            kill_group(self.pid, self.pidfd)
        status = exit_status(self.pid, self.pidfd)
        os.close(self.pidfd)
        return status

    def give_way(self, client: Client | None) -> bool:
        """End for another fork; see ``ToolProcess``."""
        self.end(kill=True)
        return False
