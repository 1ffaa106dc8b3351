"""Scratch directories; those of killed processes are removed by later ones. Space on disks.

A session's directory holds its sockets, the tool's output and printed IR; a command's holds a
temporary recording.

They are in the directory for temporary files and not in XDG_RUNTIME_DIR, which is small and in
memory, while a tool may print a gigabyte.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Generator
from pathlib import Path

_LEAST = 1 << 16  # bytes, for the beginning of a recording
_MARGIN = 1 << 16  # bytes, which are not worth to be freed
_KEEP_SIZE = 1  # of fallocate(2)
_SHARE = 16  # of the free space is taken at most


def is_full(directory: Path) -> bool:
    """Whether the disk of a directory has no room for a small file."""
    try:
        space = os.statvfs(directory)
    except FileNotFoundError:  # it was removed meanwhile
        return False
    return space.f_bavail * space.f_frsize < _LEAST


@contextlib.contextmanager
def reserved_space(path: Path, size: int) -> Generator[None]:
    """Reserve bytes for what is appended to an existing file in the block; the file keeps its size.

    Does nothing where the file system cannot do it.
    """
    space = os.statvfs(path)
    size = min(size, space.f_bavail * space.f_frsize // _SHARE)
    # AttributeError: a C library without it.
    with contextlib.suppress(OSError, AttributeError), path.open("ab") as file:
        begin = ctypes.c_int64(file.tell())
        ctypes.CDLL(None).fallocate(file.fileno(), _KEEP_SIZE, begin, ctypes.c_int64(size))
    try:
        yield
    finally:
        # A hole behind the end would free nothing on ext4. On a small disk the little space stays
        # with the file, for what processes in the background append.
        if size > _MARGIN:
            with contextlib.suppress(OSError):
                os.truncate(path, path.stat().st_size)


PREFIX = "actiondbg-"
_OWNER = "pid"
_DEAD = ("Z", "X")  # process states: zombie and dead
_LONGEST_SOCKET_PATH = 107  # bytes, sun_path of unix(7) less its final zero
_RETRY_SECONDS = (0, 0.01, 0.1, 0.5)  # between attempts to remove a directory
_UNOWNED_SECONDS = 60  # an older directory without an owner file is stale


def make_directory() -> Path:
    """Make a session's directory of mode 0700, whose path is short enough for a socket in it.

    Remove those of processes that were killed.
    """
    import tempfile

    base = Path(tempfile.gettempdir())
    longest = base / (PREFIX + "x" * 8) / "999" / "f999"
    if len(os.fsencode(longest)) > _LONGEST_SOCKET_PATH:
        base = Path("/tmp")
    remove_stale(base)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    try:
        _own(directory)
    except BaseException:
        remove_directory(directory)
        raise
    return directory


def make_scratch(purpose: str) -> Path:
    """Make a directory of mode 0700 for a purpose, and remove those of killed processes."""
    # The import of tempfile, which supports more locations, delays the tool's start by 7 ms.
    base = Path(os.environ.get("TMPDIR") or "/tmp").absolute()
    prefix = f"{PREFIX}{purpose}-"
    directory = base / (prefix + os.urandom(8).hex())
    remove_stale(base)
    try:
        directory.mkdir(mode=0o700)
    except OSError:
        import tempfile

        directory = Path(tempfile.mkdtemp(prefix=prefix))
    with contextlib.suppress(OSError):  # a full disk fails later, with the command's own message
        _own(directory)
    return directory


@contextlib.contextmanager
def scratch_directory(purpose: str) -> Generator[Path]:
    """Make a scratch directory for a purpose, such as "log"; the end of the block removes it."""
    directory = make_scratch(purpose)
    try:
        yield directory
    finally:
        remove_directory(directory)


def remove_directory(directory: Path) -> None:
    """Remove a directory and its contents, in which processes that are being killed may write.

    The owner file goes last: if this process is killed meanwhile, a later one removes the rest.
    """
    import shutil  # lazily, as the import would delay the tool's start

    for seconds in _RETRY_SECONDS:
        time.sleep(seconds)
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(directory)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                elif entry.name != _OWNER:
                    Path(entry.path).unlink(missing_ok=True)
            (directory / _OWNER).unlink(missing_ok=True)
            directory.rmdir()
        if not directory.exists():
            return


def remove_stale(base: Path) -> None:
    """Remove the directories in ``base`` whose owner, a process of this user, is dead."""
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                _remove_if_stale(entry)


def _own(directory: Path) -> None:
    """Write the owner file; a new directory without one is never removed."""
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
        # Another program's directory with such a name, or ours, whose maker died at once. Ours is
        # empty but for an owner file that was not written: nothing else is removed.
        if time.time() - stat.st_mtime > _UNOWNED_SECONDS:
            with contextlib.suppress(OSError):
                if os.listdir(entry.path) == [_OWNER]:
                    _remove_if_empty(Path(entry.path) / _OWNER)
                os.rmdir(entry.path)
        return
    pid, start, namespace = owner
    # In another namespace, such as a container's, the pid denotes another process.
    if namespace in (None, _pid_namespace()) and _start_time(pid) != start:
        remove_directory(Path(entry.path))


def _remove_if_empty(file: Path) -> None:
    if file.stat(follow_symlinks=False).st_size == 0:
        file.unlink()


def _read_owner(directory: Path) -> tuple[int, str, str | None] | None:
    try:
        pid, start, *namespace = (directory / _OWNER).read_text().split()
        return int(pid), start, next(iter(namespace), None)
    except (FileNotFoundError, ValueError):
        return None


def _start_time(pid: int) -> str | None:
    """Return the start time of a live process, which distinguishes reused pids.

    Source: proc(5), fields 3 and 22 of /proc/PID/stat; field 2, in parentheses, may hold any text.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in _DEAD else fields[19]


def _pid_namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)
