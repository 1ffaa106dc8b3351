"""How a recording is told from other files. Imports no third-party package."""

from __future__ import annotations

import os

from actiondbg.errors import UsageError

MAGIC = b"ADBREC\r\n"  # the first bytes of a recording


def is_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a recording; false for an unreadable file."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def refuse_recording(path: str | os.PathLike[str]) -> None:
    """Raise UsageError for an output that would overwrite a recording."""
    if is_recording(path):
        name = repr(os.fspath(path))
        raise UsageError(f"{name} is a recording and is not overwritten: name another file.")
