"""The locations of the operations of a text, each distinct one kept once."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import overload

from actiondbg.ir.tokens import ID, STRING
from actiondbg.ir.written_locations import WrittenLocations
from actiondbg.lineage.locations.source_range import (
    UNKNOWN,
    Location,
    NamedRanges,
    SourceRange,
    named_ranges,
    position,
)

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
