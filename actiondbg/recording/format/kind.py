"""Whether a file is a recording; apart, because it needs no package."""

from __future__ import annotations

import os

MAGIC = b"ADBREC\r\n"


def is_recording(path: str | os.PathLike[str]) -> bool:
    """Tell by its first bytes whether a file is a recording; one that cannot be read is none."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False
