"""The user's directories (XDG Base Directory Specification)."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_directory() -> Path:
    """Return actiondbg's directory in the user's cache."""
    return _directory("XDG_CACHE_HOME", ".cache")


def make_library_folder(folder: Path) -> None:
    """Make a folder for shared objects, to which nobody but its owner can write.

    Raises:
        OSError: the folder cannot be made, belongs to another user, or is mounted noexec.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid not in (0, os.geteuid()):
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    if status.st_mode & _WRITABLE_BY_OTHERS and status.st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(status.st_mode) & ~_WRITABLE_BY_OTHERS)
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        # The loader would start the program without the library.
        raise PermissionError(errno.EPERM, "it is mounted noexec", str(folder))


def config_directory() -> Path:
    """Return actiondbg's directory in the user's configuration."""
    return _directory("XDG_CONFIG_HOME", ".config")


def state_directory() -> Path:
    """Return actiondbg's directory in the user's state, such as histories."""
    return _directory("XDG_STATE_HOME", ".local/state")


def home_directory() -> Path:
    """Return the user's home directory; the root for a user without one, as in a container."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _directory(variable: str, default: str) -> Path:
    given = Path(os.environ.get(variable, ""))
    return (given if given.is_absolute() else home_directory() / default) / "actiondbg"
