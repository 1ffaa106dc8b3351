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
from typing import Literal, Protocol

import msgspec

from actiondbg import protocol
from actiondbg.errors import LaunchError, NoAnswer
from actiondbg.process.forked_tool import kill
from actiondbg.process.process_status import (
    Work,
    ancestors_of,
    command_of,
    open_files,
    process_status,
    shared_outputs,
    work_of,
)
from actiondbg.process.stop import Stop
from actiondbg.process.tool_process import (
    Listener,
    OtherProcess,
    Process,
    ToolProcess,
    peer_of,
)
from actiondbg.protocol.client import Client, encode_request
from actiondbg.support.counts import plural
from actiondbg.support.interrupts import HeldInterrupts, wait_for_end
from actiondbg.support.processes import open_pidfd
from actiondbg.tool.program import Program
from actiondbg.tool.seen_programs import SeenPrograms

_END_SECONDS = 5.0  # from the end of the connection to the end of the process
_SHOWN = 60  # characters of a command line in a message
# Samples without work, before another process has its turn: a child that the process waits for
# delays it, while any other process is observed only if it waits for its turn.
_IDLE_SAMPLES = 20
_CHILD_SAMPLES = 2


class StandIn:
    """A stopped process whose place a fork has taken; it owns the connection and the pidfd.

    Its parent, such as a shell, waits for it: it ends as the fork has ended, and not before.
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


class Descendant(OtherProcess):
    """A process that a program has started; the whole program is killed with it."""

    def __init__(self, program: ProgramRun, pid: int) -> None:
        super().__init__(pid, open_pidfd(pid))
        self._program = program

    def _wait(self, kill: bool) -> None:
        if kill:
            self._program.end(kill=True)
        wait_for_end(self.pidfd, _END_SECONDS)

    def leave(self) -> None:
        """Let it go on, as another program."""
        self._is_open = False
        os.close(self.pidfd)

    def give_way(self, client: Client | None) -> bool:
        """Let a fork take its place: it stands in for the fork; see ``ToolProcess``."""
        if not self._is_open or client is None:
            return False
        self._is_open = False
        self._program.wait_for_fork(StandIn(client, self.pidfd))
        return True


class Suspended(Protocol):
    """The run of a process while another process of its program has the turn."""

    @property
    def has_news(self) -> bool:
        """Whether its agent has sent something, or it has ended."""
        ...

    def leave(self) -> None:
        """Let the process run on unobserved."""
        ...

    def take_breakpoints(self, breakpoints: list[protocol.WireBreakpoint]) -> None:
        """Send breakpoints to its agent, if they are others than it has."""
        ...


class OtherTurn(Exception):
    """Another process has its turn while the followed one runs.

    ``suspended`` is None for one that has just connected.
    """

    def __init__(self, suspended: Suspended | None) -> None:
        super().__init__()
        self.suspended = suspended


@dataclass
class FollowedProcess:
    """A process of a program that was or is debugged."""

    # p0, p1... in the order in which they were followed.
    name: str
    pid: int  # the number of the process
    command: list[str]  # its command line
    state: Literal["alive", "exited"] = "alive"  # whether it is the current one, or has ended
    # Its exit status, negative for a signal; None while it is alive, or if unknown.
    status: int | None = None
    # The number of its actions so far; None while it runs, or if unknown.
    actions: int | None = None


class ProgramRun(ToolProcess):
    """A started program, until one of its processes connects: then that is the tool.

    Args:
        listener: accepts the connections of agents; a process waits there until the one before
            has ended.
        seen: what its processes note.
        follow: the glob of the processes to debug; None for all.

    Attributes:
        is_tool: whether that is the program itself.
        shared: which of stdout and stderr it shares with the process that has started it.
    """

    def __init__(
        self, process: Process, listener: Listener, seen: SeenPrograms, follow: str | None = None
    ) -> None:
        self.pid = process.pid
        self.pidfd = process.pidfd
        self.listener = listener
        self.processes: list[FollowedProcess] = []  # those that were followed, in their order
        # The one that is debugged; None before the first.
        self.current: FollowedProcess | None = None
        # The runs of other processes that were followed and have not ended, the newest last.
        self.suspended: list[Suspended] = []
        self._process = process
        self._seen = seen
        self._follow = follow
        self._status: int | None = None
        self._own: str | None = None  # the name of the program's own process
        self._shared: dict[str, list[int]] = {}
        self._waiting: list[socket.socket] = []  # processes that wait for their turn
        self._released: list[socket.socket] = []
        self._stand_ins: dict[str, StandIn] = {}
        self._work: Work | None = None
        self._idle = self._waited = 0

    @property
    def is_open(self) -> bool:
        """Whether the program runs, or has ended by itself without a report of that."""
        return self._status is None

    @property
    def is_tool(self) -> bool:
        return self.current is not None and self.current.name == self._own

    @property
    def shared(self) -> list[int]:
        return self._shared[self.current.name] if self.current else []

    def accept(self, held: HeldInterrupts) -> socket.socket | None:
        """Wait for a process to connect; return None if the program ends first."""
        if self._waiting:
            return self._waiting.pop(0)
        return self.listener.accept(self.pidfd, held)

    def follow(self, connection: socket.socket) -> ToolProcess:
        """Return the process that has connected."""
        pid, _ = peer_of(connection)
        record = FollowedProcess(f"p{len(self.processes)}", pid, command_of(pid))
        self.processes.append(record)
        if pid == self.pid:
            self._own = record.name
        self._shared[record.name] = [] if pid == self.pid else shared_outputs(pid)
        self.turn_to(record)
        return self if pid == self.pid else Descendant(self, pid)

    def turn_to(self, record: FollowedProcess) -> None:
        """Make a followed process the current one."""
        self.current = record
        self._work, self._idle, self._waited = None, 0, 0

    def look(self) -> str | None:
        """Look whether other processes need their turn, while the followed one runs.

        A process may wait for a child, for the followed process that runs no action, or for others:
        the workers of a pool get a task only when another has ended its own.

        Returns:
            Which processes run on unobserved from now on, in a sentence; None if there are none.

        Raises:
            OtherTurn: another process has its turn.
        """
        if not self.is_open:
            return None  # a fork runs on after the end of the program
        while (connection := self.listener.accept_pending()) is not None:
            self._waiting.append(connection)
        news = next((one for one in self.suspended if one.has_news), None)
        if self.current is None or not (self._waiting or news):
            self._work, self._idle, self._waited = None, 0, 0
            return None
        work = work_of(self.current.pid, with_children=news is not None)
        is_idle = work is not None and not work.is_running and work == self._work
        self._work, self._idle = work, self._idle + 1 if is_idle else 0
        self._waited += 1
        if news is not None and self._idle >= _CHILD_SAMPLES:
            raise OtherTurn(news)
        is_waiting = self._idle >= _CHILD_SAMPLES or self._waited >= _IDLE_SAMPLES
        if is_waiting and self._find_child():
            raise OtherTurn(None)
        return self._release_waiting() if self._idle >= _IDLE_SAMPLES else None

    def _find_child(self) -> bool:
        """Put a waiting child of a followed process first; return whether there is one."""
        followed = {one.pid for one in self.processes if one.state == "alive"}
        for connection in self._waiting:
            if followed.intersection(ancestors_of(peer_of(connection)[0])):
                self._waiting.remove(connection)
                self._waiting.insert(0, connection)
                return True
        return False

    def _release_waiting(self) -> str | None:
        """Let the processes that wait for their turn run unobserved."""
        names: list[str] = []
        for connection in self._waiting:
            # Without breakpoints it stops nowhere; its connection is open as long as it runs.
            connection.sendall(encode_request(protocol.Resume(control="continue"), 1))
            self._released.append(connection)
            pid, _ = peer_of(connection)
            command = textwrap.shorten(" ".join(command_of(pid)), _SHOWN, placeholder=" ...")
            names.append(f"{pid} ({command})")
        self._waiting.clear()
        if not names or self.current is None:
            return None
        which = plural("Process", len(names))
        return (
            f"{which} {', '.join(names)} may run on unobserved: {self.current.name} ran "
            "no action meanwhile, and may have waited for this."
        )

    def report_unobserved(self) -> str | None:
        """Report the processes since the last call that made a context unobserved."""
        return self._seen.new_unobserved()

    def has_become_another(self) -> bool:
        """Return whether the followed process was about to become another program."""
        return self.current is not None and self._seen.has_become_another(self.current.pid)

    def note_end(self, status: int | None, actions: int | None) -> None:
        """Record the end of the followed process; no status if it became another program."""
        if self.is_tool and self.is_waiting:
            self.go_on(status)
            self.end(kill=False)
        if self.current is not None and self.current.state == "alive":
            last = self.current
            last.state, last.status, last.actions = "exited", status, actions

    def named(self, stop: Stop) -> Stop:
        """Return a stop with the name of its process."""
        name = self.current.name if self.current else None
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
            return f"{ended}, and no MLIR context of it{which} was observed: {why}."
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
        """Whether it waits for a process whose place a fork has taken: the current one."""
        return self.current is not None and self.current.name in self._stand_ins

    @property
    def next_waiting(self) -> int | None:
        """The pid of the process whose turn is next; None if none waits."""
        return peer_of(self._waiting[0])[0] if self._waiting else None

    def child_of_current(self) -> FollowedProcess | None:
        """Return a running child of the current process that is followed."""
        for one in self.processes:
            status = process_status(one.pid) if one.state == "alive" else None
            is_running = status is not None and status.halted != "ended"
            if is_running and self.current and self.current.pid in ancestors_of(one.pid):
                return one
        return None

    def note_fork(self, pid: int) -> None:
        """Record that a fork has taken the place of the followed process."""
        self._seen.new_unobserved()  # on its way, where the process had started them, too
        if self.current is not None:
            last = self.current
            last.pid, last.state, last.status, last.actions = pid, "alive", None, None

    def wait_for_fork(self, stand_in: StandIn) -> None:
        """Keep the current process until the fork that took its place has ended."""
        if self.current is not None:
            self._stand_ins[self.current.name] = stand_in

    def go_on(self, status: int | None) -> None:
        """Let the program go on after the end of the followed process, a fork with a status."""
        if self.current is not None and self.current.name in self._stand_ins:
            self._stand_ins.pop(self.current.name).end(status or 0)

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
            while self._stand_ins:
                self._stand_ins.popitem()[1].end(-signal.SIGKILL)
            self.listener.close()
            while self.suspended:
                self.suspended.pop().leave()
            for connection in (*self._released, *self._waiting):
                connection.close()
        return self._status


def awaited_files(pid: int, *, standard: bool = False) -> set[tuple[int, int]]:
    """Return the files of a process whose closing others may wait for, by device and inode.

    These are pipes, FIFOs, and files with a lock that a fork shares; with ``standard`` only its
    standard streams.
    """
    found: set[tuple[int, int]] = set()
    for descriptor, file in open_files(pid).items():
        if standard and descriptor > 2:
            continue
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(file.st_mode) or _is_locked(pid, descriptor):
                found.add((file.st_dev, file.st_ino))
    return found


def _is_locked(pid: int, descriptor: int) -> bool:
    """Whether an open file has a lock of flock(2), or one of its description; see proc(5)."""
    lines = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text().splitlines()
    return any(line.startswith("lock:") and ("FLOCK" in line or "OFDLCK" in line) for line in lines)


# --- programs that wait for a front end: actiondbg.attach(wait=True) in them ---


class WaitingProcess(OtherProcess):
    """The process of a program that outlives the front end: it is not killed, but runs on."""

    def _wait(self, kill: bool) -> None:
        if not kill:
            wait_for_end(self.pidfd, _END_SECONDS)

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
        """Do nothing before the first start: the program has loaded its agent itself.

        Raises:
            LaunchError: it was started before.
        """
        if self._begun:
            raise LaunchError(
                "A program that waited cannot be started again: run it anew, and connect to it."
            )

    def begin(self, listener: Listener) -> WaitingProcess:
        """Have the program connect to a listener when it makes its next MLIR context."""
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
