"""Atomic writes of files, and new files under free names."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: an error or an interrupt leaves the old file.

    Args:
        path: of the file; a file that is not regular, such as /dev/stdout, is written directly.
        content: of the file.

    Raises:
        OSError: the file cannot be written.
    """
    with open_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def open_whole(path: str | os.PathLike[str]) -> Generator[IO[bytes]]:
    """Open a file for atomic writing: the end of the block replaces it; see ``write_whole``.

    The new file has the mode of the old one.

    Raises:
        OSError: the file cannot be written.
    """
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


def create_free(path: Path) -> Path:
    """Create an empty file at a path, or at PATH-2, PATH-3, ... if the path is taken.

    Raises:
        OSError: the file cannot be created.
    """
    for free in numbered(path):
        with contextlib.suppress(FileExistsError), open(free, "wb", opener=_create):
            return free
    raise AssertionError  # a number is free


def make_free_folder(path: Path) -> Path:
    """Make a folder at a path, or at PATH-2, PATH-3, ... if the path is taken.

    Raises:
        OSError: the folder cannot be made.
    """
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
