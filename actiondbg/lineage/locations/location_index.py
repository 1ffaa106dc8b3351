"""An index of locations: which overlap a range is looked up, not searched."""

from __future__ import annotations

import posixpath
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from operator import itemgetter

from actiondbg.lineage.locations.location_table import LocationTable, Span
from actiondbg.lineage.locations.source_files import same_file
from actiondbg.lineage.locations.source_range import Location, SourceRange, position

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
