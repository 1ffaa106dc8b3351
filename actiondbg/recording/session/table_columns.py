"""The columns of a recording's tables as numpy arrays, and the line of events.

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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from actiondbg.errors import UsageError
from actiondbg.protocol.tags import ITERATION_TAG
from actiondbg.recording.format.arrow import Bools, Ints, WordColumn, pa, word_column
from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.tables.snapshots import IRText
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class TableColumns:
    """The columns of one table of a recording."""

    def __init__(self, recording: Recording, table: str) -> None:
        self.recording = recording
        self._table = table
        self._numbers: dict[str, npt.NDArray[Any]] = {}
        self._words: dict[str, WordColumn] = {}

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers or booleans; 0 for null."""
        if name not in self._numbers:
            column = self._read(name)
            filled = column.fill_null(0) if column.null_count else column
            self._numbers[name] = self.in_order(filled.to_numpy(zero_copy_only=False))
        return self._numbers[name]

    def words(self, name: str) -> WordColumn:
        """Return a column of text."""
        if name not in self._words:
            column = word_column(self._read(name))
            self._words[name] = column._replace(codes=self.in_order(column.codes))
        return self._words[name]

    def _read(self, name: str) -> Any:
        return self.recording.arrays(self._table, name)[0]

    def rows_of(self, id: int) -> Ints:
        """Return the rows about an operation, in their order."""
        first, last = np.searchsorted(self._ids, [id, id + 1])
        return self._by_id[first:last]

    @cached_property
    def _by_id(self) -> Ints:
        return np.argsort(self.numbers("operation"), kind="stable")

    @cached_property
    def _ids(self) -> Ints:
        return self.numbers("operation")[self._by_id]

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Reorder one value for each row of the table into the order of these columns."""
        return values


class ActionColumns(TableColumns):
    """The recorded actions, in the order of the line of events."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording, "actions")
        self.count: int = recording.count

    @cached_property
    def line(self) -> EventLine:
        """The line of their events."""
        outcomes = self.words("outcome")
        unfinished = np.flatnonzero(outcomes.codes == outcomes.code("unfinished"))
        return EventLine(self.in_order(self._nested[0]), unfinished)

    @cached_property
    def numbering(self) -> OrdinalMap:
        """Their ordinals."""
        return OrdinalMap(self._column("ordinal"), self._nested[1])

    @cached_property
    def _nested(self) -> tuple[Ints, Ints | None]:
        """The depth of each row, and its place; None where the rows are in order."""
        depths, threads = self._column("depth"), self._column("thread")
        if is_line(depths) and (not self.count or threads.min() == threads.max()):
            return depths, None
        ordinals, around = self._column("ordinal"), self._column("parent")
        parents = np.where(around > 0, np.searchsorted(ordinals, around), -1)
        depths = depths_of(parents)
        return depths, order_of(parents, depths)

    def _column(self, name: str) -> Ints:
        """Return a column in the order of the table."""
        return self._read(name).fill_null(0).to_numpy(zero_copy_only=False)

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self.numbering.in_order(values)

    def stack(self, event: int) -> list[int]:
        """Return the places of the actions at an event, the innermost first."""
        return self.line.stack(self.line.at(event).place)

    def ordinal(self, place: int) -> int:
        """Return the ordinal, from 1, of the action at a place."""
        return int(self.numbering.ordinals(np.array([place]))[0])

    def place(self, ordinal: int) -> int:
        """Return the place of a recorded action."""
        return int(self.numbering.places(np.array([ordinal]))[0])

    def end_events(self, places: Ints) -> Ints:
        """Return the events at which some actions ended, sorted; unfinished ones are left out."""
        line = self.line
        return np.sort(line.ends[places[line.over(line.last)[places]]])

    def check_recorded(self, ordinal: int) -> None:
        """Raise UsageError if no action with an ordinal is recorded."""
        last = self.numbering.last
        if ordinal > last:
            crashed = self.recording.ending.ordinal
            how = f"ends after {counted(last, 'action')}"
            how = how if crashed is None else f"crashes in #{crashed}"
            raise UsageError(f"The tool {how}: there is no #{ordinal}.")
        if not self.numbering.holds(ordinal):
            raise UsageError(f"The recording has lost #{ordinal}: go to another action.")

    # --- what they did ---

    def operation(self, place: int) -> int:
        """Return the id of the operation of an action; 0 for none."""
        return int(self.numbers("operation")[place])

    @cached_property
    def is_deferred(self) -> Bools:
        """Which actions are folds whose replacement their caller makes after them."""
        how = self.words("fold")
        return (how.codes >= 0) & (how.codes != how.code("in-place"))

    @cached_property
    def own_changes(self) -> Ints:
        """The number of changes of each action, without those of its nested actions."""
        none = np.zeros(self.count, dtype=np.int64)
        return sum((self.numbers(kind) for kind in CHANGE_KINDS), none)

    @cached_property
    def change_counts(self) -> Ints:
        """The number of changes while each action ran, with those of its nested actions."""
        before = np.concatenate(([0], np.cumsum(self.own_changes)))
        counts = before[self.line.behind] - before[:-1]
        # A deferred replacement is attributed to the fold, but made after it.
        return np.where(self.is_deferred, counts - self.own_changes, counts)

    @cached_property
    def kinds(self) -> tuple[Ints, list[tuple[str, str]]]:
        """The kind of each action, and each kind's tag and name; greedy iterations have no name."""
        tags, names = self.words("tag"), self.words("name")
        width = len(names.values) + 1  # plus one for no name
        is_named = (tags.codes != tags.code(ITERATION_TAG)) & (names.codes >= 0)
        codes = np.where(is_named, names.codes, len(names.values))
        kinds = pa.array(tags.codes.astype(np.int64) * width + codes).dictionary_encode()
        keys: list[int] = kinds.dictionary.to_pylist()
        pairs = (divmod(key, width) for key in keys)
        found = [(tags.values[tag], [*names.values, ""][name]) for tag, name in pairs]
        return kinds.indices.to_numpy().astype(np.int64), found

    def is_tag(self, tag: str) -> Bools:
        """Return a mask of the actions with a tag."""
        tags = self.words("tag")
        return tags.codes == tags.code(tag)


class IRColumns(TableColumns):
    """The recorded IR: in each row the text of an operation before or after an action."""

    def __init__(self, actions: ActionColumns) -> None:
        super().__init__(actions.recording, "ir")
        self._actions = actions

    @cached_property
    def is_before(self) -> Bools:
        """Which texts are those before their actions."""
        when = self.words("when")
        return when.codes == when.code("before")

    @cached_property
    def events(self) -> Ints:
        """The event of each text."""
        places, line = self._actions.numbering.places(self.numbers("ordinal")), self._actions.line
        after = line.ends[places] + self._actions.is_deferred[places]
        return np.where(self.is_before, line.begins[places], after)

    def text(self, row: int) -> IRText:
        """Return the text of a row."""
        id = int(self.numbers("operation")[row])
        for each in self.recording.snapshots(int(self.numbers("ordinal")[row])):
            if each.operation == id:
                return each.texts[0 if self.is_before[row] else 1] or IRText("")
        return IRText("")


def location_of(columns: TableColumns, row: int) -> str | None:
    """Return FILE:LINE:COL of a row; None where it has none."""
    return locations_of(columns, np.array([row]))[0]


def locations_of(columns: TableColumns, rows: Ints) -> list[str | None]:
    """Return FILE:LINE:COL of some rows; see ``location_of``."""
    numbers = (columns.numbers(name)[rows].tolist() for name in ("line", "col"))
    places = zip(columns.words("file").take(rows), *numbers, strict=True)
    return [None if file is None else f"{file}:{line}:{column}" for file, line, column in places]


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
