"""Atomic replacement of a folder, and folders that an error removes again."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path

from actiondbg.errors import FileNotWritten
from actiondbg.support.folder_lock import locked


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
