"""The status of a process, as the system reports it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

# Of the letters in proc(5), those of a process that cannot run on by itself.
_HALTED = {
    "T": "stopped by a signal",
    "t": "stopped by a debugger",
    "Z": "ended",
    "X": "ended",
}


# pidfd_info of linux/pidfd.h, in its first version: the mask, the cgroup, eleven numbers, and the
# wait status, which is there once the parent has waited for the process (since Linux 6.15).
_INFO = struct.Struct("=QQ11Ii")
_GET_INFO = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11
_INFO_EXIT = 1 << 3


# futex(2): its number, its operations that wait, and their flags.
_FUTEX = {"x86_64": 202, "aarch64": 98}
_FUTEX_WAITS, _FUTEX_PRIVATE, _FUTEX_CLOCK = (0, 9), 0x80, 0x100

SAMPLE_SECONDS = 0.05  # between two looks at what a process does
_STUCK_SAMPLES = 60  # some libraries wait with a limit of time, again and again
_STUCK_BESIDE_LIMIT = 600


class ProcessStatus(msgspec.Struct, kw_only=True, frozen=True):
    """The status of a process."""

    pid: int  # of the process
    halted: str | None  # why the process cannot run, such as "stopped by a signal"; None if it can
    threads: int  # the number of its threads
    tracer: int  # the pid of the debugger that is attached, or 0


def process_status(pid: int) -> ProcessStatus | None:
    """Return the status of a process; None if there is none."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return None
    lines = (line.partition(":\t") for line in text.splitlines())
    fields = {name: value for name, _, value in lines}
    return ProcessStatus(
        pid=pid,
        halted=_HALTED.get(fields["State"][0]),
        threads=int(fields.get("Threads", 0)),  # none of a process that has ended
        tracer=int(fields["TracerPid"]),
    )


def _fields(file: str) -> list[str]:
    """Return the fields of a stat file of proc(5) from 3 on: 2, in (), may hold any text."""
    return Path(file).read_text(errors="replace").rpartition(")")[2].split()


def command_of(pid: int) -> list[str]:
    """Return the command line of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return [os.fsdecode(word) for word in words]
    return []


def exit_status(pid: int, pidfd: int) -> int | None:
    """Return the exit status of an ended process, whoever waits for it, negative for a signal.

    The pidfd was opened before its end. None where the system does not tell.
    """
    # The parent may wait for it between the two looks.
    status = _status_of_zombie(pid)
    if status is None:
        status = _status_of_pidfd(pidfd)
    return None if status is None else os.waitstatus_to_exitcode(status)


def _status_of_zombie(pid: int) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = _fields(f"/proc/{pid}/stat")  # 3 is the state, 52 the wait status
        if fields[0] in "ZX":
            return int(fields[49])
    return None


def _status_of_pidfd(pidfd: int) -> int | None:
    info = bytearray(_INFO.size)
    _INFO.pack_into(info, 0, _INFO_EXIT, *[0] * 13)
    with contextlib.suppress(OSError):
        fcntl.ioctl(pidfd, _GET_INFO, info)
        mask, *_, status = _INFO.unpack(info)
        if mask & _INFO_EXIT:
            return status
    return None


def _wait_of(pid: int) -> Literal["endless", "beside a limit", "limited"] | None:
    """Return how the threads of a process wait for others, which a fork does not have.

    "limited" if the main thread waits with a limit of time, "beside a limit" if another one does.
    None if a thread does not wait, or the system does not report for what it waits.
    """
    with contextlib.suppress(OSError, ValueError):
        status = process_status(pid)
        if status is None or status.halted is not None:
            return None
        tasks = Path(f"/proc/{pid}/task")
        limits = {each.name: _limit_of_wait(each) for each in tasks.iterdir()}
        if not limits or None in limits.values():
            return None
        if limits[str(pid)]:
            return "limited"
        return "beside a limit" if any(limits.values()) else "endless"
    return None


def _limit_of_wait(task: Path) -> int | None:
    """Return where the limit of a thread's wait for a thread of its process is, 0 without a limit.

    None if it waits for nothing, or for another process.
    """
    # proc(5): the number of the system call, and its arguments.
    number, address, operation, _, limit, *_ = (task / "syscall").read_text().split()
    word = int(operation, 16) & ~_FUTEX_CLOCK
    if int(number) != _FUTEX.get(os.uname().machine) or word & ~_FUTEX_PRIVATE not in _FUTEX_WAITS:
        return None
    # The C library joins a thread by a futex that could be of several processes.
    if not word & _FUTEX_PRIVATE and _is_shared(task / "maps", int(address, 16)):
        return None
    return int(limit, 16)


def _is_shared(maps: Path, address: int) -> bool:
    """Whether other processes may write to an address."""
    for line in maps.read_text(errors="replace").splitlines():
        span, permissions, *_ = line.split(maxsplit=2)
        first, _, end = span.partition("-")
        if int(first, 16) <= address < int(end, 16):
            return "s" in permissions
    return True


def _waits_of(pid: int) -> int:
    """Return how often a process has begun to wait."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith("voluntary_ctxt_switches:"):
                return int(line.split()[1])
    return 0


class ThreadWait:
    """Notices that a fork waits for ever for a thread of the tool, which it does not have."""

    def __init__(self) -> None:
        self._waits: list[int] = []  # how often it had begun to wait, at each look

    def has_lasted(self, pid: int) -> bool:
        """Look at the process; return whether it waits without a limit of time, or again and again.

        It was seen to wait at each of many looks. A single wait of the main thread with a limit may
        end by itself; another thread's may be that of an alarm, which nobody awaits.
        """
        wait = _wait_of(pid)
        if wait is None:
            self._waits.clear()
            return False
        self._waits.append(_waits_of(pid))
        looks = len(self._waits)
        is_again = wait == "limited" and self._waits[-1] > self._waits[0] + 1
        is_stuck = looks >= _STUCK_SAMPLES and (wait == "endless" or is_again)
        return is_stuck or (wait == "beside a limit" and looks >= _STUCK_BESIDE_LIMIT)


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and of its children that have ended, or 0."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        ticks = _fields(f"/proc/{pid}/stat")[11:15]  # fields 14 to 17
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def mapped_files(pid: int) -> list[Path]:
    """List the files whose code a process has loaded; none if it has ended."""
    found: dict[str, None] = {}
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
            _, permissions, _, _, _, *name = line.split(maxsplit=5)
            if "x" in permissions and name and name[0].startswith("/"):
                found[name[0]] = None
    return [Path(name) for name in found]


def shared_outputs(pid: int) -> list[int]:
    """Return which of stdout and stderr of a process are files that its parent has open, too."""
    ours, theirs = open_files(pid), open_files(next(ancestors_of(pid), 0)).values()
    outputs = [number for number in (1, 2) if number in ours]
    return [one for one in outputs if any(os.path.samestat(ours[one], each) for each in theirs)]


def open_files(pid: int) -> dict[int, os.stat_result]:
    """Return the open files of a process by descriptor; none if it has ended."""
    found: dict[int, os.stat_result] = {}
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found[int(entry.name)] = entry.stat()
    return found


class Work(NamedTuple):
    """The work of a process and its descendants, to be compared with that of a moment later."""

    times: dict[int, int]  # the processor time of each process, by pid, in the system's ticks
    is_running: bool  # whether one of their threads runs, or waits for a disk


def ancestors_of(pid: int) -> Iterator[int]:
    """List the parent of a process, its parent, and so on."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        while pid > 1:
            pid = int(_fields(f"/proc/{pid}/stat")[1])  # field 4 is the parent
            yield pid


def work_of(pid: int, *, with_children: bool) -> Work | None:
    """Return the work of a process, and of its descendants; None if the process has ended."""
    times: dict[int, int] = {}
    is_running = False
    left = [pid]
    for each in left:
        for task in Path(f"/proc/{each}/task").glob("*"):
            with contextlib.suppress(OSError):
                fields = _fields(f"{task}/stat")  # 3 is the state, 14 and 15 are the times
                times[each] = times.get(each, 0) + int(fields[11]) + int(fields[12])
                is_running |= fields[0] not in "SZX"
                if with_children:
                    left += map(int, (task / "children").read_text().split())
    return Work(times, is_running) if pid in times else None
