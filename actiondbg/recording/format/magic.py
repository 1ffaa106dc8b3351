"""The magic bytes of recordings. Imports no third-party package."""

from __future__ import annotations

import os

MAGIC = b"ADBREC\r\n"


def is_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a recording; false for an unreadable file."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False
