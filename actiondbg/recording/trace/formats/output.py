"""Output files: atomic, and compressed according to their names."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Generator
from typing import IO, Protocol

from actiondbg.recording.format.arrow import pa
from actiondbg.recording.trace.options import GZIP, ZSTD
from actiondbg.support.atomic_write import open_whole

_GZIP_LEVEL = 1  # several times as fast as the default, for slightly larger files


class Output(Protocol):
    """An open file, or a compressor in front of it."""

    def write(self, content: bytes | memoryview, /) -> object:
        """Write some bytes."""
        ...


def can_restart(path: str) -> bool:
    """Whether a path is a regular file or free, so that a partial output can be discarded."""
    return os.path.isfile(path) or not os.path.exists(path)


@contextlib.contextmanager
def open_trace(path: str) -> Generator[Output]:
    """Open a file for a trace, compressed if its name ends with .gz or .zst.

    A regular file is replaced when everything is written; on an error it stays as it was. Other
    files, such as /dev/stdout, are written directly.

    Raises:
        OSError: the file cannot be written.
    """
    with open_whole(path) as file, _compressing(path, file) as out:
        yield out


@contextlib.contextmanager
def _compressing(path: str, file: IO[bytes]) -> Generator[Output]:
    if path.lower().endswith(GZIP):
        # Without name and time, so that a recording always gives the same bytes.
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as out:
            yield out
    elif path.lower().endswith(ZSTD):
        with pa.CompressedOutputStream(file, "zstd") as out:
            yield out
    else:
        yield file
