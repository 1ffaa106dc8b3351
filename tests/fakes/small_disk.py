"""A disk that really fills: a file system of a megabyte."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest


class SmallDisk:
    """A mounted file system in memory.

    Args:
        path: where it is mounted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, left: int = 0) -> None:
        """Take all space but ``left`` bytes."""
        space = os.statvfs(self.path)
        with (self.path / "filling").open("ab") as file, contextlib.suppress(OSError):
            file.write(bytes(max(space.f_bavail * space.f_frsize - left, 0)))

    def grow(self) -> None:
        """Make room."""
        subprocess.run(["mount", "-o", "remount,size=32m", self.path], check=True)


@contextlib.contextmanager
def small_disk(path: Path) -> Generator[SmallDisk]:
    """Mount a disk of a megabyte at a new folder; skip the test where that is not allowed."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "-l", path], check=True)
