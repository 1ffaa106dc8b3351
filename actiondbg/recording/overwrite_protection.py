"""Protection of files against being overwritten by an output. Imports no third-party package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.support.recording_file import refuse_recording


def check_overwritten(path: str | os.PathLike[str], words: Sequence[str] = ()) -> None:
    """Refuse to overwrite a recording, an input or another output.

    Args:
        path: the output; a path that is not a regular file (/dev/null, a pipe) is allowed.
        words: the tool with its arguments, which may name its input and its own output, or the
            recordings to read.

    Raises:
        UsageError: the path is a recording, one of the words, or ``-``.
    """
    name = os.fspath(path)
    if name == "-":
        raise UsageError("'-' is not a file name: use /dev/stdout for standard output.")
    refuse_recording(path)
    if os.path.exists(path) and not os.path.isfile(path):
        return
    if any(is_same(path, word) for word in _paths(words)):
        raise UsageError(
            f"{name!r} is named twice on the command line and is not overwritten: name another "
            "file."
        )


def check_output(path: Path, words: Sequence[str] = ()) -> None:
    """Refuse an output that cannot be written, or would overwrite another file.

    Args:
        path: the output.
        words: see ``check_overwritten``.

    Raises:
        UsageError: its directory does not exist; else as ``check_overwritten``.
    """
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{str(path)!r} cannot be written: its directory does not exist.")
    check_overwritten(path, words)


def is_same(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one regular file, which need not exist yet."""
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    try:
        return os.path.realpath(path) == os.path.realpath(other) or os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _paths(words: Sequence[str]) -> list[str]:
    """Return the words that may be paths; a tool without a slash is looked up on PATH."""
    first = [word for word in words[:1] if "/" in word or os.path.isfile(word)]
    words = [*first, *words[1:]]
    return [*words, *(word.partition("=")[2] for word in words if "=" in word)]  # --option=FILE
