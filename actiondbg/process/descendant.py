"""A process that a program has started, whose exit status its parent waits for."""

from __future__ import annotations

import os
import signal
from typing import Protocol

from actiondbg import protocol
from actiondbg.process.fork_process import kill
from actiondbg.process.process_status import exit_status
from actiondbg.protocol.client import Client
from actiondbg.support.interrupts import wait_for_end
from actiondbg.support.pidfd import open_pidfd

_END_SECONDS = 5.0  # from the end of the connection to the end of the process


class StandIn:
    """A stopped process whose place a fork has taken.

    Its parent, such as a shell, waits for it: it ends as the fork has ended, and not before.

    Args:
        client: the connection to its agent; owned by this object.
        pidfd: a file descriptor of the process; owned likewise.
    """

    def __init__(self, client: Client, pidfd: int) -> None:
        self._client = client
        self._pidfd = pidfd

    def end(self, status: int) -> None:
        """End with an exit status, negative for a signal."""
        if status == -signal.SIGKILL:
            kill(self._pidfd)
        else:
            self._client.send(protocol.Exit(status=status))
        if not wait_for_end(self._pidfd, _END_SECONDS):
            kill(self._pidfd)
        self._client.close()
        os.close(self._pidfd)


class Parent(Protocol):
    """The program that started the process."""

    def wait_for_fork(self, stand_in: StandIn) -> None:
        """Keep a process until the fork that took its place has ended."""
        ...

    def end(self, kill: bool) -> int:
        """Wait for the end of the program; see ``ToolProcess``."""
        ...


class Descendant:
    """A process that a program has started.

    Args:
        program: the program.
        pid: the number of the process.
    """

    def __init__(self, program: Parent, pid: int) -> None:
        self.pid = pid
        self.pidfd = open_pidfd(pid)
        self._program = program
        self._is_open = True

    def end(self, kill: bool) -> int | None:
        """Wait for the end, bounded; see ``ToolProcess``. The whole program is killed with it."""
        if not self._is_open:
            return None
        self._is_open = False
        if kill:
            self._program.end(kill=True)
        wait_for_end(self.pidfd, _END_SECONDS)
        status = exit_status(self.pid, self.pidfd)
        os.close(self.pidfd)
        return status

    def give_way(self, client: Client | None) -> bool:
        """Let a fork take its place: it stands in for the fork; see ``ToolProcess``."""
        if not self._is_open or client is None:
            return False
        self._is_open = False
        self._program.wait_for_fork(StandIn(client, self.pidfd))
        return True
