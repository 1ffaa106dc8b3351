"""A fork that has taken the tool's place, as a process."""

from __future__ import annotations

import os
from typing import Protocol

from actiondbg.process.fork_process import kill_group
from actiondbg.support.interrupts import wait_for_end

_END_SECONDS = 5.0  # from the end of the connection to the end of the tool


class Body(Protocol):
    """The process that a run consists of at a time: one that was started, or a fork."""

    @property
    def pid(self) -> int: ...

    @property
    def pidfd(self) -> int: ...

    def end(self, kill: bool) -> int | None:
        """Wait for the end, bounded.

        Args:
            kill: kill the process and its children at once.

        Returns:
            The exit status, negative for a signal; None where nobody can tell.
        """


class Adopted:
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
        """Wait for the end, bounded; see ``Body``."""
        if self._ended:
            return
        self._ended = True
        if not wait_for_end(self.pidfd, 0 if kill else _END_SECONDS):
            kill_group(self.pid, self.pidfd)
        os.close(self.pidfd)
