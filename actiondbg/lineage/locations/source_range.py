"""Source ranges, and those that the text of a location names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from actiondbg.ir.tokens import CHARACTERS, ID, STRING, unescaped

_WHOLE_LINE = (1 << 20) - 1  # beyond the last column of any line

# What a location names: a file position, or the metadata of fused locations, which is skipped.
_PART = re.compile(
    rf'"(?P<file>{CHARACTERS})":(?P<line>\d+):(?P<column>\d+)'
    r"(?:\s+to\s+(?P<end_line>\d+)?:(?P<end_column>\d+))?"
    rf"|{STRING}|(?P<metadata>\bfused\s*<)|(?P<alias>\#{ID})"
)
_ANGLE = re.compile(rf"{STRING}|->|[<>]")


def position(line: int, column: int) -> int:
    """Return a place in a file as a number that grows with line and column."""
    return line << 20 | (column if column < _WHOLE_LINE else _WHOLE_LINE)


class SourceRange(NamedTuple):
    """A range of a source file; both ends belong to it.

    Args:
        file: the path as the location has it.
        line: the first line, from 1; 0 if it is unknown: the range then overlaps nothing.
        column: the first column, from 1; 0 for the whole line.
        end_line: the last line.
        end_column: the last column; 0 for the whole line.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> int:
        """The first position as a number that grows with line and column."""
        return position(self.line, self.column)

    @property
    def end(self) -> int:
        """The last position, as ``start``."""
        return position(self.end_line, self.end_column or _WHOLE_LINE)

    @property
    def is_known(self) -> bool:
        """Whether the line is known."""
        return self.line > 0

    def meets(self, other: SourceRange) -> bool:
        """Whether the positions overlap; the files are not compared."""
        return (
            self.is_known and other.is_known and self.start <= other.end and other.start <= self.end
        )

    def __str__(self) -> str:
        start = f"{self.file}:{self.line}:{self.column}"
        if (self.end_line, self.end_column) == (self.line, self.column):
            return start
        return f"{start}-{self.end_line}:{self.end_column}"


class NamedRanges(NamedTuple):
    """What the text of a location names: source ranges, and aliases of other locations."""

    ranges: frozenset[SourceRange]
    aliases: tuple[str, ...]


def named_ranges(text: str) -> NamedRanges:
    """Return the ranges and the aliases in the text of a location.

    Fused locations and both ends of a call site are all named, and so is the location of a name.
    The parts are found without a parser, so that deep chains of call sites need no recursion.
    """
    ranges: list[SourceRange] = []
    aliases: list[str] = []
    at = 0
    while match := _PART.search(text, at):
        at = match.end()
        if match["metadata"]:
            at = _metadata_end(text, at)
        elif match["alias"]:
            aliases.append(match["alias"])
        elif match["line"]:
            ranges.append(_range(match))
    return NamedRanges(frozenset(ranges), tuple(aliases))


@lru_cache(maxsize=1 << 16)
def ranges_of(text: str) -> frozenset[SourceRange]:
    """Return the source ranges of a location's text, without those of its aliases."""
    return named_ranges(text).ranges


def _range(match: re.Match[str]) -> SourceRange:
    line, column = int(match["line"]), int(match["column"])
    end_line, end_column = line, column
    if match["end_column"] is not None:
        end_column = int(match["end_column"])
        end_line = int(match["end_line"] or line)
    return SourceRange(unescaped(match["file"]), line, column, end_line, end_column)


def _metadata_end(text: str, at: int) -> int:
    depth = 1
    for match in _ANGLE.finditer(text, at):
        depth += {"<": 1, ">": -1}.get(match.group(), 0)
        if not depth:
            return match.end()
    return len(text)


@dataclass(frozen=True, slots=True)
class Location:
    """A source location, as MLIR prints it; the text is parsed on demand (``ranges``).

    Args:
        text: what stands between ``loc(`` and ``)``, aliases resolved, such as
            ``"a.mlir":3:5`` or ``fused["a.mlir":3:5, "b.mlir":7:1]``; ``unknown`` for none.
    """

    text: str

    @property
    def ranges(self) -> frozenset[SourceRange]:
        """The source ranges that it names: of fused locations and of call sites, all."""
        return ranges_of(self.text)


UNKNOWN = Location("unknown")
