"""The run of a program: the processes in it that make MLIR contexts, one after the other."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from actiondbg import protocol
from actiondbg.process.descendant import Descendant, StandIn
from actiondbg.process.process_status import Work, shared_outputs, work_of
from actiondbg.process.stop import Stop
from actiondbg.process.tool_process import Listener, Process, ToolProcess, peer_of
from actiondbg.protocol.client import Client, encode_request
from actiondbg.support.counts import plural
from actiondbg.tool.seen_programs import SeenPrograms

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
        actions: the number of its actions so far; None while it runs, or if unknown.
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
        seen: what its processes note.
        follow: the glob of the processes to debug; None for all.

    Attributes:
        processes: those that were followed, in their order.
        is_tool: whether the followed process is the program itself.
        shared: which of stdout and stderr it shares with the process that has started it.
    """

    def __init__(
        self, process: Process, listener: Listener, seen: SeenPrograms, follow: str | None = None
    ) -> None:
        self.pid = process.pid
        self.pidfd = process.pidfd
        self.listener = listener
        self.processes: list[FollowedProcess] = []
        self.is_tool = False
        self.shared: list[int] = []
        self._process = process
        self._seen = seen
        self._follow = follow
        self._status: int | None = None
        self._released: list[socket.socket] = []
        self._stand_in: StandIn | None = None
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
        self.is_tool = pid == self.pid
        self.shared = [] if self.is_tool else shared_outputs(pid)
        return self if self.is_tool else Descendant(self, pid)

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
        which = plural("Process", len(names))
        return (
            f"{which} {', '.join(names)} may run on unobserved: {self.processes[-1].name} ran "
            "no action meanwhile, and may have waited for this."
        )

    def report_unobserved(self) -> str | None:
        """Report processes that a debugged one has started since, and that ran unobserved."""
        found = self._seen.new_unobserved()
        if found is None:
            return None
        return f"{found}, started by a debugged process: --follow NAME debugs one instead."

    def has_become_another(self) -> bool:
        """Return whether the followed process became a program that runs on unobserved."""
        return bool(self.processes) and self._seen.has_become_another(self.processes[-1].pid)

    def note_end(self, status: int, actions: int | None) -> None:
        """Record the end of the followed process, which may be the whole program."""
        if self.is_tool and self.is_waiting:
            self.go_on(status)
            self.end(kill=False)
        if self.processes and self.processes[-1].state == "alive":
            last = self.processes[-1]
            last.state, last.status, last.actions = "exited", status, actions

    def named(self, stop: Stop) -> Stop:
        """Return a stop with the name of its process."""
        name = self.processes[-1].name
        return msgspec.structs.replace(stop, process=name, processes=len(self.processes))

    def named_end(self, stop: Stop) -> Stop:
        """Return the end of the followed process, or of a program without one, with its name."""
        if not self.processes:
            if stop.reason != "exited" or stop.status is None:
                return stop
            return msgspec.structs.replace(stop, message=self._end_without_tool(stop.status))
        stop = self.named(stop)
        message = stop.message
        if message is None:
            return stop
        if len(self.processes) > 1:
            message = message.replace("The tool", str(stop.process), 1)
        if self.is_open and not self.is_tool and stop.status:
            message = f"{message.removesuffix('.')}; the program that started it runs on."
        return msgspec.structs.replace(stop, message=message)

    def _end_without_tool(self, status: int) -> str:
        """Describe the end of a program of which no process was debugged."""
        which = f" that matches {self._follow!r}" if self._follow else ""
        ended = f"The program ended with status {status}"
        if why := self._seen.explain():
            return f"{ended}, and no process of it{which} made an MLIR context: {why}."
        advice = (
            "'actiondbg doctor TOOL' reports whether the tool that it starts can be debugged, "
            "unless it is started without the agent's LD_PRELOAD, as by env -i."
        )
        if status == 0:
            return f"{ended}, and no process of it{which} made an MLIR context: {advice}"
        return (
            f"{ended} before a process of it{which} made an MLIR context, as a tool does that "
            f"refuses its options or its input. Otherwise {advice}"
        )

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a process whose place a fork has taken."""
        return self._stand_in is not None

    def note_fork(self, pid: int) -> None:
        """Record that a fork has taken the place of the followed process."""
        self._seen.new_unobserved()  # on its way, where the process had started them, too
        last = self.processes[-1]
        last.pid, last.state, last.status, last.actions = pid, "alive", None, None

    def wait_for_fork(self, stand_in: StandIn) -> None:
        """Keep a process until the fork that took its place has ended."""
        self._stand_in = stand_in

    def go_on(self, status: int | None) -> None:
        """Let the program go on after the end of the followed process, a fork.

        Args:
            status: the exit status of the fork, negative for a signal.
        """
        stand_in, self._stand_in = self._stand_in, None
        if stand_in is not None:
            stand_in.end(status or 0)

    def give_way(self, client: Client | None) -> bool:
        """Let a fork of the program itself, which is the tool, take its place."""
        if not self.is_open or client is None:
            return False
        self.wait_for_fork(StandIn(client, os.dup(self.pidfd)))
        return True

    def end(self, kill: bool) -> int:
        """Wait for the end of the program; see ``ToolProcess``."""
        if self._status is None:
            self._status = self._process.end(kill)
            self.go_on(-signal.SIGKILL)
            self.listener.close()
            for connection in self._released:
                connection.close()
        return self._status


def awaited_files(pid: int) -> set[tuple[int, int]]:
    """Return the files of a process whose closing others may wait for, by device and inode.

    These are pipes, FIFOs, and files with a lock that a fork shares.
    """
    found: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                file = descriptor.stat()
                if stat.S_ISFIFO(file.st_mode) or _is_locked(pid, descriptor.name):
                    found.add((file.st_dev, file.st_ino))
    return found


def _is_locked(pid: int, descriptor: str) -> bool:
    """Whether an open file has a lock of flock(2), or one of its description; see proc(5)."""
    lines = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text().splitlines()
    return any(line.startswith("lock:") and ("FLOCK" in line or "OFDLCK" in line) for line in lines)


def _command_of(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return [os.fsdecode(word) for word in words]
    return []
