"""The words of an error, for people and for readers of JSON."""

from __future__ import annotations

from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC

NO_ROOM = (EDQUOT, EFBIG, ENOSPC)
_OF_OUTPUT = (*NO_ROOM, EBADF, EIO)  # where no file is named: opening one names it


def message_of(error: Exception) -> str:
    """Return an error's sentence; of a file that cannot be used, its name and why."""
    if not isinstance(error, OSError):
        return str(error)
    if error.filename:
        return f"{str(error.filename)!r} cannot be used ({error.strerror}): name another file."
    if error.errno in _OF_OUTPUT:
        way = "make room, or send it" if error.errno in NO_ROOM else "send it"
        return f"The output cannot be written ({error.strerror}): {way} elsewhere."
    return str(error)
