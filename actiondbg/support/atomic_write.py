"""Atomic writes of files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import IO


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: an error or an interrupt leaves the old file.

    Args:
        path: of the file; a file that is not regular, such as /dev/stdout, is written directly.
        content: of the file.

    Raises:
        OSError: the file cannot be written.
    """
    with open_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def open_whole(path: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """Open a file for atomic writing: the end of the block replaces it; see ``write_whole``.

    Raises:
        OSError: the file cannot be written.
    """
    # Before links are resolved: that of /dev/stdout may lead to a pipe, which has no path.
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with new.open("wb") as file:
            yield file
        os.replace(new, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            new.unlink()
        if isinstance(error, OSError) and error.filename == str(new):
            error.filename = os.fspath(path)  # the temporary name means nothing to the user
        raise
