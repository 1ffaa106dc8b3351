"""Messages of errors, for text and JSON output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC

from actiondbg.errors import FileNotWritten
from actiondbg.support.atomic_write import write_whole

_NO_SPACE = (EDQUOT, EFBIG, ENOSPC)
_OUTPUT_ERRORS = (*_NO_SPACE, EBADF, EIO)  # of writing, which unlike those of opening name no file


def message_of(error: Exception) -> str:
    """Return the message of an error; for a file error, with its name and the reason."""
    if not isinstance(error, OSError):
        return str(error)
    if error.filename:
        way = _way_out(error, "name another file")
        return f"{str(error.filename)!r} cannot be used ({error.strerror}): {way}."
    if error.errno in _OUTPUT_ERRORS:
        way = _way_out(error, "redirect it")
        return f"The output cannot be written ({error.strerror}): {way}."
    return str(error)


def _way_out(error: OSError, way: str) -> str:
    return f"free disk space, or {way}" if error.errno in _NO_SPACE else way


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Generator[None]:
    """Raise FileNotWritten, with the file and the reason, for an OSError in the block."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        way = _way_out(error, "name another file")
        raise FileNotWritten(
            f"{os.fspath(path)!r} cannot be written ({error.strerror or error}): {way}."
        ) from error


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file; raise FileNotWritten if it cannot be written."""
    with writing(path):
        write_whole(path, content.encode(errors="replace") if isinstance(content, str) else content)
