"""The end of all processes of a program with the front end, however that ends.

The kernel kills the program itself with the front end. Its children are found by a mark in their
environment, which is what they were started with, whatever they have made of it since. This module
is also the program of the guard, which outlives the front end; it imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

VARIABLE = "ACTIONDBG_PROGRAM"  # begins with the pid of the front end, for the agent
_END_SECONDS = 10.0  # between the ends of two threads of a killed front end
_KILL_SECONDS = 5.0  # a process that waits for a disk ends later


class ProgramGuard:
    """A process that kills what a program has started, if this process ends before it.

    Args:
        program: the pid of the program.
        mark: the value of ``VARIABLE`` in its environment.
    """

    def __init__(self, program: int, mark: str) -> None:
        self._mark = mark
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(program), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},  # without the mark of a program that we may be part of
            start_new_session=True,
        )

    def terminate(self) -> None:
        """Ask the program's processes to end."""
        for pid in _marked(self._mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the program's processes."""
        _kill_marked(self._mark)

    def close(self) -> None:
        """End the guard, after the end of the program; what that has left runs on."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()


def new_mark() -> str:
    """Return a value of ``VARIABLE`` that no other program has."""
    return f"{os.getpid()}.{os.urandom(8).hex()}"


def _marked(mark: str) -> list[int]:
    """Return the processes with a mark, and all descendants of these."""
    wanted = f"{VARIABLE}={mark}".encode()
    children: dict[int, list[int]] = {}
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        with contextlib.suppress(OSError):
            # Field 3 of proc(5) is the state, 4 the parent; field 2, in (), may hold any text.
            state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state in (b"Z", b"X"):
                continue
            children.setdefault(int(parent), []).append(pid)
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(pid)
    family = dict.fromkeys(found)
    left = list(found)
    for each in left:
        left += [child for child in children.get(each, []) if child not in family]
        family.update(dict.fromkeys(children.get(each, [])))
    return [pid for pid in family if pid != os.getpid()]


def _kill_marked(mark: str) -> None:
    # Again, as a process may have started another one meanwhile.
    deadline = time.monotonic() + _KILL_SECONDS
    while (pids := _marked(mark)) and time.monotonic() < deadline:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _guard(program: int, mark: str) -> None:
    """Wait for the end of the program or of the front end, which has the other end of stdin."""
    try:
        pidfd = os.pidfd_open(program)
    except OSError:
        return  # ended, and reaped by the front end; or refused, which the front end reports
    select.select([pidfd, 0], [], [])
    # The kernel kills the program with the thread that started it, and closes the front end's
    # files with the last of its threads. A front end that runs on ends the guard instead.
    front_end_ended, _, _ = select.select([0], [], [], _END_SECONDS)
    if front_end_ended:
        _kill_marked(mark)


if __name__ == "__main__":
    _guard(int(sys.argv[1]), sys.argv[2])
