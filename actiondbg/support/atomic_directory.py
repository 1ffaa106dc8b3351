"""Folders that come to their place as a whole, or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from actiondbg.errors import FileNotWritten


@contextmanager
def placed(folder: Path, mark: str) -> Generator[Path]:
    """Make a folder that is put to its place when all is in it.

    Args:
        folder: its place; what is there is replaced if it is empty, or was made by this.
        mark: the name of a file that is in each that was.

    Yields:
        The folder to fill, with ``mark`` too.

    Raises:
        FileNotWritten: it cannot be made, or what is there is another's.
    """
    folder = Path(os.path.abspath(folder))
    try:
        _check_place(folder, mark)
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _not_made(folder, error) from error
    try:
        yield making
        try:
            making.chmod(executable_mode(making / mark))
            _put(making, folder)
        except OSError as error:
            raise _not_made(folder, error) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def executable_mode(file: Path) -> int:
    """Return a new file's mode with the right to execute for all who may read it."""
    mode = stat.S_IMODE(file.stat().st_mode)
    return mode | (mode & 0o444) >> 2


def _check_place(folder: Path, mark: str) -> None:
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / mark).exists()):
        raise FileNotWritten(
            f"{str(folder)!r} is there already, and is not the folder of a report: name another."
        )


def _put(making: Path, folder: Path) -> None:
    if not folder.exists():
        os.rename(making, folder)
        return
    old = making.with_name(f"{making.name}.old")
    os.rename(folder, old)
    try:
        os.rename(making, folder)
    except BaseException:
        os.rename(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _not_made(folder: Path, error: OSError) -> FileNotWritten:
    return FileNotWritten(
        f"The folder {str(folder)!r} cannot be made ({error.strerror}): name another."
    )
