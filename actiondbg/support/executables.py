"""The search for programs on PATH."""

from __future__ import annotations

import os


def which(name: str) -> str | None:
    """Return the path of a program, or None.

    Equivalent to shutil.which, whose import takes as long as the discovery of a tool.

    Args:
        name: of the program; with a slash, a path that is used as it is.
    """
    for directory in ("",) if "/" in name else os.get_exec_path():
        path = os.path.join(directory, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None
