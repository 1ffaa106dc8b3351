"""A lock of a folder, against another process that works in it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path

_NAME = ".lock"


@contextlib.contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the lock of a folder in the block; wait for it first.

    The kernel drops the lock of a process that is killed.

    Raises:
        OSError: the folder cannot be made or locked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            # NFS locks only what is open for writing. The file remains: to remove it would let two
            # processes lock two files of one name.
            os.close(file)
            file = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
