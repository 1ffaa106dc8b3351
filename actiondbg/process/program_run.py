"""The run of a program: the processes in it that make MLIR contexts, one after the other."""

from __future__ import annotations

import contextlib
import os
import socket
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from actiondbg import protocol
from actiondbg.process.process_status import Work, work_of
from actiondbg.process.tool_process import Listener, Process, ToolProcess, peer_of
from actiondbg.protocol.client import encode_request
from actiondbg.support.interrupts import wait_for_end

_END_SECONDS = 5.0  # from the end of the connection to the end of the process
_SHOWN = 60  # characters of a command line in a message
_IDLE_SAMPLES = 4  # without work, before other processes need not wait any longer


@dataclass
class FollowedProcess:
    """A process of a program that was or is debugged.

    Attributes:
        name: p0, p1... in the order in which they were followed.
        pid: the number of the process.
        command: its command line.
        state: whether it is the current one, or has ended.
        status: its exit status, negative for a signal; None while it is alive, or if unknown.
        actions: the number of its actions; None while it is alive, or if unknown.
    """

    name: str
    pid: int
    command: list[str]
    state: Literal["alive", "exited"] = "alive"
    status: int | None = None
    actions: int | None = None


class ProgramRun:
    """A started program, until one of its processes connects: then that is the tool.

    Args:
        process: the program.
        listener: accepts the connections of agents; a process waits there until the one before
            has ended.
        follow: the glob of the processes to debug; None for all.
    """

    def __init__(self, process: Process, listener: Listener, follow: str | None = None) -> None:
        self.pid = process.pid
        self.pidfd = process.pidfd
        self.listener = listener
        self.processes: list[FollowedProcess] = []
        self._process = process
        self._follow = follow
        self._status: int | None = None
        self._released: list[socket.socket] = []
        self._work: Work | None = None
        self._idle = 0

    @property
    def is_open(self) -> bool:
        """Whether the program runs, or has ended by itself without a report of that."""
        return self._status is None

    def follow(self, connection: socket.socket) -> ToolProcess:
        """Return the process that has connected."""
        pid, _ = peer_of(connection)
        self._work, self._idle = None, 0
        record = FollowedProcess(f"p{len(self.processes)}", pid, _command_of(pid))
        self.processes.append(record)
        if pid == self.pid:
            return self
        return _Descendant(self, pid, os.pidfd_open(pid))

    def release_waiting(self) -> str | None:
        """Let the processes that wait for their turn run unobserved, if the followed one is idle.

        The workers of a pool wait for each other: the one that is followed may get its next task
        only when another has ended its own.

        Returns:
            Which processes, in a sentence; None if there are none.
        """
        work = work_of(self.processes[-1].pid)
        is_idle = work is not None and not work.is_running and work == self._work
        self._work, self._idle = work, self._idle + 1 if is_idle else 0
        if self._idle < _IDLE_SAMPLES:
            return None
        names: list[str] = []
        while (connection := self.listener.accept_pending()) is not None:
            # Without breakpoints it stops nowhere; its connection is open as long as it runs.
            connection.sendall(encode_request(protocol.Resume(control="continue"), 1))
            self._released.append(connection)
            pid, _ = peer_of(connection)
            command = textwrap.shorten(" ".join(_command_of(pid)), _SHOWN, placeholder=" ...")
            names.append(f"{pid} ({command})")
        if not names:
            return None
        which = "Process" if len(names) == 1 else "Processes"
        return (
            f"{which} {', '.join(names)} may run on unobserved: {self.processes[-1].name} did "
            "nothing meanwhile, and may have waited for that."
        )

    def note_end(self, status: int | None, actions: int | None) -> None:
        """Record the end of the followed process."""
        if self.processes and self.processes[-1].state == "alive":
            last = self.processes[-1]
            last.state, last.status, last.actions = "exited", status, actions

    def end_without_tool(self, status: int) -> str:
        """Describe the end of a program of which no process was debugged."""
        which = f" that matches {self._follow!r}" if self._follow else ""
        return (
            f"The program ended with status {status}, and no process of it{which} made an MLIR "
            "context: 'actiondbg doctor TOOL' reports whether the tool that it starts can be "
            "debugged."
        )

    def spare_forks(self) -> None:
        """Let a fork of a process of the program outlive the program, whose place it takes."""
        self._process.disarm()

    def end(self, kill: bool) -> int:
        """Wait for the end of the program; see ``ToolProcess``."""
        if self._status is None:
            self._status = self._process.end(kill)
            self.listener.close()
            for connection in self._released:
                connection.close()
        return self._status


class _Descendant:
    """A process that the program started; only its agent reports its exit status."""

    def __init__(self, program: ProgramRun, pid: int, pidfd: int) -> None:
        self.pid = pid
        self.pidfd = pidfd
        self._program = program
        self._is_open = True

    def end(self, kill: bool) -> None:
        if self._is_open:
            self._is_open = False
            if not kill:
                wait_for_end(self.pidfd, _END_SECONDS)
            os.close(self.pidfd)
            if kill:
                self._program.end(kill=True)


def pipes_of(pid: int) -> set[str]:
    """Return the pipes that a process has open, by the names that the kernel gives them."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(os.readlink(descriptor))
    return {name for name in found if name.startswith("pipe:")}


def _command_of(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return [os.fsdecode(word) for word in words]
    return []
