"""What an output does not overwrite. It needs no package."""

from __future__ import annotations

import os
from collections.abc import Sequence

from actiondbg.errors import UsageError
from actiondbg.recording.format.kind import is_recording


def check_overwritten(path: str | os.PathLike[str], words: Sequence[str] = ()) -> None:
    """Refuse an output in whose place something stands that would be missed.

    Args:
        path: of the output; what is no regular file, such as /dev/null or a pipe, loses nothing.
        words: a tool with its arguments, which may name its input and its own output, or
            recordings that are read.

    Raises:
        UsageError: it is a recording, one of the words, or ``-``.
    """
    name = os.fspath(path)
    if name == "-":
        raise UsageError("'-' is no name of a file: say /dev/stdout for standard output.")
    if is_recording(path):
        raise UsageError(f"{name!r} is a recording, and is not overwritten: name another file.")
    if os.path.exists(path) and not os.path.isfile(path):
        return
    if any(is_same(path, word) for word in _paths(words)):
        raise UsageError(
            f"{name!r} is named twice on the command line, and is not overwritten: name another "
            "file."
        )


def is_same(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Tell whether two paths lead to one file, which need not be there, and is no device."""
    if os.path.exists(path) and not os.path.isfile(path):
        return False
    try:
        return os.path.realpath(path) == os.path.realpath(other) or os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _paths(words: Sequence[str]) -> list[str]:
    """Return what may be paths; a tool without a slash is looked for elsewhere."""
    first = [word for word in words[:1] if "/" in word or os.path.isfile(word)]
    words = [*first, *words[1:]]
    return [*words, *(word.partition("=")[2] for word in words if "=" in word)]  # --option=FILE
