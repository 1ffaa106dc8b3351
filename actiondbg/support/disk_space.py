"""The space that a disk has left, and space that is reserved behind the end of a file."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Generator
from pathlib import Path

_LEAST = 1 << 16  # bytes, for the beginning of a recording
_MARGIN = 1 << 16  # bytes, which are not worth to be freed
_KEEP_SIZE = 1  # of fallocate(2)
_SHARE = 16  # of the free space is taken at most


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
    size = min(size, space.f_bavail * space.f_frsize // _SHARE)
    # AttributeError: a C library without it.
    with contextlib.suppress(OSError, AttributeError), path.open("ab") as file:
        begin = ctypes.c_int64(file.tell())
        ctypes.CDLL(None).fallocate(file.fileno(), _KEEP_SIZE, begin, ctypes.c_int64(size))
    try:
        yield
    finally:
        # A hole behind the end would free nothing on ext4. On a small disk the little space stays
        # with the file, for what processes in the background append.
        if size > _MARGIN:
            with contextlib.suppress(OSError):
                os.truncate(path, path.stat().st_size)
