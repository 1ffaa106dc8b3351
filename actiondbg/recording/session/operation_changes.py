"""The recorded changes of the IR, and the operations, with their state at an event."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from actiondbg import protocol
from actiondbg.protocol.tags import PATTERN_TAG
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.table_columns import ActionColumns, TableColumns, location_of

if TYPE_CHECKING:
    from actiondbg.protocol.types import UnitState


class ChangeColumns(TableColumns):
    """All changes, grouped by thread, in chronological order.

    A recording holds the order of the changes of each action, but not their times. So a change was
    made between two known events: ``since`` and ``reported_at``.
    """

    def __init__(self, actions: ActionColumns) -> None:
        super().__init__(actions.recording, "changes")
        self.actions = actions

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values[self._order]

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self._read("seq").to_numpy(zero_copy_only=False), kind="stable")

    @cached_property
    def places(self) -> Ints:
        """The place of the action that made each change."""
        return self.actions.numbering.places(self.numbers("ordinal"))

    @cached_property
    def since(self) -> Ints:
        """The latest known event before each change."""
        line, late = self.actions.line, self.actions.is_deferred[self.places]
        events = np.where(late, line.ends[self.places], line.begins[self.places])
        for part in self._threads:  # not before the previous change
            events[part] = np.maximum.accumulate(events[part])
        return events

    @cached_property
    def reported_at(self) -> Ints:
        """The first event by which each change was certainly made: breakpoints report it there."""
        # The caller of a fold makes the replacement, right after the fold.
        late = self.actions.is_deferred[self.places]
        events = self.actions.line.ends[self.places] + late
        for part in self._threads:  # not after the next change
            events[part] = np.minimum.accumulate(events[part][::-1])[::-1]
        return events

    @cached_property
    def _threads(self) -> list[slice]:
        """The rows of each thread."""
        threads = self.actions.numbers("thread")[self.places]
        starts = np.flatnonzero(np.diff(threads, prepend=-1)).tolist()
        return [slice(*ends) for ends in pairwise([*starts, len(threads)])]

    def made(self, rows: Ints, event: int) -> Bools:
        """Return a mask of the changes that were certainly made by an event."""
        return self.reported_at[rows] <= event

    def by(self, place: int, event: int, nested: bool = True) -> Ints:
        """Return the changes that an action has made by an event, the oldest first.

        Those of its nested actions are included, if ``nested``.
        """
        rows = self._by_end(place, nested)
        return rows[self.made(rows, event)]

    def undated(self, place: int, event: int, nested: bool = True) -> int:
        """Return how many changes an action may have made by an event, or may make after it."""
        rows = self._by_end(place, nested)
        return int(np.count_nonzero((self.since[rows] <= event) & ~self.made(rows, event)))

    def _by_end(self, place: int, nested: bool) -> Ints:
        last = self.actions.line.last_inside(place) if nested else place
        return np.flatnonzero((self.places >= place) & (self.places <= last))

    def of(self, id: int) -> Ints:
        """Return the changes of an operation, the oldest first."""
        rows = self.rows_of(id)
        return rows[~self.numbers("block")[rows]]

    def life(self, id: int, exact: bool) -> Ints:
        """Return the changes of an operation, and of its replacements, the oldest first.

        ``exact`` leaves the replacements out.
        """
        return self._without_ends(self._chain(id, exact))

    def end_of_life(self, id: int, exact: bool) -> int:
        """Return the event at which the last of these changes, an erasure, is reported; else 0."""
        rows = self._chain(id, exact)[-1:]
        return int(self.reported_at[rows[0]]) if self.is_kind(rows, "erased").any() else 0

    def _chain(self, id: int, exact: bool) -> Ints:
        rows = self.of(id)
        parts = [rows]
        while not exact and len(heirs := np.flatnonzero(self.numbers("by")[rows])):
            first = int(heirs[0])
            parts[-1] = rows[: first + 1]
            heir = self.of(int(self.numbers("by")[rows[first]]))
            rows = heir[heir > rows[first]]
            parts.append(rows)
        return np.concatenate(parts)

    def _without_ends(self, rows: Ints) -> Ints:
        """Leave out the erasure of an operation that was replaced at the same event."""
        if len(rows) < 2:
            return rows
        before = np.roll(rows, 1)
        doubled = self.is_kind(rows, "erased") & self.is_kind(before, "replaced")
        doubled &= self.reported_at[rows] == self.reported_at[before]
        doubled[0] = False
        return rows[~doubled]

    def is_kind(self, rows: Ints, *kinds: str) -> Bools:
        """Return a mask of the changes of some kinds."""
        words = self.words("kind")
        return np.isin(words.codes[rows], [words.code(kind) for kind in kinds])

    def counts(self, rows: Ints) -> dict[str, int]:
        """Count changes by kind; kinds without a change are left out."""
        words = self.words("kind")
        counted = np.bincount(words.codes[rows], minlength=len(words.values)).tolist()
        found = sorted(zip(words.values, counted, strict=True))
        return {kind: count for kind, count in found if count}


_VERBS = {"inserted": "created"}  # in the message of a watch


class OperationState(NamedTuple):
    """The state of an operation after a change; the id may be that of its replacement."""

    id: int
    state: UnitState


class OperationChanges(NamedTuple):
    """The ids of operations that actions have made and erased by an event.

    ``begun`` is the number of actions that had begun before.
    """

    begun: int
    inserted: frozenset[int]
    erased: frozenset[int]


class OperationColumns(TableColumns):
    """The operations of a recording."""

    def __init__(self, changes: ChangeColumns) -> None:
        super().__init__(changes.recording, "operations")
        self.actions = changes.actions
        self.changes = changes

    def row(self, id: int) -> int | None:
        """Return the row of an operation; None for an unknown id."""
        rows = self.rows_of(id)
        return int(rows[0]) if len(rows) else None

    def name(self, id: int) -> str | None:
        """Return the name of an operation."""
        return self._word(id, "op")

    def function(self, id: int) -> str | None:
        """Return the symbol of the function around an operation, or of the function itself."""
        return self._word(id, "function")

    def _word(self, id: int, column: str) -> str | None:
        row = self.row(id)
        return None if row is None else self.words(column).of(row)

    def location(self, id: int) -> str | None:
        """Return the location of an operation, as MLIR prints it."""
        row = self.row(id)
        text = None if row is None else self._read("location")[row].as_py()
        if row is None or text is None or text != location_of(self, row):
            return text
        file, line, column = text.rsplit(":", 2)
        return f'loc("{file}":{line}:{column})'

    def is_alive(self, id: int, event: int) -> bool:
        """Return whether an operation exists at an event."""
        rows = self.changes.of(id)
        made = self.changes.made(rows, event)
        inserted = self.changes.is_kind(rows, "inserted")
        erased = self.changes.is_kind(rows, "erased")
        is_to_come = inserted.any() and not (inserted & made).any()
        return self.row(id) is not None and not is_to_come and not (erased & made).any()

    def may_be_erased(self, id: int, event: int) -> bool:
        """Return whether an operation that ``is_alive`` may have been erased before an event.

        Of the actions around nested ones, only the beginning and the end are known.
        """
        rows = self.changes.of(id)
        rows = rows[self.changes.is_kind(rows, "erased")]
        since, reported = self.changes.since[rows], self.changes.reported_at[rows]
        return bool(((since < event) & (event < reported)).any())

    def changed_by(self, event: int) -> OperationChanges:
        """Return the operations that were made and erased by an event."""
        changes = self.changes
        rows = np.flatnonzero(~changes.numbers("block").astype(np.bool_))
        rows = rows[changes.made(rows, event)]
        # Of the changes of a conversion that was rolled back, nothing is left.
        undone = self.actions.numbers("rolled_back").astype(np.bool_)[changes.places[rows]]
        over = self.actions.line.ends[changes.places[rows]] <= event
        rows = rows[~(undone & over)]
        ids = changes.numbers("operation")[rows]
        inserted, erased = (
            frozenset(ids[changes.is_kind(rows, kind)].tolist()) for kind in ("inserted", "erased")
        )
        # The action that begins at the event is still to come.
        begun = self.actions.line.begun(event - 1)
        return OperationChanges(begun, inserted, erased)

    def unit(self, held: OperationState, text: str | None = None) -> protocol.Unit:
        """Return an operation as an IR unit."""
        row = self.row(held.id)
        return protocol.Unit(
            kind="operation",
            name=self.name(held.id),
            state=held.state,
            text=text,
            location=None if row is None else location_of(self, row),
            id=held.id,
        )

    def cursor(self, stack: Iterable[int], event: int) -> protocol.StopCursor | None:
        """Return the cursor at an event, as the agent chooses it for the first of these actions.

        It is on the operation of the action; else on its replacement, on what a pattern inserted in
        its place, or on that of an action around it.

        Args:
            stack: the places of an action and of those around it.
            event: from 1.
        """
        for depth, place in enumerate(stack):
            id = self.actions.operation(place)
            if not id:
                continue
            held = self.held(id, place, event)
            by: Literal["action", "replaced", "inserted"] = "action"
            if held.state == "replaced":
                by = "replaced"
            elif held.state == "erased":
                by, found = "inserted", self._inserted_for(id, place, event)
                if found is None:
                    continue
                held = OperationState(found, "alive")
            return protocol.StopCursor(
                kind="operation",
                id=held.id,
                op=self.name(held.id) or "",
                by="around" if depth else by,
            )
        return None

    def _inserted_for(self, id: int, place: int, event: int) -> int | None:
        """Return what a pattern inserted in the place of its erased operation; None if nothing.

        It is the last insertion, one of the same kind if there is any.
        """
        is_pattern = self.actions.is_tag(PATTERN_TAG)[place]
        if not is_pattern or self.actions.line.ends[place] > event:
            return None
        rows = self.changes.by(place, event)
        rows = rows[self.changes.is_kind(rows, "inserted")]
        rows = rows[~self.changes.numbers("block")[rows].astype(np.bool_)]
        inserted: list[int] = self.changes.numbers("operation")[rows][::-1].tolist()
        alive = [each for each in inserted if self.is_alive(each, event)]
        alike = (each for each in alive if self.name(each) == self.name(id))
        return next(alike, alive[0] if alive else None)

    def held(self, id: int, place: int, event: int) -> OperationState:
        """Return the state of an operation at an event, after its changes by an action."""
        now, after = OperationState(id, "alive"), -1
        while len(rows := self._ends(now.id, place, event, after)):
            by = self.changes.numbers("by")[rows]
            if not by.any():
                return OperationState(id, "erased")
            newest = int(np.flatnonzero(by)[-1])
            now, after = OperationState(int(by[newest]), "replaced"), int(rows[newest])
        return now

    def _ends(self, id: int, place: int, event: int, after: int) -> Ints:
        """Return the rows after ``after`` in which an action replaced or erased an operation."""
        rows = self.changes.of(id)
        rows = rows[(rows > after) & self.changes.is_kind(rows, "erased", "replaced")]
        rows = rows[self.changes.made(rows, event)]
        places = self.changes.places[rows]
        return rows[(places >= place) & (places <= self.actions.line.last_inside(place))]

    def sentence(self, row: int) -> str:
        """Return the message of a watch for a change of an operation."""
        id = int(self.changes.numbers("operation")[row])
        kind = self.changes.words("kind").of(row) or ""
        op = self.changes.words("op").of(row) or "operation"
        told = f"@{id} {op} was {_VERBS.get(kind, kind)}"
        by = int(self.changes.numbers("by")[row])
        if by:
            return f"{told} by @{by} {self.name(by) or 'operation'}"
        return told  # by a block argument, or as an operation without results

    def described(self, rows: Ints) -> list[protocol.Change]:
        """Return changes as messages of the protocol."""
        return [self._described(int(row)) for row in rows]

    def _described(self, row: int) -> protocol.Change:
        changes = self.changes
        by = int(changes.numbers("by")[row])
        values: list[protocol.ValueRef] = []
        if by:
            result = int(changes.numbers("by_result")[row])
            values.append(protocol.ValueRef(id=by, op=self.name(by) or "", result=result))
        place = int(changes.places[row])
        kind = cast("protocol.ChangeKind", changes.words("kind").of(row))
        return protocol.Change(
            kind=kind,
            what="block" if changes.numbers("block")[row] else "operation",
            op=changes.words("op").of(row) or "",
            id=int(changes.numbers("operation")[row]) or None,
            by=values if kind == "replaced" else None,
            location=location_of(changes, row),
            ordinal=self.actions.ordinal(place),
            guess=bool(changes.numbers("guess")[row] or self.actions.is_deferred[place]),
        )
