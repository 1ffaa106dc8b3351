"""Files that are there as a whole, or not at all; compressed, if their names say so."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, Protocol

from actiondbg.recording.format.arrow import pa
from actiondbg.recording.trace.options import GZIP, ZSTD

_GZIP_LEVEL = 1  # some times as fast as the default, for some more bytes


class Output(Protocol):
    """An open file, or a compressor before it."""

    def write(self, content: bytes | memoryview, /) -> object:
        """Write some bytes."""
        ...


def can_begin_anew(path: str) -> bool:
    """Tell whether what is written to a file can be thrown away; not so what is no regular file."""
    return os.path.isfile(path) or not os.path.exists(path)


@contextlib.contextmanager
def open_trace(path: str) -> Generator[Output]:
    """Open a file to write a trace into, compressed if its name ends with .gz or .zst.

    It is there under its name when all is written; when that fails, what was there is still there.
    What is no regular file, such as /dev/stdout, is written to.

    Raises:
        OSError: it cannot be written.
    """
    if not can_begin_anew(path):
        with open(path, "wb") as file, _compressing(path, file) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with new.open("wb") as file, _compressing(path, file) as out:
            yield out
        os.replace(new, target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _compressing(path: str, file: BinaryIO) -> Generator[Output]:
    if path.lower().endswith(GZIP):
        # No name and no time: the same recording gives the same bytes.
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as out:
            yield out
    elif path.lower().endswith(ZSTD):
        with pa.CompressedOutputStream(file, "zstd") as out:
            yield out
    else:
        yield file
