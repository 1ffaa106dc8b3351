"""The source ranges of an operation, as objects for a Python shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from actiondbg.errors import UsageError
from actiondbg.lineage.locations.source_files import FileRemap, same_file
from actiondbg.lineage.locations.source_range import SourceRange

_WRITTEN = re.compile(r"(?P<file>.+?):(?P<from>\d+):(?P<at>\d+)(?:-(?P<to>\d+):(?P<end>\d+))?")


@dataclass(frozen=True, order=True)
class SourceLocation:
    """A position in a source file.

    Args:
        file_path: the file.
        line: from 1; 0 if it is unknown.
        column: from 1; 0 for the whole line.
    """

    file_path: Path
    line: int
    column: int

    @classmethod
    def from_str(cls, text: str) -> SourceLocation:
        """Return the position that ``FILE:LINE:COLUMN`` writes.

        Raises:
            UsageError: it is no position.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None or match["to"]:
            raise UsageError(f"Invalid source position {text!r}: write FILE:LINE:COLUMN.")
        return cls(Path(match["file"]), int(match["from"]), int(match["at"]))

    @classmethod
    def from_strs(cls, texts: Iterable[str]) -> list[SourceLocation]:
        """Return the positions of several texts; see ``from_str``."""
        return [cls.from_str(text) for text in texts]

    @classmethod
    def unknown(cls) -> SourceLocation:
        """Return the position in no file."""
        return cls(Path("unknown"), 0, 0)

    @property
    def is_unknown(self) -> bool:
        """Whether the line is unknown."""
        return self.line <= 0

    def __str__(self) -> str:
        return "unknown" if self.is_unknown else f"{self.file_path}:{self.line}:{self.column}"


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

    @classmethod
    def from_strs(cls, texts: Iterable[str]) -> list[SourceRanges]:
        """Return the ranges of several texts; see ``from_str``."""
        return [cls.from_str(text) for text in texts]

    @classmethod
    def of(cls, source: Source) -> SourceRanges:
        """Return ranges, a position as a range, or what a text writes.

        Raises:
            UsageError: it is none of them.
        """
        if isinstance(source, SourceLocation):
            known = not source.is_unknown
            return cls([_range(source, source)] if known else ())
        if isinstance(source, SourceRanges):
            return source
        if not isinstance(source, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Expected a source range or FILE:LINE:COLUMN, got {source!r}.")
        return cls.from_str(source)

    @classmethod
    def unknown(cls) -> SourceRanges:
        """Return no range."""
        return cls(())

    @property
    def is_unknown(self) -> bool:
        """Whether no line is known."""
        return not self._known

    @property
    def start(self) -> SourceLocation:
        """The first position, in the first of the files."""
        if self.is_unknown:
            return SourceLocation.unknown()
        first = self._known[0]
        return SourceLocation(Path(first.file), first.line, first.column)

    @property
    def end(self) -> SourceLocation:
        """The last position in the same file; it belongs to the range."""
        if self.is_unknown:
            return SourceLocation.unknown()
        within = (one for one in self._known if one.file == self._known[0].file)
        last = max(within, key=lambda one: one.end)
        return SourceLocation(Path(last.file), last.end_line, last.end_column)

    @property
    def file_path(self) -> Path:
        """The file of the first position."""
        return self.start.file_path

    def overlaps(self, other: Source) -> bool:
        """Whether a range of the one overlaps a range of the other."""
        return any(
            one.meets(two) and self._share_file(one, two)
            for one in self.ranges
            for two in SourceRanges.of(other).ranges
        )

    def contains(self, other: Source) -> bool:
        """Whether the ranges contain a position, or all of other ranges."""
        inner = SourceRanges.of(other)
        return not inner.is_unknown and all(
            any(
                one.start <= two.start and two.end <= one.end and self._share_file(one, two)
                for one in self._known
            )
            for two in inner._known
        )

    def merge(self, other: SourceRanges) -> SourceRanges:
        """Return the range from the first position of both to the last.

        Raises:
            UsageError: they are in several files.
        """
        if self.is_unknown or other.is_unknown:
            return other if self.is_unknown else self
        known = [*self._known, *other._known]
        apart = next((one for one in known if not self._share_file(known[0], one)), None)
        if apart is not None:
            raise UsageError(
                f"Source ranges of {known[0].file!r} and {apart.file!r} cannot be merged: "
                "a range is in one file."
            )
        first, last = min(known, key=lambda one: one.start), max(known, key=lambda one: one.end)
        ends = (first.line, first.column, last.end_line, last.end_column)
        return SourceRanges([SourceRange(known[0].file, *ends)], self._remap)

    def try_merge(self, other: SourceRanges) -> SourceRanges:
        """Return what ``merge`` does, or the ranges themselves if they are in several files."""
        try:
            return self.merge(other)
        except UsageError:
            return self

    @property
    def _known(self) -> tuple[SourceRange, ...]:
        return tuple(one for one in self.ranges if one.is_known)

    def _share_file(self, one: SourceRange, two: SourceRange) -> bool:
        return same_file(self._remap(one.file), self._remap(two.file))

    def get_content(self) -> str:
        """Return the text of the ranges in their files; of a position its whole line.

        Raises:
            UsageError: a file cannot be read, or has no such line.
        """
        return "\n".join(_content(one, self._remap) for one in self._known)

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


Source = SourceRanges | SourceLocation | str


def _range(start: SourceLocation, end: SourceLocation) -> SourceRange:
    return SourceRange(str(start.file_path), start.line, start.column, end.line, end.column)


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
