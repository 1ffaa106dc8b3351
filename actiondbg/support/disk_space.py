"""The space that a disk has left, and space that is reserved behind the end of a file."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Generator
from pathlib import Path

_LEAST = 1 << 16  # bytes, for the beginning of a recording
_KEEP_SIZE, _PUNCH_HOLE = 1, 2  # of fallocate(2)
_SHARE = 16  # of the free space is taken at most
_MARGIN = 1 << 16  # what a process may append while the space is released


def is_full(directory: Path) -> bool:
    """Whether the disk of a directory has no room for a small file."""
    try:
        space = os.statvfs(directory)
    except FileNotFoundError:  # it was removed meanwhile
        return False
    return space.f_bavail * space.f_frsize < _LEAST


@contextlib.contextmanager
def reserved_space(path: Path, size: int) -> Generator[None]:
    """Reserve space for what is appended to a file in the block; the file keeps its size.

    Does nothing where the file system cannot do it.

    Args:
        path: of the file, which exists.
        size: in bytes.
    """
    space = os.statvfs(path)
    _allocate(path, _KEEP_SIZE, 0, min(size, space.f_bavail * space.f_frsize // _SHARE))
    try:
        yield
    finally:
        _allocate(path, _KEEP_SIZE | _PUNCH_HOLE, _MARGIN, size)


def _allocate(path: Path, mode: int, after: int, size: int) -> None:
    with contextlib.suppress(OSError, AttributeError), path.open("ab") as file:
        begin = ctypes.c_int64(file.tell() + after)
        ctypes.CDLL(None).fallocate(file.fileno(), mode, begin, ctypes.c_int64(size))
