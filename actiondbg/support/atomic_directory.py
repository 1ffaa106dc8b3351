"""Atomic replacement of a folder."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from actiondbg.errors import FileNotWritten
from actiondbg.support.folder_lock import locked


@contextmanager
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
    folder = Path(os.path.abspath(folder))
    try:
        _check_replaceable(folder, mark)
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _cannot_make(folder, error) from error
    try:
        yield new
        try:
            new.chmod(executable_mode(new / mark))
            with locked(folder.parent):  # another process may replace it at the same time
                _replace(new, folder)
        except OSError as error:
            raise _cannot_make(folder, error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


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
