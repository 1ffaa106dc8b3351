"""The recorded changes of the IR, and the events between which they were made."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.columns import ActionColumns, TableColumns


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
