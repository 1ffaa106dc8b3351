"""The private directory of a session: its socket, what the tool prints, what is printed of the IR.

It lies in the directory for temporary files, not in XDG_RUNTIME_DIR: the latter is small and in
memory, and a tool may print a gigabyte.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "actiondbg-"
_OWNER = "pid"
_LONGEST_SOCKET_PATH = 107  # bytes, sun_path of unix(7) less its final zero
_UNOWNED_SECONDS = 60  # a directory without an owner is being made, or its maker died then


def make_directory() -> Path:
    """Make a directory of mode 0700, and remove those of sessions that were killed.

    Returns:
        Its path, short enough for a socket in it.
    """
    base = Path(tempfile.gettempdir())
    longest = base / (PREFIX + "x" * 8) / "999" / "f999"
    if len(os.fsencode(longest)) > _LONGEST_SOCKET_PATH:
        base = Path("/tmp")
    remove_stale(base)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    (directory / _OWNER).write_text(f"{os.getpid()} {_start_time(os.getpid())}\n")
    return directory


def remove_directory(directory: Path) -> None:
    """Remove a session's directory and all that is in it."""
    shutil.rmtree(directory, ignore_errors=True)


def remove_stale(base: Path) -> None:
    """Remove the directories in ``base`` whose owner, a process of this user, is dead."""
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    try:
        stat = entry.stat(follow_symlinks=False)
        if stat.st_uid != os.getuid() or not entry.is_dir(follow_symlinks=False):
            return
        owner = _read_owner(Path(entry.path))
    except OSError:
        return
    if owner is None:
        # Somebody else's, with a name like ours; or ours, whose maker died at once: then it is
        # empty, and only an empty one is removed.
        if time.time() - stat.st_mtime > _UNOWNED_SECONDS:
            with contextlib.suppress(OSError):
                os.rmdir(entry.path)
        return
    pid, start = owner
    if _start_time(pid) != start:
        remove_directory(Path(entry.path))


def _read_owner(directory: Path) -> tuple[int, str] | None:
    try:
        pid, start = (directory / _OWNER).read_text().split()
        return int(pid), start
    except (FileNotFoundError, ValueError):
        return None


def _start_time(pid: int) -> str | None:
    """Return when a process started, so that a pid that was given out again is told apart.

    Source: proc(5), field 22 of /proc/PID/stat; the second, in parentheses, may hold anything.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]
