"""Source locations: their files, the ranges that they cover, and an index of those."""

from __future__ import annotations

import posixpath
import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat, zip_longest
from operator import itemgetter
from pathlib import PurePosixPath
from typing import NamedTuple, overload

from actiondbg.errors import UsageError
from actiondbg.ir.tokens import CHARACTERS, ID, STRING, unescaped
from actiondbg.ir.written_locations import WrittenLocations


def same_file(one: str, other: str) -> bool:
    """Whether the components of one path are the last ones of the other."""
    if one == other:
        return True
    parts, others = _parts(one), _parts(other)
    shared = min(len(parts), len(others))
    return shared > 0 and parts[-shared:] == others[-shared:]


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path).parts if part != "/")


class FileRemap:
    """Names of source files that others replace.

    Args:
        pairs: the old and the new name; the old one may be the end of a path.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = list(pairs)
        self._unused = {old for old, _ in self._pairs}
        self._known: dict[str, str] = {}

    def __call__(self, file: str) -> str:
        """Return the name that replaces a file's, or the same one."""
        if not self._pairs:
            return file
        found = self._known.get(file)
        if found is None:
            found = self._known[file] = self._replaced(file)
        return found

    def _replaced(self, file: str) -> str:
        for old, new in self._pairs:
            if same_file(file, old):
                self._unused.discard(old)
                return new
        return file

    def unused(self) -> list[str]:
        """Return the old names that matched no file so far."""
        return [old for old, _ in self._pairs if old in self._unused]


def parse_remap(text: str) -> tuple[str, str]:
    """Return the two names of ``OLD=NEW``.

    Raises:
        UsageError: there are not two names.
    """
    old, sign, new = (part.strip() for part in text.partition("="))
    if not sign or not old or not new or "=" in new:
        raise UsageError(f"Invalid remap {text!r}: write OLD=NEW, two names of files.")
    return old, new


# --- ranges ---


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
    if match := _FILE.fullmatch(text):
        line, column = int(match[2]), int(match[3])
        return frozenset((SourceRange(match[1], line, column, line, column),))
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


# --- the locations of a text ---


Span = tuple[str, int, int, int]

_FILE = re.compile(r'"([^"\\]*+)":(\d++):(\d++)')  # the most frequent location
_ALIAS = re.compile(rf"{STRING}|(#{ID})")
_MOST_TEXT = 1 << 16  # characters; aliases that share others can name a text without end


class OwnLines:
    """The places of operations in the text of their own file, which MLIR's parser gives them.

    Args:
        file: the path that the user gave.
        text: the text of the file.
        offsets: of each operation, where its name begins in the text.
    """

    def __init__(self, file: str, text: str, offsets: Sequence[int]) -> None:
        self.file = file
        self._text, self._offsets = text, offsets
        self._starts = array("q", [0])
        self._starts.extend(match.end() for match in re.finditer("\n", text))
        self._ascii = text.isascii()

    def position(self, index: int) -> tuple[int, int]:
        """Return the line and the column of an operation; columns are bytes, as MLIR's are."""
        offset = self._offsets[index]
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        if self._ascii:
            return line, offset - start + 1
        before = self._text[start:offset].encode(errors="surrogateescape")
        return line, len(before) + 1

    def positions(self) -> Iterator[int]:
        """Iterate over the positions of all operations, as ``SourceRange.start`` counts them."""
        line, end = 1, len(self._starts)
        next_line = self._starts[1] if end > 1 else sys.maxsize
        for index, offset in enumerate(self._offsets):
            while offset >= next_line:
                line += 1
                next_line = self._starts[line] if line < end else sys.maxsize
            if self._ascii:
                yield position(line, offset - self._starts[line - 1] + 1)
            else:
                yield position(*self.position(index))


class LocationTable(Sequence[Location]):
    """The locations of operations, as a text writes them.

    Args:
        written: the locations; operations of the lineage have the same indices.
        own_lines: the locations of operations without a text; None: they are unknown.
    """

    def __init__(self, written: WrittenLocations, own_lines: OwnLines | None = None) -> None:
        self._keys, self._texts, self._aliases, _ = written
        self._own_lines = own_lines
        self._ranges: dict[int, frozenset[SourceRange]] = {}
        self._alias_ranges: dict[str, frozenset[SourceRange]] = {}
        self._resolved: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, index: int) -> Location: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Location]: ...

    def __getitem__(self, index: int | slice) -> Location | Sequence[Location]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        key = self._keys[index]
        if key:
            return Location(self._with_aliases(self._texts[key]))
        if self._own_lines is None:
            return UNKNOWN
        line, column = self._own_lines.position(range(len(self))[index])
        return Location(f'"{self._own_lines.file}":{line}:{column}')

    def ranges_at(self, index: int) -> frozenset[SourceRange]:
        """Return the source ranges of an operation."""
        key = self._keys[index]
        found = self._ranges.get(key)
        if found is None:
            if not key:
                return frozenset(self._own(index))
            found = self._ranges[key] = self._ranges_of(self._texts[key])
        return found

    def spans(self) -> Iterator[Span]:
        """Iterate over the ranges of all operations: file, first and last position, operation."""
        known: dict[int, list[tuple[str, int, int]]] = {}
        own = repeat(0) if self._own_lines is None else self._own_lines.positions()
        file = "" if self._own_lines is None else self._own_lines.file
        for index, (key, place) in enumerate(zip(self._keys, own, strict=False)):
            if not key:
                if place:
                    yield file, place, place, index
                continue
            found = known.get(key)
            if found is None:
                found = known[key] = self._spans_of(self._texts[key])
            for name, start, end in found:
                yield name, start, end, index

    def _spans_of(self, text: str) -> list[tuple[str, int, int]]:
        alias = self._aliases.get(text)
        match = _FILE.fullmatch(text if alias is None else alias)
        if match and match[2] != "0" and match[3] != "0":
            start = position(int(match[2]), int(match[3]))
            return [(sys.intern(match[1]), start, start)]
        return [(one.file, one.start, one.end) for one in self._ranges_of(text)]

    def _own(self, index: int) -> tuple[SourceRange, ...]:
        if self._own_lines is None:
            return ()
        line, column = self._own_lines.position(index)
        return (SourceRange(self._own_lines.file, line, column, line, column),)

    def _ranges_of(self, text: str) -> frozenset[SourceRange]:
        known = self._alias_ranges.get(text)
        if known is not None:
            return known
        if text in self._aliases:
            return self._all_ranges(NamedRanges(frozenset(), (text,)))
        return self._all_ranges(named_ranges(text))

    def _all_ranges(self, named: NamedRanges) -> frozenset[SourceRange]:
        """Return ranges and those of aliases; aliases of aliases first, without recursion."""
        pending = list(named.aliases)
        parsed: dict[str, NamedRanges] = {}
        while pending:
            alias = pending[-1]
            if alias in self._alias_ranges:
                pending.pop()
                continue
            if alias not in parsed:
                parsed[alias] = named_ranges(self._aliases.get(alias, ""))
                pending.extend(one for one in parsed[alias].aliases if one not in parsed)
                continue
            pending.pop()
            self._alias_ranges[alias] = self._union(parsed[alias])
        return self._union(named)

    def _union(self, named: NamedRanges) -> frozenset[SourceRange]:
        if not named.aliases:
            return named.ranges
        known = (self._alias_ranges.get(alias, frozenset[SourceRange]()) for alias in named.aliases)
        return named.ranges.union(*known)

    def _with_aliases(self, text: str) -> str:
        """Return a text with the texts of its aliases, up to a limit."""
        if "#" not in text:
            return text
        for _ in range(len(self._aliases) + 1):
            resolved = _ALIAS.sub(self._alias_text, text)
            if resolved == text or len(resolved) > _MOST_TEXT:
                return text
            text = resolved
        return text

    def _alias_text(self, match: re.Match[str]) -> str:
        alias = match[1]
        return match[0] if alias is None else self._aliases.get(alias) or alias


# --- which overlap a range ---


_FIRST = position(1, 0)  # an unknown line, 0, is before it

HANDFUL = 4  # operations that a source range may name, if nothing else tells them apart


class LocationIndex:
    """The locations of the operations of a stage, by source file and position.

    Args:
        locations: of each operation.
        file_name: the name that replaces a file's.
    """

    def __init__(
        self, locations: Sequence[Location], file_name: Callable[[str], str] = str
    ) -> None:
        self._locations = locations
        self._file_name = file_name
        spans: dict[str, list[tuple[int, int, int]]] = {}
        for file, start, end, index in _spans(locations):
            at = spans.get(file)
            if at is None:
                at = spans[file] = []
            if start >= _FIRST:
                at.append((start, end, index))
        renamed: dict[str, list[tuple[int, int, int]]] = {}
        for file, found in spans.items():
            renamed.setdefault(file_name(file), []).extend(found)
        self._spans = {file: _Spans(found) for file, found in renamed.items()}
        self._same: dict[str, list[_Spans]] = {}
        self._by_end: dict[str, list[str]] = {}  # by the last component
        for file in self._spans:
            self._by_end.setdefault(posixpath.basename(file), []).append(file)

    @property
    def files(self) -> list[str]:
        """The source files that the locations name, the most frequent first."""
        return sorted(self._spans, key=lambda file: (-len(self._spans[file]), file))

    def ranges(self, index: int) -> frozenset[SourceRange]:
        """Return the source ranges of an operation."""
        return ranges_at(self._locations, index)

    def overlapping(self, ranges: Iterable[SourceRange]) -> set[int]:
        """Return the operations of which a range overlaps one of the given ranges."""
        found: set[int] = set()
        for one in ranges:
            if one.is_known:
                for spans in self._spans_of(self._file_name(one.file)):
                    found.update(spans.overlapping(one.start, one.end))
        return found

    def _spans_of(self, file: str) -> list[_Spans]:
        found = self._same.get(file)
        if found is None:
            names = self._by_end.get(posixpath.basename(file), ())
            found = [self._spans[name] for name in names if same_file(name, file)]
            self._same[file] = found
        return found


def ranges_at(locations: Sequence[Location], index: int) -> frozenset[SourceRange]:
    """Return the source ranges of one of many locations."""
    if isinstance(locations, LocationTable):
        return locations.ranges_at(index)
    return locations[index].ranges


def _spans(locations: Sequence[Location]) -> Iterator[Span]:
    if isinstance(locations, LocationTable):
        yield from locations.spans()
        return
    for index, location in enumerate(locations):
        for one in location.ranges:
            yield one.file, one.start, one.end, index


class _Spans:
    """Intervals in the order of their starts, with the greatest end of each pair, pair of pairs...

    An interval overlaps if it starts before the end and ends after the start: the first is a
    look-up, the second a descent that leaves out every group that ends too early.
    """

    def __init__(self, spans: list[tuple[int, int, int]]) -> None:
        spans.sort(key=itemgetter(0))
        self._starts = array("q", map(itemgetter(0), spans))
        self._members = array("q", map(itemgetter(2), spans))
        ends = array("q", map(itemgetter(1), spans))
        self._levels = [ends] if ends != self._starts else []  # none if all are points
        while self._levels and len(self._levels[-1]) > 1:
            below = self._levels[-1]
            pairs = zip_longest(below[::2], below[1::2], fillvalue=-1)
            self._levels.append(array("q", (max(pair) for pair in pairs)))

    def __len__(self) -> int:
        return len(self._starts)

    def overlapping(self, start: int, end: int) -> Sequence[int]:
        last = bisect_right(self._starts, end)
        if not self._levels:
            return self._members[bisect_left(self._starts, start) : last]
        found: list[int] = []
        groups = [(len(self._levels) - 1, 0)]
        while groups:
            level, at = groups.pop()
            if at << level >= last or self._levels[level][at] < start:
                continue
            if not level:
                found.append(self._members[at])
                continue
            groups.append((level - 1, 2 * at))
            if 2 * at + 1 < len(self._levels[level - 1]):
                groups.append((level - 1, 2 * at + 1))
        return found
