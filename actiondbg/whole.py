"""Writing a file as a whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; when that fails, or is cut short, what was there is still there.

    Args:
        path: of the file; what is no regular file, such as /dev/stdout, is written to.
        content: all of it.

    Raises:
        OSError: it cannot be written.
    """
    # Asked before links are resolved: that of /dev/stdout may lead to a pipe, which has no path.
    if os.path.exists(path) and not os.path.isfile(path):
        Path(path).write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        new.write_bytes(content)
        os.replace(new, target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
