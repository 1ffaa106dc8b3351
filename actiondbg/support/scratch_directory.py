"""Private temporary directories, which the next process removes when one was killed.

That of a session has its socket, what the tool prints, what is printed of the IR; that of a
command has a recording which only that command reads.

They lie in the directory for temporary files, not in XDG_RUNTIME_DIR: the latter is small and in
memory, and a tool may print a gigabyte.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator
from pathlib import Path

PREFIX = "actiondbg-"
_OWNER = "pid"
_DEAD = ("Z", "X")  # states of a process that only its parent still knows
_LONGEST_SOCKET_PATH = 107  # bytes, sun_path of unix(7) less its final zero
_UNOWNED_SECONDS = 60  # a directory without an owner is being made, or its maker died then


def make_directory() -> Path:
    """Make a session's directory of mode 0700, and remove those of processes that were killed.

    Returns:
        Its path, short enough for a socket in it.
    """
    import tempfile

    base = Path(tempfile.gettempdir())
    longest = base / (PREFIX + "x" * 8) / "999" / "f999"
    if len(os.fsencode(longest)) > _LONGEST_SOCKET_PATH:
        base = Path("/tmp")
    remove_stale(base)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    _own(directory)
    return directory


def make_scratch(purpose: str) -> Path:
    """Make a directory of mode 0700 for a command, and remove those of processes that were killed.

    Args:
        purpose: what it is for, such as "log", for its name.
    """
    # A tool is to start soon: the import of tempfile, which knows more places, takes 7 ms.
    base = Path(os.environ.get("TMPDIR") or "/tmp").absolute()
    prefix = f"{PREFIX}{purpose}-"
    directory = base / (prefix + os.urandom(8).hex())
    remove_stale(base)
    try:
        directory.mkdir(mode=0o700)
    except OSError:
        import tempfile

        directory = Path(tempfile.mkdtemp(prefix=prefix))
    with contextlib.suppress(OSError):  # of a full disk the command tells what it means for it
        _own(directory)
    return directory


@contextlib.contextmanager
def scratch_directory(purpose: str) -> Generator[Path]:
    """Make a directory for temporary files, which is removed with all that is in it.

    Args:
        purpose: what it is for, such as "log", for its name.
    """
    directory = make_scratch(purpose)
    try:
        yield directory
    finally:
        remove_directory(directory)


def remove_directory(directory: Path) -> None:
    """Remove a directory and all that is in it."""
    import shutil  # only now, as before a tool starts that would delay it

    shutil.rmtree(directory, ignore_errors=True)


def remove_stale(base: Path) -> None:
    """Remove the directories in ``base`` whose owner, a process of this user, is dead."""
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                _remove_if_stale(entry)


def _own(directory: Path) -> None:
    """Write down whose directory it is; until then it is being made, and nobody removes it."""
    pid = os.getpid()
    (directory / _OWNER).write_text(f"{pid} {_start_time(pid)} {_pid_namespace()}\n")


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
    pid, start, namespace = owner
    # In another namespace, such as that of a container, the pid is that of another process.
    if namespace in (None, _pid_namespace()) and _start_time(pid) != start:
        remove_directory(Path(entry.path))


def _read_owner(directory: Path) -> tuple[int, str, str | None] | None:
    try:
        pid, start, *namespace = (directory / _OWNER).read_text().split()
        return int(pid), start, next(iter(namespace), None)
    except (FileNotFoundError, ValueError):
        return None


def _start_time(pid: int) -> str | None:
    """Return when a live process started, so that a pid that was given out again is told apart.

    Source: proc(5), fields 3 and 22 of /proc/PID/stat; the second, in parentheses, may hold
    anything.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in _DEAD else fields[19]


def _pid_namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)
