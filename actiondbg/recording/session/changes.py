"""The recorded changes of the IR, and which of them have been made at a place."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.session.columns import ActionColumns, TableColumns

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class ChangeColumns(TableColumns):
    """All changes; those that one thread made are together, in the order in which it made them.

    When an action changes something is not recorded, only what, and in which order. So it is
    certain of a change that it was made after some event, and by some later one.

    Args:
        recording: the recording.
        actions: its actions.
    """

    def __init__(self, recording: Recording, actions: ActionColumns) -> None:
        super().__init__(recording, "changes")
        self._actions = actions

    def in_order(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values[self._order]

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self._read("seq").to_numpy(zero_copy_only=False), kind="stable")

    @cached_property
    def places(self) -> Ints:
        """Of each change, the place of the action that made it."""
        return self._actions.numbering.places(self.numbers("ordinal"))

    @cached_property
    def since(self) -> Ints:
        """Of each change, an event after which it was made."""
        line, late = self._actions.line, self._actions.hands_over[self.places]
        events = np.where(late, line.ends[self.places], line.begins[self.places])
        for part in self._threads:  # and after what was changed before
            events[part] = np.maximum.accumulate(events[part])
        return events

    @cached_property
    def told_at(self) -> Ints:
        """Of each change, the event at which it is told of: it was made by then."""
        # What a fold has found is put in place by its caller, right after it.
        late = self._actions.hands_over[self.places]
        events = self._actions.line.ends[self.places] + late
        for part in self._threads:  # and before what was changed after it
            events[part] = np.minimum.accumulate(events[part][::-1])[::-1]
        return events

    @cached_property
    def _threads(self) -> list[slice]:
        """The changes of each thread."""
        threads = self._actions.numbers("thread")[self.places]
        starts = np.flatnonzero(np.diff(threads, prepend=-1)).tolist()
        return [slice(*ends) for ends in pairwise([*starts, len(threads)])]

    def made(self, rows: Ints, event: int) -> Bools:
        """Tell of changes whether they are certain to have been made at an event."""
        return self.told_at[rows] <= event

    def by(self, place: int, event: int, nested: bool = True) -> Ints:
        """Return the changes that an action has made up to an event, the first one first.

        Args:
            place: of the action.
            event: from its beginning on.
            nested: those of its nested actions, too.
        """
        last = self._actions.line.last_inside(place) if nested else place
        rows = np.flatnonzero((self.places >= place) & (self.places <= last))
        return rows[self.made(rows, event)]

    def of(self, id: int) -> Ints:
        """Return the changes of an operation, the first one first."""
        first, last = np.searchsorted(self._ids, [id, id + 1])
        rows = self._by_id[first:last]
        return rows[~self.numbers("block")[rows]]

    def life(self, id: int, exact: bool) -> Ints:
        """Return the changes of an operation, and of what replaces it, the first one first.

        Args:
            id: of the operation.
            exact: not of what replaces it.
        """
        rows = self.of(id)
        parts = [rows]
        while not exact and len(heirs := np.flatnonzero(self.numbers("by")[rows])):
            first = int(heirs[0])
            parts[-1] = rows[: first + 1]
            heir = self.of(int(self.numbers("by")[rows[first]]))
            rows = heir[heir > rows[first]]
            parts.append(rows)
        return self._without_ends(np.concatenate(parts))

    def _without_ends(self, rows: Ints) -> Ints:
        """Leave out that an operation is erased which has been replaced at the same event."""
        if len(rows) < 2:
            return rows
        before = np.roll(rows, 1)
        doubled = self.is_kind(rows, "erased") & self.is_kind(before, "replaced")
        doubled &= self.told_at[rows] == self.told_at[before]
        doubled[0] = False
        return rows[~doubled]

    @cached_property
    def _by_id(self) -> Ints:
        return np.argsort(self.numbers("operation"), kind="stable")

    @cached_property
    def _ids(self) -> Ints:
        return self.numbers("operation")[self._by_id]

    def is_kind(self, rows: Ints, *kinds: str) -> Bools:
        """Tell of changes whether they are of one of some kinds."""
        words = self.words("kind")
        return np.isin(words.codes[rows], [words.code(kind) for kind in kinds])

    def counts(self, rows: Ints) -> dict[str, int]:
        """Count changes by their kind, of which there are some."""
        words = self.words("kind")
        counted = np.bincount(words.codes[rows], minlength=len(words.values)).tolist()
        found = sorted(zip(words.values, counted, strict=True))
        return {kind: count for kind, count in found if count}
