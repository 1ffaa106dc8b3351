"""Flows: from the slice that created an operation to those that rewrote or erased it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.rows import column_numbers
from actiondbg.recording.trace.slices import Shown, Slices
from actiondbg.recording.trace.text_columns import NONE, Mask, Numbers, TextColumn

_CREATED = "inserted"
_REWRITTEN = ("erased", "replaced", "modified")


@dataclass(frozen=True)
class Flows:
    """What flows through which slices, in the order of slices.

    Args:
        slices: of shape (all,), rising.
        operations: of shape (all,): their ids, which are those of the flows.
    """

    slices: Numbers
    operations: Numbers

    def offsets(self, first: int, last: int) -> Numbers:
        """Return where those of some slices begin; one more for where they end."""
        return np.searchsorted(self.slices, np.arange(first, last + 1))


class FlowTracker:
    """Finds flows, part by part: it knows which operations were created when."""

    def __init__(self) -> None:
        self._created = np.empty(0, np.int64)  # by operation: the begin of that slice, or NONE
        self._waiting: list[tuple[Numbers, Numbers]] = []  # ordinals and operations

    def find(self, recording: Recording, slices: Slices) -> Flows:
        """Find what flows through the slices of a part."""
        ordinals, operations, is_creation = _changes(recording)
        begins = _at(slices.shown, slices.shown.begins, ordinals)
        seen = begins != NONE
        ordinals, operations, begins = ordinals[seen], operations[seen], begins[seen]
        is_creation = is_creation[seen]
        self._make_room(int(operations.max(initial=0)) + 1)
        self._create(operations[is_creation], begins[is_creation])
        by = self._created[operations]
        # An action that erases at its end what was made inside of it began before: no arrow there.
        flowing = (by != NONE) & ((begins > by) | is_creation)
        return self._of_slices(slices.shown, ordinals[flowing], operations[flowing])

    def _make_room(self, size: int) -> None:
        more = size - len(self._created)
        if more > 0:
            # At least twice as much, so that few copies are made.
            self._created = np.append(self._created, np.full(max(more, len(self._created)), NONE))

    def _create(self, operations: Numbers, begins: Numbers) -> None:
        fresh = self._created[operations] == NONE
        # Of several the first: the last assignment holds.
        self._created[operations[fresh][::-1]] = begins[fresh][::-1]

    def _of_slices(self, shown: Shown, ordinals: Numbers, operations: Numbers) -> Flows:
        """Return the flows of slices that are over; the others wait for a later part."""
        parts = [*self._waiting, (ordinals, operations)]
        ordinals = np.concatenate([part[0] for part in parts])
        operations = np.concatenate([part[1] for part in parts])
        of = _at(shown, shown.slices, ordinals)
        over = of != NONE
        self._waiting = [(ordinals[~over], operations[~over])]
        order = np.lexsort((operations[over], of[over]))
        of, operations = of[over][order], operations[over][order]
        new = np.ones(len(of), np.bool_)
        new[1:] = (of[1:] != of[:-1]) | (operations[1:] != operations[:-1])
        return Flows(of[new], operations[new])


def _changes(recording: Recording) -> tuple[Numbers, Numbers, Mask]:
    """Return the ordinals and the operations of changes, and which of them are creations."""
    table = recording.table("changes", ["ordinal", "kind", "operation"])
    kinds = TextColumn.of(table.column("kind"))
    codes = [kinds.code_of(kind) for kind in (_CREATED, *_REWRITTEN)]
    which = np.isin(kinds.codes, codes)
    ordinals, operations = (column_numbers(table, name) for name in ("ordinal", "operation"))
    which &= operations != NONE
    return ordinals[which], operations[which], kinds.codes[which] == codes[0]


def _at(shown: Shown, values: Numbers, ordinals: Numbers) -> Numbers:
    """Return the value of each ordinal; NONE for one that is not there."""
    places = np.searchsorted(shown.ordinals, ordinals)
    places = np.minimum(places, max(len(values) - 1, 0))
    if not len(values):
        return np.full(len(ordinals), NONE)
    return np.where(shown.ordinals[places] == ordinals, values[places], NONE)
