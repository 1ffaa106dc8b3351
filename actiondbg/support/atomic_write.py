"""Files and folders that appear whole, or not at all; and locks of folders."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import stat
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

from actiondbg.errors import FileNotWritten
from actiondbg.support.interrupts import undisturbed
from actiondbg.support.recording_file import refuse_recording

_NAME = ".lock"


@contextlib.contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the lock of a folder in the block; wait for it first.

    The kernel drops the lock of a process that is killed.

    Raises:
        OSError: the folder cannot be made or locked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            # NFS locks only what is open for writing. The file remains: to remove it would let two
            # processes lock two files of one name.
            os.close(file)
            file = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: an error, which is an OSError, or an interrupt leaves the old file.

    A file that is not regular, such as /dev/stdout, is written directly.

    Raises:
        UsageError: the old file is a recording.
    """
    with open_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def open_whole(
    path: str | os.PathLike[str], *, replaces_recording: bool = False
) -> Generator[IO[bytes]]:
    """Open a file for atomic writing: the end of the block replaces it; see ``write_whole``.

    The new file has the mode of the old one.

    Args:
        replaces_recording: a recording is replaced, too.
    """
    if not replaces_recording:
        refuse_recording(path)
    # Before links are resolved: that of /dev/stdout may lead to a pipe, which has no path.
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path)
    # The name has no part of the target's: that may be as long as a name can be.
    new = os.path.join(os.path.dirname(target), f".actiondbg-{os.urandom(8).hex()}")
    try:
        with open(new, "wb", opener=_open_unnamed) as file:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            if not os.path.lexists(new):
                # With a src_dir_fd Python calls linkat(2): link(2) does not follow the link.
                unnamed = f"/proc/self/fd/{file.fileno()}"
                os.link(unnamed, new, src_dir_fd=file.fileno(), follow_symlinks=True)
        os.replace(new, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        if isinstance(error, OSError) and new in (error.filename, error.filename2):
            # The temporary name means nothing to the user.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def numbered(path: Path) -> Iterator[Path]:
    """Yield the path of a file, and the same with -2, -3, ... before its suffix."""
    return itertools.chain(
        (path,),
        (path.with_name(f"{path.stem}-{n}{path.suffix}") for n in itertools.count(2)),
    )


@undisturbed
def create_free(path: Path) -> Path:
    """Create an empty file at a path, or at PATH-2, PATH-3, ... if the path is taken."""
    for free in numbered(path):
        with contextlib.suppress(FileExistsError), open(free, "wb", opener=_create):
            return free
    raise AssertionError  # a number is free


def make_free_folder(path: Path) -> Path:
    """Make a folder at a path, or at PATH-2, PATH-3, ... if the path is taken."""
    names = (path.with_name(f"{path.name}-{n}") for n in itertools.count(2))
    for free in itertools.chain((path,), names):
        with contextlib.suppress(FileExistsError):
            free.mkdir()
            return free
    raise AssertionError  # a number is free


def _create(path: str, flags: int) -> int:
    """Open a file that must not exist, not even as a link."""
    return os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)


def _open_unnamed(path: str, flags: int) -> int:
    """Open a file that has no name yet, so that a kill leaves none; else one of that name."""
    try:
        return os.open(os.path.dirname(path), os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o666)
    except OSError:  # such as on NFS; a folder that is not writable fails again
        return _create(path, flags)


@contextlib.contextmanager
def made_folder(folder: Path) -> Generator[None]:
    """Make a folder for what the block writes; an error removes what was made and is empty."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in missing:
            with contextlib.suppress(OSError):
                each.rmdir()
        raise


@contextlib.contextmanager
def replaced_directory(folder: Path, mark: str) -> Generator[Path]:
    """Make a temporary folder that replaces another one at the end of the block.

    Args:
        folder: the folder to replace; it must not exist, be empty, or contain ``mark``.
        mark: the name of a file that the block must write.

    Yields:
        The temporary folder.

    Raises:
        FileNotWritten: the folder cannot be made, or has other contents.
    """
    # Imported here: a tool that is recorded starts without them.
    import shutil
    import tempfile

    folder = Path(os.path.abspath(folder))
    with contextlib.ExitStack() as stack:
        try:
            _check_replaceable(folder, mark)
            stack.enter_context(made_folder(folder.parent))
            new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        except OSError as error:
            raise _cannot_make(folder, error) from error
        stack.callback(shutil.rmtree, new, ignore_errors=True)
        yield new
        try:
            new.chmod(executable_mode(new / mark))
            with locked(folder.parent):  # another process may replace it at the same time
                _replace(new, folder)
        except OSError as error:
            raise _cannot_make(folder, error) from error


def executable_mode(file: Path) -> int:
    """Return the mode of a file, with execution for everyone who may read it."""
    mode = stat.S_IMODE(file.stat().st_mode)
    return mode | (mode & 0o444) >> 2


def _check_replaceable(folder: Path, mark: str) -> None:
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / mark).exists()):
        raise FileNotWritten(
            f"{str(folder)!r} exists and is not a folder with {mark!r}, which could be replaced: "
            "name another folder."
        )


def _replace(new: Path, folder: Path) -> None:
    import shutil

    if not folder.exists():
        os.rename(new, folder)
        return
    old = new.with_name(f"{new.name}.old")
    os.rename(folder, old)
    try:
        os.rename(new, folder)
    except BaseException:
        os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _cannot_make(folder: Path, error: OSError) -> FileNotWritten:
    # That a parent exists, and is no directory, is FileExistsError for mkdir.
    why = os.strerror(errno.ENOTDIR) if isinstance(error, FileExistsError) else error.strerror
    return FileNotWritten(
        f"The folder {str(folder)!r} cannot be created ({why}): name another folder."
    )
