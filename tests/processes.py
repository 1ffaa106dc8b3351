"""Processes that tests start: their children, whether they run, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path


def children(pid: int) -> list[int]:
    """Return the children of a process, those of all its threads."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    found = children(pid)
    for each in found:
        found += children(each)  # the loop continues with these
    return found


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def wait_for_end(pids: Iterable[int]) -> None:
    """Wait for processes that are not our children: what is killed runs on for a moment."""
    deadline = time.monotonic() + 60
    while left := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.01)


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, a minute at most: a test that waits forever has no name."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "The condition never held."
        time.sleep(0.01)


def open_files(pid: int) -> list[str]:
    """Return the paths of the files that a process has open; a file without a name is "deleted"."""
    found: list[str] = []
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(link))
    return found


def kill_family(pid: int) -> None:
    """Kill a process and its descendants."""
    for each in (pid, *descendants(pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
