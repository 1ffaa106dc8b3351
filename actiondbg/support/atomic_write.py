"""Writing a file as a whole, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import IO


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; when that fails, or is cut short, what was there is still there.

    Args:
        path: of the file; what is no regular file, such as /dev/stdout, is written to.
        content: all of it.

    Raises:
        OSError: it cannot be written.
    """
    with open_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def open_whole(path: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """Open a file to write into; it is there when the block is left; see ``write_whole``.

    Raises:
        OSError: it cannot be written.
    """
    # Asked before links are resolved: that of /dev/stdout may lead to a pipe, which has no path.
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
            error.filename = os.fspath(path)  # the other name is nobody's
        raise
