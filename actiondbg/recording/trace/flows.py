"""Flows: arrows from the slice that created an operation to those that rewrote or erased it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.rows import numbers_of
from actiondbg.recording.trace.slices import Shown, Slices
from actiondbg.recording.trace.text_columns import NONE, Mask, Numbers, TextColumn

_CREATED = "inserted"
_REWRITTEN = ("erased", "replaced", "modified")


@dataclass(frozen=True)
class Flows:
    """Operations that flow through slices, in the order of the slices.

    Args:
        slices: shape (all,), ascending: the slice of each flow point.
        operations: shape (all,): the operation id, which is the id of the flow.
    """

    slices: Numbers
    operations: Numbers

    def offsets(self, first: int, last: int) -> Numbers:
        """Return the offsets of the flow points of some slices, and their end."""
        return np.searchsorted(self.slices, np.arange(first, last + 1))


class FlowTracker:
    """Finds flows, part by part; remembers when each operation was created."""

    def __init__(self) -> None:
        self._created = np.empty(
            0, np.int64
        )  # by operation: the begin of the creating slice, or NONE
        self._waiting: list[tuple[Numbers, Numbers]] = []  # ordinals and operations

    def find(self, recording: Recording, slices: Slices) -> Flows:
        """Find the flows through the slices of a part."""
        ordinals, operations, is_creation = _changes(recording)
        begins = _at(slices.shown, slices.shown.begins, ordinals)
        seen = begins != NONE
        ordinals, operations, begins = ordinals[seen], operations[seen], begins[seen]
        is_creation = is_creation[seen]
        self._make_room(int(operations.max(initial=0)) + 1)
        self._create(operations[is_creation], begins[is_creation])
        by = self._created[operations]
        # No arrow to an action that began before the creation: it erases what was made inside it.
        flowing = (by != NONE) & ((begins > by) | is_creation)
        return self._of_slices(slices.shown, ordinals[flowing], operations[flowing])

    def _make_room(self, size: int) -> None:
        more = size - len(self._created)
        if more > 0:
            # At least double, so that few copies are made.
            self._created = np.append(self._created, np.full(max(more, len(self._created)), NONE))

    def _create(self, operations: Numbers, begins: Numbers) -> None:
        fresh = self._created[operations] == NONE
        # The first creation counts: in reverse order it is assigned last.
        self._created[operations[fresh][::-1]] = begins[fresh][::-1]

    def _of_slices(self, shown: Shown, ordinals: Numbers, operations: Numbers) -> Flows:
        """Return the flows of finished slices; the others wait for a later part."""
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
    """Return the ordinals and operations of changes, and a mask of creations."""
    table = recording.table("changes", ["ordinal", "kind", "operation"])
    kinds = TextColumn.of(table.column("kind"))
    codes = [kinds.code_of(kind) for kind in (_CREATED, *_REWRITTEN)]
    which = np.isin(kinds.codes, codes)
    ordinals, operations = (numbers_of(table.column(name)) for name in ("ordinal", "operation"))
    which &= operations != NONE
    return ordinals[which], operations[which], kinds.codes[which] == codes[0]


def _at(shown: Shown, values: Numbers, ordinals: Numbers) -> Numbers:
    """Return the value of each ordinal; NONE for a missing one."""
    places = np.searchsorted(shown.ordinals, ordinals)
    places = np.minimum(places, max(len(values) - 1, 0))
    if not len(values):
        return np.full(len(ordinals), NONE)
    return np.where(shown.ordinals[places] == ordinals, values[places], NONE)
