"""A fork of the tool as a process: the connection to its agent, and its end, from any thread."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Generator

from actiondbg.errors import NotStopped
from actiondbg.protocol.client import Client
from actiondbg.support.interrupts import wait_for_end

_END_SECONDS = 5.0  # from SIGKILL, or the end of the connection, to the end of the process


class ForkProcess:
    """A fork, which is not our child, and the connection to it.

    One thread at a time talks to it. Another may end it meanwhile: what the first waits for ends
    then, and whoever is the last to need the descriptors closes them.

    Args:
        client: connected to it.
        pidfd: of the process; it is closed with the client.
        pid: of the process.
    """

    def __init__(self, client: Client, pidfd: int, pid: int) -> None:
        self.pid = pid
        self._client = client
        self._pidfd = pidfd
        self._talking = threading.RLock()
        self._lock = threading.Lock()  # of what follows
        self._users = 0
        self._ended = False
        self._released = False

    @property
    def is_ended(self) -> bool:
        """Whether it was ended or given away."""
        return self._ended

    @property
    def is_gone(self) -> bool:
        """Whether there is no such process any more, whoever ended it."""
        with self._kept() as kept:
            return not kept or wait_for_end(self._pidfd, 0)

    @contextlib.contextmanager
    def talk(self) -> Generator[Client]:
        """Have the connection; raises NotStopped when it was ended."""
        with self._talking, self._kept() as kept:
            if not kept or self._ended:
                raise NotStopped("The replica is closed: make another.")
            yield self._client

    def wait(self, seconds: float) -> bool:
        """Wait for the process to end of itself; tell whether it has."""
        with self._kept() as kept:
            return not kept or wait_for_end(self._pidfd, seconds)

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        with self._kept() as kept:
            self._ended = True
            if kept:
                # Killed before the connection is closed: a tool whose controller goes may clean up
                # what is the user's.
                kill_group(self.pid, self._pidfd)

    def give_away(self) -> tuple[Client, int]:
        """Return the connection and the pidfd, which are the caller's from now on.

        Raises:
            NotStopped: it was ended.
        """
        with self.talk(), self._lock:
            self._ended = self._released = True
            return self._client, self._pidfd

    @contextlib.contextmanager
    def _kept(self) -> Generator[bool]:
        """Keep the descriptors open for a while; tell whether they are."""
        with self._lock:
            self._users += 1
            kept = not self._released
        try:
            yield kept
        finally:
            with self._lock:
                self._users -= 1
                last = self._ended and not self._users and not self._released
                self._released = self._released or last
            if last:
                self._client.close()
                os.close(self._pidfd)


def kill(pidfd: int) -> None:
    """Kill a process that is not our child, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    wait_for_end(pidfd, _END_SECONDS)


def kill_group(pid: int, pidfd: int) -> None:
    """Kill a fork, which leads a group of its own, with its children; see ``kill``."""
    with contextlib.suppress(ProcessLookupError):
        if not wait_for_end(pidfd, 0):  # else the pid may be another's
            os.killpg(pid, signal.SIGKILL)
    kill(pidfd)


class AdoptedFork:
    """A fork of the tool, which is not our child: how it ends is told by its agent only.

    Args:
        pid: of the process, the leader of a group of its own.
        pidfd: of it; it is closed with its end.
    """

    def __init__(self, pid: int, pidfd: int) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self._ended = False

    def end(self, kill: bool) -> None:
        """Wait for the end, bounded; see ``ToolBody``."""
        if self._ended:
            return
        self._ended = True
        if not wait_for_end(self.pidfd, 0 if kill else _END_SECONDS):
            kill_group(self.pid, self.pidfd)
        os.close(self.pidfd)
