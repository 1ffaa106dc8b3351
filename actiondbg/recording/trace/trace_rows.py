"""The actions of a recording or part as arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.format.arrow import Array
from actiondbg.recording.tables.action_rows import ends_of_nested
from actiondbg.recording.trace.byte_columns import NONE, Mask, Numbers, TextColumn

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class TraceRows:
    """Actions in the order of threads, then of begin; a row is a position in that order."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.count = recording.count
        self._ordinals = numbers_of(self._column("ordinal"))
        thread = numbers_of(self._column("thread"))
        sorted_already = bool((thread[1:] >= thread[:-1]).all())
        self._order = slice(None) if sorted_already else np.argsort(thread, kind="stable")
        self.thread: Numbers = thread[self._order]

    def numbers(self, name: str) -> Numbers:
        """Return a column of integers; NONE for null."""
        return numbers_of(self._column(name))[self._order]

    def mask(self, name: str) -> Mask:
        """Return a column of booleans; null is False."""
        column = self._column(name).fill_null(False)
        return column.to_numpy(zero_copy_only=False).astype(np.bool_)[self._order]

    def texts(self, name: str, rows: Numbers) -> TextColumn:
        """Return a column of texts for some rows."""
        places = rows if isinstance(self._order, slice) else self._order[rows]
        return TextColumn.of(self._column(name)).take(places)

    def is_text(self, name: str, text: str) -> Mask:
        """Return a mask of the rows in which a column has a text."""
        texts = TextColumn.of(self._column(name))
        return (texts.codes == texts.code_of(text))[self._order]

    def of_ordinals(self, ordinals: Numbers) -> Numbers:
        """Return the rows of actions, all of which must exist."""
        dense = self.count > 0 and int(self._ordinals[-1]) == self.count
        places = ordinals - 1 if dense else np.searchsorted(self._ordinals, ordinals)
        return places if isinstance(self._order, slice) else self._rows[places]

    @cached_property
    def ordinal(self) -> Numbers:
        """Return the ordinals."""
        return self._ordinals[self._order]

    @cached_property
    def parent(self) -> Numbers:
        """Return the ordinals of the parents; NONE for none."""
        return self.numbers("parent")

    @cached_property
    def nested_end(self) -> Numbers:
        """Return for each row the row after the last one nested in it, within its thread."""
        depth = self.numbers("depth")
        if self.count and self.thread[0] != self.thread[-1]:
            # Within threads: 0 at a thread's outermost actions.
            outermost = np.where(self._outermost(), np.arange(self.count), 0)
            depth = depth - depth[np.maximum.accumulate(outermost)]
        return ends_of_nested(depth)

    @cached_property
    def attempts(self) -> Mask:
        """Return a mask of failed attempts without changes and nested actions."""
        attempts = self.is_text("outcome", "failed") & ~self.is_text("tag", PASS_TAG)
        attempts &= ~self.mask("changed") & ~self.mask("rolled_back")
        return attempts & (self.nested_end == np.arange(1, self.count + 1))

    @cached_property
    def same_as_before(self) -> Mask:
        """Return a mask of rows with the same operation, parent and thread as the row before."""
        operation = self.numbers("operation")
        same = operation != NONE
        same[:1] = False
        for column in (operation, self.parent, self.thread):
            same[1:] &= column[1:] == column[:-1]
        return same

    def times(self) -> tuple[Numbers, Numbers]:
        """Return the begins and ends, in ns since the first action.

        An unfinished action ends when its thread continues outside it, else at the last known time
        of any thread.
        """
        start, duration = self.numbers("start_ns"), self.numbers("duration_ns")
        finished = duration != NONE
        end = start + np.where(finished, duration, 0)
        open_rows = np.flatnonzero(~finished)
        end[open_rows] = end.max(initial=0)
        after = self.nested_end[open_rows]
        after, open_rows = after[after < self.count], open_rows[after < self.count]
        continued = self.thread[after] == self.thread[open_rows]
        end[open_rows[continued]] = start[after[continued]]
        return start, end

    def _outermost(self) -> Mask:
        """Return a mask of rows without a parent in their thread."""
        outermost = self.parent == NONE
        nested = np.flatnonzero(~outermost)
        parents = self.of_ordinals(self.parent[nested])
        outermost[nested[self.thread[parents] != self.thread[nested]]] = True
        outermost[1:] |= self.thread[1:] != self.thread[:-1]
        return outermost

    @cached_property
    def _rows(self) -> Numbers:
        rows = np.empty(self.count, np.int64)
        rows[self._order] = np.arange(self.count)
        return rows

    def _column(self, name: str) -> Array:
        return self.recording.arrays("actions", name)[0]


def numbers_of(column: Array) -> Numbers:
    """Return a column of integers of any table; NONE for null."""
    filled = column.fill_null(NONE) if column.null_count else column
    return np.asarray(filled).astype(np.int64, copy=False)


def ranges(first: Numbers, length: Numbers) -> tuple[Numbers, Numbers]:
    """Expand ranges of numbers.

    Args:
        first: shape (ranges,).
        length: shape (ranges,).

    Returns:
        The offsets of the ranges, of shape (ranges + 1,), and all numbers.
    """
    offsets = np.zeros(len(first) + 1, np.int64)
    np.cumsum(length, out=offsets[1:])
    return offsets, np.repeat(first - offsets[:-1], length) + np.arange(int(offsets[-1]))
