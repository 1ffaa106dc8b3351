"""The lines of a source file around a location."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from actiondbg.errors import NoSuchUnit

_LONGEST = 400  # characters of a line


class SourceLines(msgspec.Struct):
    """Lines of a source file."""

    file: str  # as the location names it
    line: int  # the line of the location, from 1
    first: int  # the number of the first of ``lines``
    lines: list[str]  # their texts


def known_place(location: str | None) -> str | None:
    """Return a location; None for one without a line, as a module of the parser has."""
    return None if location is None or location.endswith(":0:0") else location or None


def lines_around(location: str, count: int) -> SourceLines:
    """Read the lines around FILE:LINE:COL, at most ``count`` before and after.

    Raises:
        NoSuchUnit: the file cannot be read, or has no such line.
    """
    file, line, _ = location.rsplit(":", 2)
    number = int(line)
    first = max(number - count, 1)
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as opened:
            texts = [
                text.rstrip("\n")[:_LONGEST] for text in islice(opened, first - 1, number + count)
            ]
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise NoSuchUnit(
            f"The source file {file!r} cannot be read ({why}): run the command where it is."
        ) from error
    if number < 1 or len(texts) <= number - first:
        raise NoSuchUnit(f"The source file {file!r} has no line {number}: it is another one now.")
    return SourceLines(file, number, first, texts)
