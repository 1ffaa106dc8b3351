"""The columns of a recording's tables as numpy arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from actiondbg.errors import UsageError
from actiondbg.protocol.tags import ITERATION_TAG
from actiondbg.recording.format.arrow import Bools, Ints, WordColumn, pa, word_column
from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.session.event_line import (
    EventLine,
    OrdinalMap,
    depths_of,
    is_line,
    order_of,
)
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

    def nulls(self, name: str) -> Bools:
        """Return where a column is null."""
        return self.in_order(self._read(name).is_null().to_numpy(zero_copy_only=False))

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
        """The number of changes of each action, without the changes of nested actions."""
        none = np.zeros(self.count, dtype=np.int64)
        return sum((self.numbers(kind) for kind in CHANGE_KINDS), none)

    @cached_property
    def change_counts(self) -> Ints:
        """The number of changes while each action ran, also of nested actions."""
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
