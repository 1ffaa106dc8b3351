"""The source ranges of an operation, as objects for a Python shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.lineage.locations.source_files import FileRemap, same_file
from actiondbg.lineage.locations.source_range import SourceRange

_WRITTEN = re.compile(r"(?P<file>.+?):(?P<from>\d+):(?P<at>\d+)(?:-(?P<to>\d+):(?P<end>\d+))?")


class SourceRanges:
    """A set of source ranges.

    Args:
        ranges: the ranges.
        remap: names of source files that others replace.
    """

    def __init__(self, ranges: Iterable[SourceRange], remap: FileRemap | None = None) -> None:
        self.ranges = tuple(sorted(set(ranges)))
        self._remap = remap or FileRemap()

    @classmethod
    def from_str(cls, text: str) -> SourceRanges:
        """Return the range that a text such as ``a.mlir:3:5`` or ``a.mlir:3:5-4:1`` writes.

        Raises:
            UsageError: it is no range.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise UsageError(
                f"Invalid source range {text!r}: write FILE:LINE:COLUMN or "
                "FILE:LINE:COLUMN-LINE:COLUMN."
            )
        line, column = int(match["from"]), int(match["at"])
        end_line, end_column = int(match["to"] or line), int(match["end"] or column)
        return cls([SourceRange(match["file"], line, column, end_line, end_column)])

    @property
    def is_unknown(self) -> bool:
        """Whether no line is known."""
        return not any(one.is_known for one in self.ranges)

    def overlaps(self, other: SourceRanges) -> bool:
        """Whether a range of the one overlaps a range of the other."""
        return any(
            one.meets(two) and same_file(self._remap(one.file), self._remap(two.file))
            for one in self.ranges
            for two in other.ranges
        )

    def get_content(self) -> str:
        """Return the text of the ranges in their files; of a position its whole line.

        Raises:
            UsageError: a file cannot be read, or has no such line.
        """
        return "\n".join(_content(one, self._remap) for one in self.ranges if one.is_known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceRanges) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return hash(self.ranges)

    def __lt__(self, other: SourceRanges) -> bool:
        return self.ranges < other.ranges

    def __str__(self) -> str:
        return ", ".join(map(str, self.ranges)) or "unknown"

    def __repr__(self) -> str:
        return f"<{self}>"


def _content(one: SourceRange, remap: FileRemap) -> str:
    file = Path(one.file)
    if not file.exists():
        file = Path(remap(one.file))
    try:
        lines = file.read_text(errors="replace").split("\n")
    except OSError as error:
        raise UsageError(
            f"The source {one.file!r} cannot be read: {error.strerror or error}."
        ) from error
    if one.line > len(lines):
        raise UsageError(f"The source {one.file!r} has no line {one.line}.")
    found = lines[one.line - 1 : one.end_line]
    if (one.line, one.column) == (one.end_line, one.end_column) or not one.column:
        return found[0]
    if one.end_line <= len(lines):
        found[-1] = found[-1][: one.end_column]
    found[0] = found[0][one.column - 1 :]
    return "\n".join(found)
