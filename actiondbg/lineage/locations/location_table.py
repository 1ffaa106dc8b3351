"""The locations of the operations of a text, each distinct one kept once."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from actiondbg.lineage.locations.location import UNKNOWN, Location
from actiondbg.lineage.locations.source_range import NamedRanges, SourceRange, named_ranges

_ALIAS = re.compile(r'"(?:[^"\\]|\\.)*+"|(#[\w$.-]+)')
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


class LocationTable(Sequence[Location]):
    """The locations of operations, as a text writes them.

    Args:
        keys: of each operation, the number of its text; 0 if the text has none.
        texts: the distinct texts; aliases stand as they are. The first is not used.
        aliases: their texts, by name with the ``#``.
        own_lines: the locations of operations without a text; None: they are unknown.
    """

    def __init__(
        self,
        keys: Sequence[int],
        texts: Sequence[str],
        aliases: Mapping[str, str],
        own_lines: OwnLines | None = None,
    ) -> None:
        self._keys, self._texts = keys, texts
        self._aliases = aliases
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
            found = self._ranges[key] = self._all_ranges(named_ranges(self._texts[key]))
        return found

    def each_ranges(self) -> Iterator[frozenset[SourceRange] | tuple[SourceRange, ...]]:
        """Iterate over the source ranges of each operation."""
        known = self._ranges.get
        for index, key in enumerate(self._keys):
            if not key:
                yield self._own(index)
            else:
                yield known(key) or self.ranges_at(index)

    def _own(self, index: int) -> tuple[SourceRange, ...]:
        if self._own_lines is None:
            return ()
        line, column = self._own_lines.position(index)
        return (SourceRange(self._own_lines.file, line, column, line, column),)

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
        return match[0] if alias is None else self._aliases.get(alias, alias)
