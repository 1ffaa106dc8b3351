"""The stored rows of all threads, and the order in which their actions began."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import numpy as np

from actiondbg.recording.format.arrow import PLACE, Bools, Ints, Values
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.layout import UNFINISHED
from actiondbg.recording.format.structs import Kind


def clock_rate(first: tuple[int, int], last: tuple[int, int]) -> float:
    """Return the nanoseconds per tick between two readings of both clocks: ticks and ns."""
    ticks = last[0] - first[0]
    # One reading gives no rate: take a tick for a nanosecond.
    return (last[1] - first[1]) / ticks if ticks > 0 else 1.0


class ActionRows:
    """The actions as stored, thread by thread; a place is an index into them.

    Arrays of this class are in that order; ``ordered`` reorders one to the order of the ordinals.
    """

    def __init__(self, file: RecordingFile) -> None:
        self.file = file
        self.threads = sorted({chunk.thread for chunk in file.chunks})
        self.items = Items(file, Kind.ACTIONS, self.threads)
        self.count = self.items.count

    # --- places of rows ---

    @cached_property
    def numbers(self) -> Ints:
        """The row number of each place within its thread."""
        counts = np.array([section.count for _, section in self.items.sections], np.int64)
        first_rows = np.array([chunk.first_row for chunk, _ in self.items.sections], np.int64)
        offsets = first_rows - (np.cumsum(counts) - counts)
        return np.arange(self.count) + self.items.repeat(offsets)

    @cached_property
    def lost(self) -> int:
        """The number of rows missing in the middle of threads."""
        ends = {c.thread: c.first_row + section.count for c, section in self.items.sections}
        return sum(ends.values()) - self.count

    def places(self, items: Items, rows: Ints) -> Ints:
        """Return the place of each row of its thread that items refer to, -1 for a missing row."""
        places = self.next_places(items, rows)
        if self.lost:
            return np.where(np.append(self.numbers, -1)[places] == rows, places, -1)
        return np.where(rows < 0, -1, places)

    def next_places(self, items: Items, rows: Ints) -> Ints:
        """Return the place of each row, or of the next one present in its thread; or -1."""
        result = np.full(len(rows), -1, PLACE)
        for own, part in zip(self.items.slices, items.slices, strict=True):
            if own.stop > own.start:
                wanted = rows[part].astype(PLACE)
                at = np.searchsorted(self.numbers[own], wanted) if self.lost else wanted
                result[part] = np.where(at < own.stop - own.start, at + own.start, -1)
        return result

    # --- times ---

    @cached_property
    def ticks(self) -> Ints:
        """The start of each, in ticks after the earliest."""
        bases = [chunk.base for chunk, _ in self.items.sections]
        lowest = min(bases, default=0)
        ticks = self.items.field("start").astype(np.int64) * self.file.unit
        ticks += self.items.repeat([base - lowest for base in bases])
        return ticks - ticks.min() if len(ticks) else ticks

    @cached_property
    def duration_ticks(self) -> Ints:
        """The duration of each in ticks; 0 for an unfinished action, unless the tool left it."""
        durations = self.items.field("duration").astype(np.int64)
        return self._patched("duration", durations) * self.file.unit

    def nanoseconds(self, ticks: Ints) -> Ints:
        """Convert durations."""
        return ticks if self._rate == 1 else np.rint(ticks * self._rate).astype(np.int64)

    @cached_property
    def _rate(self) -> float:
        """Nanoseconds per tick, by the first and the last chunk, which hold both clocks."""
        readings = sorted(chunk.flushed for chunk in self.file.chunks)
        return clock_rate(readings[0], readings[-1])

    # --- outcomes, with patches applied ---

    @cached_property
    def outcomes(self) -> Ints:
        """The outcome code of each."""
        return self._patched("outcome", self.items.field("outcome"))

    @cached_property
    def flags(self) -> Ints:
        """The flags of each."""
        return self._patched("flags", self.items.field("flags"))

    @cached_property
    def unfinished(self) -> Bools:
        """Whether each is unfinished."""
        return self.outcomes == UNFINISHED

    @cached_property
    def _patches(self) -> tuple[Items, Ints]:
        """The patches, and the place of the action of each, -1 for a missing action."""
        patches = Items(self.file, Kind.PATCHES, self.threads)
        return patches, self.places(patches, patches.field("row"))

    def _patched(self, name: str, values: Ints) -> Ints:
        """Replace the values of a field by the values of the patches, in place."""
        patches, places = self._patches
        known = places >= 0
        values[places[known]] = patches.field(name)[known]
        return values

    # --- the order ---

    @cached_property
    def order(self) -> Ints | None:
        """The places in the order of the ordinals; None if they are in that order."""
        if len(self._busy) <= 1:
            return None
        # Actions of one thread that began within one tick keep their order.
        return np.argsort(self.ticks, kind="stable").astype(PLACE)

    def ranks_of(self, places: Ints) -> Ints:
        """Return the ranks of places: their index in the order of the ordinals, from 0."""
        return places if self._ranks is None else self._ranks[places]

    @cached_property
    def _ranks(self) -> Ints | None:
        if self.order is None:
            return None
        ranks = np.empty(self.count, PLACE)
        ranks[self.order] = np.arange(self.count, dtype=PLACE)
        return ranks

    @cached_property
    def ordinals(self) -> Ints:
        """The ordinals of all actions, in order, from 1.

        With one thread they equal the ordinals of a live session; lost rows leave gaps.
        """
        if len(self._busy) <= 1:
            return self.numbers + 1 if self.lost else np.arange(1, self.count + 1)
        return np.arange(1, self.count + 1)

    @property
    def _busy(self) -> list[slice]:
        return [part for part in self.items.slices if part.stop > part.start]

    def ordered(self, values: Values) -> Values:
        """Reorder one value per place to the order of the ordinals."""
        return values if self.order is None else cast(Values, values[self.order])

    def ordinals_of(self, places: Ints) -> Ints:
        """Return the ordinal of each place; 0 for -1."""
        if self.order is None and not self.lost:
            return places + 1
        ordinals = np.append(self.ordinals[self.ranks_of(np.arange(self.count))], 0)
        return ordinals[places]

    def ordinal_of_row(self, thread: int, row: int) -> int | None:
        """Return the ordinal of a row of a thread, None for a missing row."""
        part = self.items.slices[self.threads.index(thread)]
        at = int(np.searchsorted(self.numbers[part], row)) + part.start
        if at == part.stop or int(self.numbers[at]) != row:
            return None
        return int(self.ordinals_of(np.array([at]))[0])
