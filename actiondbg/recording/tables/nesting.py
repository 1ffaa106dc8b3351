"""The nesting of actions, within a thread and across threads."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from actiondbg.recording.format.arrow import PLACE, Ints
from actiondbg.recording.tables.rows import ActionRows


class Nesting:
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
