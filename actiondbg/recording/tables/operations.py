"""The table of operations, with the actions that created and erased them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from actiondbg.recording.format.arrow import Array, Bools, Ints, id_array, int_array, pa
from actiondbg.recording.format.layout import CHANGE_KINDS, ROLLED_BACK
from actiondbg.recording.tables.changes import ChangeTable
from actiondbg.recording.tables.definitions import Definitions, OperationDescriptions
from actiondbg.recording.tables.lazy_table import LazyTable


class OperationTable:
    """One row per operation, with its last definition."""

    def __init__(
        self, definitions: Definitions, describer: OperationDescriptions, changes: ChangeTable
    ) -> None:
        self._definitions = definitions
        self._describer = describer
        self._changes = changes

    def table(self) -> LazyTable:
        """Return the table."""
        newest = self._definitions.find_newest
        return LazyTable(
            [
                ("operation", pa.int64(), lambda: int_array(self._numbers, pa.int64())),
                *self._describer.columns(newest),
                ("location", pa.string(), lambda: self._describer.location(newest())),
                ("created_by", pa.int64(), self._created_by),
                ("erased_by", pa.int64(), self._erased_by),
            ]
        )

    @cached_property
    def _numbers(self) -> Ints:
        return self._definitions.operations[self._definitions.find_newest()]

    def _created_by(self) -> Array:
        return self._first_of(self._of_kind("inserted"))

    def _erased_by(self) -> Array:
        rows = self._changes.rows
        undone = (rows.ordered(rows.flags) & ROLLED_BACK)[self._changes.ranks] > 0
        last_first = np.flatnonzero(self._of_kind("erased") & ~undone)[::-1]
        return self._first_of(last_first)

    def _of_kind(self, kind: str) -> Bools:
        is_kind = self._changes.kinds == CHANGE_KINDS.index(kind)
        return is_kind & ~self._changes.blocks

    def _first_of(self, which: Ints | Bools) -> Array:
        """Return the ordinal of each operation's first change among some, or null."""
        ordinals = self._changes.ordinals[which]
        operations, firsts = np.unique(self._changes.operations[which], return_index=True)
        _, mine, theirs = np.intersect1d(
            self._numbers, operations, assume_unique=True, return_indices=True
        )
        found = np.zeros(len(self._numbers), np.int64)
        found[mine] = ordinals[firsts[theirs]]
        return id_array(found)
