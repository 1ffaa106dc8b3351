"""The stored rows of all threads, the order in which their actions began, and their nesting."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from actiondbg.recording.format.arrow import PLACE, Bools, Ints, Values
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.items import Items
from actiondbg.recording.format.layout import UNFINISHED
from actiondbg.recording.format.structs import SectionKind


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
        self.items = Items(file, SectionKind.ACTIONS, self.threads)
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
        patches = Items(self.file, SectionKind.PATCHES, self.threads)
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


class ActionNesting:
    """Parents, depths and self times; all arrays are in the order of the stored rows."""

    def __init__(self, rows: ActionRows) -> None:
        self._rows = rows
        self._parts = [part for part in rows.items.slices if part.stop > part.start]

    @cached_property
    def parents(self) -> Ints:
        """The place of each action's parent, -1 for none.

        The parent of a thread's outermost action is the innermost action then open in the thread
        that made the context, or else in another thread: that one dispatched the work.
        """
        if len(self._parts) <= 1:
            return self._own_parents
        parents = self._own_parents.copy()
        for index, part in enumerate(self._parts):
            if self._threads[index]:
                outermost = np.flatnonzero(self._own_depths[part] == 0) + part.start
                parents[outermost] = self._hosts(index, outermost)
        return parents

    @cached_property
    def depths(self) -> Ints:
        """The number of actions around each action, including actions of other threads."""
        if len(self._parts) <= 1:
            return self._own_depths
        outermost = self._outermost
        around = self.parents[outermost]
        depths = self._own_depths.astype(np.int64)
        for _ in self._parts:  # a parent in another thread may itself have one in a third
            depths = self._own_depths + np.where(around < 0, 0, depths[around] + 1)
        return depths

    @cached_property
    def own_ticks(self) -> Ints:
        """The self time of each, without nested actions, in ticks."""
        durations, parents = self._rows.duration_ticks, self._own_parents
        begins = firsts(parents)
        of_parents = np.add.reduceat(durations, begins) if len(begins) else durations
        # Index 0 is for actions without a parent.
        nested = np.bincount(parents[begins] + 1, of_parents, self._rows.count + 1)[1:]
        if len(self._parts) > 1:
            nested += self._covered(np.flatnonzero(self._own_parents != self.parents))
        return np.maximum(durations - nested.astype(np.int64), 0)

    def innermost(self, chosen: Bools) -> Ints:
        """Return the place of the innermost chosen action that each is or is in, -1 for none."""
        found = np.arange(self._rows.count, dtype=PLACE)
        left = np.flatnonzero(~chosen)
        while len(left):
            found[left] = self.parents[found[left]]
            left = left[found[left] >= 0]
            left = left[~chosen[found[left]]]
        return found

    # --- within a thread ---

    @cached_property
    def _own_depths(self) -> Ints:
        return self._rows.items.field("depth")

    @cached_property
    def _own_parents(self) -> Ints:
        parents = np.full(self._rows.count, -1, PLACE)
        for part in self._parts:
            own = _parents_of(self._own_depths[part])
            parents[part] = np.where(own >= 0, own + part.start, -1)
        return self._without_ended(parents) if self._rows.lost else parents

    def _without_ended(self, parents: Ints) -> Ints:
        """Drop parents that had ended: where rows are lost, the right parent may be lost too."""
        late = self._rows.ticks > self._ends[parents] + 2 * self._rows.file.unit
        return np.where(late, -1, parents)

    @cached_property
    def _ends(self) -> Ints:
        ends = self._rows.ticks + self._rows.duration_ticks
        running = self._rows.unfinished & (self._rows.duration_ticks == 0)
        ends[running] = np.iinfo(np.int64).max // 2
        return ends

    # --- across threads ---

    @cached_property
    def _threads(self) -> list[int]:
        slices = zip(self._rows.threads, self._rows.items.slices, strict=True)
        return [thread for thread, part in slices if part.stop > part.start]

    @cached_property
    def _outermost(self) -> Ints:
        """The place of the outermost action around each, within its thread."""
        places = np.where(self._own_parents < 0, np.arange(self._rows.count), 0)
        return np.maximum.accumulate(places)

    def _hosts(self, index: int, outermost: Ints) -> Ints:
        hosts = np.full(len(outermost), -1, PLACE)
        for other, part in enumerate(self._parts):
            if other == index:
                continue
            missing = np.flatnonzero(hosts < 0)
            # Of two actions that began in one tick, the lower thread's has the lower ordinal.
            side = "right" if other < index else "left"
            hosts[missing] = self._open_in(part, self._rows.ticks[outermost[missing]], side)
        return hosts

    def _open_in(self, part: slice, ticks: Ints, side: str) -> Ints:
        """Return the place of a thread's innermost open action at each of some times."""
        begun = self._rows.ticks[part]
        at = np.searchsorted(begun, ticks, side="left" if side == "left" else "right")
        places = np.where(at > 0, at - 1 + part.start, -1)
        while True:
            over = (places >= 0) & (self._ends[places] < ticks)
            if not over.any():
                return places
            places[over] = self._own_parents[places[over]]

    def _covered(self, guests: Ints) -> Ints:
        """Return the ticks during which actions of other threads ran within each action."""
        rows, hosts = self._rows, self.parents[guests]
        order = np.lexsort((rows.ticks[guests], hosts))
        guests, hosts = guests[order], hosts[order]
        length, begun = rows.duration_ticks[hosts], rows.ticks[hosts]
        starts = np.clip(rows.ticks[guests] - begun, 0, length)
        ends = np.clip(rows.ticks[guests] + rows.duration_ticks[guests] - begun, 0, length)
        # Lay the hosts end to end on one axis, so that one pass covers all.
        first = np.r_[True, hosts[1:] != hosts[:-1]][: len(hosts)]
        before = np.cumsum(np.where(first, length, 0)) - length
        reached = np.maximum.accumulate(ends + before)
        reached_before = np.r_[0, reached[:-1]][: len(hosts)]
        covered = np.maximum(ends + before - np.maximum(starts + before, reached_before), 0)
        return np.bincount(hosts, covered, rows.count)


def _parents_of(depths: Ints) -> Ints:
    """Return each row's parent: the last row before it with a lower depth."""
    # Consecutive rows of one depth share their parent.
    begins = firsts(depths)
    ends = np.append(begins[1:], len(depths))
    above = _runs_above(depths[begins])
    parents = np.where(above >= 0, ends[above] - 1, -1).astype(PLACE)
    return np.repeat(parents, ends - begins)


def _runs_above(depths: Ints) -> Ints:
    """Return for each run of rows the last run before it with a lower depth, -1 for none."""
    found = np.full(len(depths), -1, PLACE)
    by_depth = np.argsort(depths, kind="stable").astype(PLACE)
    ends = np.cumsum(np.bincount(depths)).tolist()
    above = by_depth[: ends[0]] if ends else by_depth
    for start, end in pairwise(ends):
        runs = by_depth[start:end]
        at = np.searchsorted(above, runs) - 1
        if len(above):
            found[runs] = np.where(at >= 0, above[at], -1)
        above = runs
    return found


def firsts(values: Ints) -> Ints:
    """Return the index of the first of each run of equal values."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def ends_of_nested(depth: Ints) -> NDArray[np.int64]:
    """Return for each row, in the order of begin, the position after the last row nested in it."""
    ends = np.full(len(depth), len(depth), np.int64)
    rows = np.arange(len(depth))
    # Among rows at most as deep as a level, the next row ends each row of that level.
    for level in range(int(depth.max(initial=0)), -1, -1):
        rows = rows[depth[rows] <= level]
        at_level = depth[rows[:-1]] == level
        ends[rows[:-1][at_level]] = rows[1:][at_level]
    return ends
