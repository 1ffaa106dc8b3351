"""The line of events of a recording, and the places of its actions.

Every action has two events, its beginning and its end, numbered from 1. The events of nested
actions lie between those of their parent. For one thread this is the order in time, and the order
of the ordinals. Where threads ran at once, the actions nested in one action are together, in the
order of their ordinals: ``next`` and ``finish`` stay inside one action, and the line does not
depend on how the threads interleaved.

The place of an action is its index in the order of the beginnings, from 0. Arrays of actions have
one item for each place.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from actiondbg.recording.format.arrow import Bools, Ints

Side = Literal["before", "after"]


class ActionSide(NamedTuple):
    """One side of the action at a place, from 0."""

    place: int
    when: Side


class EventLine:
    """The begins and ends of actions, computed with numpy; no loop over actions.

    ``depths`` are the numbers of actions around each; those at the sorted places ``unfinished``
    have no end.
    """

    def __init__(self, depths: Ints, unfinished: Ints) -> None:
        self.count = len(depths)
        # Stable sorting of 16 bits is a radix sort.
        self.depths = depths.astype(np.uint16)
        # When an action begins, all before it have begun, and all but its parents have ended.
        self.begins = (2 * np.arange(self.count, dtype=np.int64) + 1) - depths
        self._unfinished = unfinished

    # --- where an event is ---

    def at(self, event: int) -> ActionSide:
        """Return the side of an action that an event is, from 1 to twice the number of actions."""
        begun = self.begun(event)
        if self.begins[begun - 1] == event:
            return ActionSide(begun - 1, "before")
        return ActionSide(int(self._ended[event - begun - 1]), "after")

    def event(self, place: int, when: Side) -> int:
        """Return the event at which an action begins or ends."""
        return int(self.begins[place] if when == "before" else self.ends[place])

    def begun(self, event: int) -> int:
        """Return how many actions have begun by an event."""
        return int(np.searchsorted(self.begins, event, side="right"))

    @cached_property
    def ends(self) -> Ints:
        """The event at which each action ends, or would end if it is unfinished."""
        ends = np.empty(self.count, dtype=np.int32)
        # Actions of one depth do not overlap: they end in the order of their beginnings.
        ends[self._by_depth] = self._end_events[self._ends_by_depth]
        return ends

    @cached_property
    def _ended(self) -> Ints:
        """The action of each end, in the order of the ends."""
        ended = np.empty(self.count, dtype=np.int32)
        ended[self._ends_by_depth] = self._by_depth
        return ended

    @cached_property
    def _end_events(self) -> Ints:
        is_end = np.ones(2 * self.count + 1, dtype=np.bool_)
        is_end[0] = False
        is_end[self.begins] = False
        return np.flatnonzero(is_end).astype(np.int32)

    @cached_property
    def _by_depth(self) -> Ints:
        return np.argsort(self.depths, kind="stable").astype(np.int32)

    @cached_property
    def _ends_by_depth(self) -> Ints:
        # The depth of an end: the actions that have begun and not ended.
        depths = self._end_events - 2 * np.arange(1, self.count + 1)
        return np.argsort(depths.astype(np.uint16), kind="stable").astype(np.int32)

    @cached_property
    def _levels(self) -> Ints:
        """The index at which each depth begins in the actions sorted by depth."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.depths))))

    # --- events that controls go to ---

    def after_next(self, event: int, count: int) -> int:
        """Return the event that ``next`` reaches from an event, ``count`` times."""
        place, when = self.at(event)
        for _ in range(count):
            if when == "before" and self.is_over(place, self.last):
                when = "after"
            elif when == "after" and self.last_inside(place) + 1 < self.count:
                place, when = self.last_inside(place) + 1, "before"
            else:
                return self.last + 1
        return self.event(place, when)

    def before_next(self, event: int) -> int:
        """Return the event that ``reverse-next`` reaches from an event; 0 for none."""
        if event <= 1 or event > self.last:
            return event - 1
        place, when = self.at(event)
        return event - 1 if when == "before" else int(self.begins[place])

    def end_around(self, event: int, levels: int) -> int:
        """Return the end of the action some levels above that of an event.

        Args:
            event: of an action that has a parent.
            levels: from 1; more than there are: of the outermost action.
        """
        place = self.at(event).place
        return int(self.ends[self.around(place, max(self.depth(place) - levels, 0))])

    # --- nesting ---

    def depth(self, place: int) -> int:
        """Return the number of actions around one."""
        return int(self.depths[place])

    def around(self, place: int, depth: int) -> int:
        """Return the parent of an action at some depth, or the action itself."""
        level = self._by_depth[self._levels[depth] : self._levels[depth + 1]]
        return int(level[np.searchsorted(level, place, side="right") - 1])

    def stack(self, place: int) -> list[int]:
        """Return an action and those around it, the innermost first."""
        return [self.around(place, depth) for depth in range(self.depth(place), -1, -1)]

    def last_inside(self, place: int) -> int:
        """Return the last action nested in an action; the action itself if there is none."""
        return int(self.behind[place]) - 1

    @cached_property
    def behind(self) -> Ints:
        """The place behind the last action nested in each action."""
        return (self.ends + self.depths) // 2

    # --- the end of the line ---

    @cached_property
    def _missing(self) -> frozenset[int]:
        """The events that did not come: the ends of unfinished actions."""
        return frozenset(self.ends[self._unfinished].tolist())

    def onwards(self, event: int) -> int | None:
        """Return the first event that occurred from an event on; None after the last."""
        while event in self._missing:
            event += 1
        return event if event <= 2 * self.count else None

    def backwards(self, event: int) -> int:
        """Return the last event that occurred up to an event; 0 for none."""
        while event in self._missing:
            event -= 1
        return event

    @cached_property
    def last(self) -> int:
        """The last event; 0 without an action."""
        return self.backwards(2 * self.count)

    def is_over(self, place: int, event: int) -> bool:
        """Return whether an action ended at or before an event."""
        end = int(self.ends[place])
        return end <= event and end not in self._missing

    def over(self, event: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the actions that have ended by an event."""
        over = self.ends <= event
        over[self._unfinished] = False
        return over


def is_line(depths: Ints) -> bool:
    """Return whether depths are those of one thread: each action begins inside its parent."""
    steps = np.diff(depths.astype(np.int64), prepend=-1)
    return not len(depths) or bool(steps.max() <= 1)


def depths_of(parents: Ints) -> Ints:
    """Return the number of actions around each; see ``order_of``."""
    depths = np.zeros(len(parents), dtype=np.int64)
    around = parents
    while (inside := around >= 0).any():
        depths += inside
        around = np.where(inside, parents[around], -1)
    return depths


def order_of(parents: Ints, depths: Ints) -> Ints:
    """Return the places of the actions of several threads.

    Args:
        parents: the index of the parent of each action, in the order of the ordinals; -1 for none.
        depths: the number of actions around each.
    """
    sizes = np.ones(len(parents), dtype=np.int64)
    by_depth = np.argsort(depths.astype(np.uint16), kind="stable")
    levels = np.split(by_depth, np.cumsum(np.bincount(depths))[:-1])
    for level in levels[:0:-1]:  # the deepest first
        np.add.at(sizes, parents[level], sizes[level])
    places = np.empty(len(parents), dtype=np.int64)
    for level in levels:
        _put_in_order(places, sizes, parents, level)
    return places


def _put_in_order(places: Ints, sizes: Ints, parents: Ints, level: Ints) -> None:
    """Compute the places of the actions of one depth, from the places of their parents."""
    level = level[np.argsort(parents[level], kind="stable")]
    around = parents[level]
    begins = np.cumsum(sizes[level]) - sizes[level]
    is_first = np.concatenate(([True], around[1:] != around[:-1]))
    first = begins[is_first][np.cumsum(is_first) - 1]
    outer = np.where(around < 0, -1, places[around])
    places[level] = outer + 1 + begins - first


class OrdinalMap:
    """Translates between ordinals, rows of the table, and places on the line.

    Args:
        ordinals: of each row, from 1, rising; some may be missing.
        places: of each row; None where they equal the rows.
    """

    def __init__(self, ordinals: Ints, places: Ints | None) -> None:
        self._ordinals = ordinals
        self._is_whole = not len(ordinals) or int(ordinals[-1]) == len(ordinals)
        self._places = places
        self._rows = None if places is None else np.argsort(places)

    @property
    def last(self) -> int:
        """The last ordinal; 0 if there is none."""
        return int(self._ordinals[-1]) if len(self._ordinals) else 0

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Reorder one value for each row into the order of the places."""
        return values if self._rows is None else values[self._rows]

    def ordinals(self, places: Ints) -> Ints:
        """Return the ordinals of the actions at some places."""
        rows = places if self._rows is None else self._rows[places]
        return rows + 1 if self._is_whole else self._ordinals[rows]

    def places(self, ordinals: Ints) -> Ints:
        """Return the places of recorded actions."""
        rows = ordinals - 1 if self._is_whole else np.searchsorted(self._ordinals, ordinals)
        return rows if self._places is None else self._places[rows]

    def marked(self, ordinals: Ints) -> Bools:
        """Return a mask of the places of ordinals."""
        marks = np.zeros(len(self._ordinals), dtype=np.bool_)
        marks[self.places(ordinals)] = True
        return marks

    def holds(self, ordinal: int) -> bool:
        """Return whether an action is recorded."""
        at = int(np.searchsorted(self._ordinals, ordinal))
        return at < len(self._ordinals) and int(self._ordinals[at]) == ordinal
