"""Find a program on PATH."""

from __future__ import annotations

import os


def which(name: str) -> str | None:
    """Return the path of a program, or None.

    It is what shutil.which does, whose import alone takes as long as the rest of finding a tool.

    Args:
        name: of the program; with a slash in it, a path that is taken as it is.
    """
    for directory in ("",) if "/" in name else os.get_exec_path():
        path = os.path.join(directory, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None
