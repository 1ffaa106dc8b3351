"""The rows of all threads, and the order in which their actions began."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import numpy as np

from actiondbg.recording.format.arrow import PLACE, Bools, Ints, Values
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.layout import UNFINISHED
from actiondbg.recording.format.structs import Kind


class _Clock:
    """Both clocks were read whenever a chunk was written: the first and the last give the rate."""

    def __init__(self, file: RecordingFile) -> None:
        readings = sorted(chunk.flushed for chunk in file.chunks)
        (first, first_ns), (last, last_ns) = readings[0], readings[-1]
        # Of one reading nothing is known: as if a tick were a nanosecond.
        self._rate = (last_ns - first_ns) / (last - first) if last > first else 1.0

    def nanoseconds(self, ticks: Ints) -> Ints:
        """Translate lengths of time."""
        if self._rate == 1:
            return ticks
        return np.rint(ticks * self._rate).astype(np.int64)


class ActionRows:
    """The actions as they are stored: a place is an index into them, thread by thread.

    Arrays of this class are in that order; ``ordered`` puts one into the order of the ordinals.
    """

    def __init__(self, file: RecordingFile) -> None:
        self.file = file
        self.threads = sorted({chunk.thread for chunk in file.chunks})
        self.items = Items(file, Kind.ACTIONS, self.threads)
        self.count = self.items.count
        self._clock = _Clock(file)

    # --- where a row is ---

    @cached_property
    def numbers(self) -> Ints:
        """The row of each place, in its thread."""
        counts = np.array([section.count for _, section in self.items.sections], np.int64)
        first_rows = np.array([chunk.first_row for chunk, _ in self.items.sections], np.int64)
        offsets = first_rows - (np.cumsum(counts) - counts)
        return np.arange(self.count) + self.items.repeat(offsets)

    @cached_property
    def lost(self) -> int:
        """How many rows are missing in the middle of their thread."""
        ends = {c.thread: c.first_row + section.count for c, section in self.items.sections}
        return sum(ends.values()) - self.count

    def places(self, items: Items, rows: Ints) -> Ints:
        """Return the place of each row that some items name, -1 where it is not there.

        Args:
            items: of another kind.
            rows: of the thread of each item.
        """
        places = self.next_places(items, rows)
        if self.lost:
            return np.where(np.append(self.numbers, -1)[places] == rows, places, -1)
        return np.where(rows < 0, -1, places)

    def next_places(self, items: Items, rows: Ints) -> Ints:
        """Return the place of each row, or of the next in its thread if it is not there; or -1."""
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
        """When each began, in ticks after the earliest of all."""
        bases = [chunk.base for chunk, _ in self.items.sections]
        lowest = min(bases, default=0)
        ticks = self.items.field("start").astype(np.int64) * self.file.unit
        ticks += self.items.repeat([base - lowest for base in bases])
        return ticks - ticks.min() if len(ticks) else ticks

    @cached_property
    def duration_ticks(self) -> Ints:
        """How long each took, in ticks; 0 for one that is unfinished."""
        durations = self.items.field("duration").astype(np.int64)
        if len(self._patched):
            durations[self._patched] = self._patches.field("duration")[self._patch_known]
        return durations * self.file.unit

    def nanoseconds(self, ticks: Ints) -> Ints:
        """Translate lengths of time."""
        return self._clock.nanoseconds(ticks)

    # --- outcomes, with their patches ---

    @cached_property
    def outcomes(self) -> Ints:
        """The code of the outcome of each."""
        return self._patch("outcome")

    @cached_property
    def flags(self) -> Ints:
        """The flags of each."""
        return self._patch("flags")

    @cached_property
    def unfinished(self) -> Bools:
        """Whether each is unfinished."""
        return self.outcomes == UNFINISHED

    @cached_property
    def _patches(self) -> Items:
        return Items(self.file, Kind.PATCHES, self.threads)

    @cached_property
    def _patch_places(self) -> Ints:
        return self.places(self._patches, self._patches.field("row"))

    @cached_property
    def _patch_known(self) -> Bools:
        return self._patch_places >= 0

    @cached_property
    def _patched(self) -> Ints:
        return self._patch_places[self._patch_known]

    def _patch(self, name: str) -> Ints:
        values = self.items.field(name)
        values[self._patched] = self._patches.field(name)[self._patch_known]
        return values

    # --- the order ---

    @cached_property
    def order(self) -> Ints | None:
        """The places in the order of the ordinals; None if they are in that order."""
        if len(self._busy) <= 1:
            return None
        # Those of one thread that began within one tick stay in their order.
        return np.argsort(self.ticks, kind="stable").astype(PLACE)

    def ranks_of(self, places: Ints) -> Ints:
        """Return the index of some places in the order of the ordinals, from 0."""
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
        """The ordinals of all actions, in order.

        They count from 1. Of one thread they are what the debugger shows as well; where rows of it
        are lost, so are their ordinals.
        """
        if len(self._busy) <= 1:
            return self.numbers + 1 if self.lost else np.arange(1, self.count + 1)
        return np.arange(1, self.count + 1)

    @property
    def _busy(self) -> list[slice]:
        return [part for part in self.items.slices if part.stop > part.start]

    def ordered(self, values: Values) -> Values:
        """Return an array of one value for each place in the order of the ordinals."""
        return values if self.order is None else cast(Values, values[self.order])

    def ordinals_of(self, places: Ints) -> Ints:
        """Return the ordinal of each place; 0 for -1."""
        if self.order is None and not self.lost:
            return places + 1
        ordinals = np.append(self.ordinals[self.ranks_of(np.arange(self.count))], 0)
        return ordinals[places]

    def ordinal_of_row(self, thread: int, row: int) -> int | None:
        """Return the ordinal of a row of a thread, None if it is not there."""
        part = self.items.slices[self.threads.index(thread)]
        at = int(np.searchsorted(self.numbers[part], row)) + part.start
        if at == part.stop or int(self.numbers[at]) != row:
            return None
        return int(self.ordinals_of(np.array([at]))[0])
