"""Output files that a user named: an error has the name, the reason and the way out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from errno import EDQUOT, EFBIG, ENOSPC

from actiondbg.errors import FileNotWritten
from actiondbg.support.atomic_write import write_whole

NO_SPACE = (EDQUOT, EFBIG, ENOSPC)


def way_out(error: OSError, way: str = "name another file") -> str:
    """Return what to do about a failed write, in a clause."""
    return f"free disk space, or {way}" if error.errno in NO_SPACE else way


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], content: str = "") -> Generator[None]:
    """Raise FileNotWritten for an OSError in the block, which writes an output file.

    Args:
        content: what of a session is written, such as ``The skips``, for the message. Without it
            the file is the output of the command line, which ends quietly where nobody reads it.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) and not content:
            raise
        file = repr(os.fspath(path))
        head = f"{content} cannot be written to {file}" if content else f"{file} cannot be written"
        raise FileNotWritten(f"{head} ({error.strerror or error}): {way_out(error)}.") from error


def write_file(path: str | os.PathLike[str], text: str | bytes, content: str = "") -> None:
    """Write a whole output file; see ``writing``.

    Raises:
        FileNotWritten: it cannot be written.
        UsageError: it is a recording, which stays as it is.
    """
    with writing(path, content):
        write_whole(path, text.encode(errors="replace") if isinstance(text, str) else text)
