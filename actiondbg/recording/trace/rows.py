"""The actions of a recording or part as arrays, and the selection and the nesting of slices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.format.arrow import Array
from actiondbg.recording.tables.rows import ends_of_nested
from actiondbg.recording.trace.byte_columns import NONE, Mask, Numbers, TextColumn
from actiondbg.recording.trace.options import Selection

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


# --- nesting ---


@dataclass(frozen=True)
class Nesting:
    """The positions of begins and ends of rows in the sequence of all of them, 2 x rows long."""

    begins: Numbers
    ends: Numbers


def nesting_of(ends_of: Numbers, shown: Numbers) -> Nesting:
    """Return the nesting of the shown rows of a thread, which are ascending, at least one.

    ``ends_of`` has for every row the position after the last row nested in it.
    """
    count = len(shown)
    # At one place ends come before a begin, and of these the deepest, which began last, is first.
    places = np.concatenate((2 * ends_of[shown][::-1], 2 * shown + 1))
    sequence = np.empty(2 * count, np.int64)
    sequence[np.argsort(places, kind="stable")] = np.arange(2 * count)
    return Nesting(sequence[count:], sequence[:count][::-1])


def give_times(
    nesting: Nesting, begin: Numbers, end: Numbers, given: Mask, open: Mask, floor: int
) -> int:
    """Adjust times so that slices nest like the rows in every reader.

    All begins and ends of a thread get distinct times in the order of the sequence: a time that
    equals the one before is moved by the least amount. So no reader has to guess which of two
    slices is the outer one.

    Args:
        nesting: the nesting of the rows of a thread.
        begin: shape (rows,), in ns, changed in place.
        end: shape (rows,), in ns, changed in place.
        given: a mask of begins that are already written and stay.
        open: a mask of ends that are not written yet.
        floor: the last time written so far in this thread, in ns.

    Returns:
        The last time written now.
    """
    sequence = np.empty(2 * len(begin), np.int64)
    sequence[nesting.begins] = begin
    sequence[nesting.ends] = end
    wanted = np.ones(len(sequence), np.bool_)
    wanted[nesting.begins[given]] = False
    wanted[nesting.ends[open]] = False
    measured = np.append(floor, sequence[wanted])
    steps = np.arange(len(measured))
    strict = np.maximum.accumulate(measured - steps) + steps
    sequence[wanted] = strict[1:]
    begin[:], end[:] = sequence[nesting.begins], sequence[nesting.ends]
    return int(strict[-1])


@dataclass(frozen=True)
class AttemptRuns:
    """Runs of at least two attempts: the position of the first one, and their number.

    Positions are in the order of threads, then of begin.
    """

    first: Numbers
    length: Numbers

    @property
    def last(self) -> Numbers:
        """Return the position of the last attempt in each run of attempts."""
        return self.first + self.length - 1

    def members(self) -> tuple[Numbers, Numbers]:
        """Return the offset of each run and the end, and all positions."""
        return ranges(self.first, self.length)


@dataclass(frozen=True)
class ChosenSlices:
    """The actions that become slices.

    Args:
        rows: the shown rows, ascending; the first row of each run.
        runs: the folded runs; ``AttemptRuns.first`` are among ``rows``.
        start: the begin of each row, in ns.
        end: the end of each row, in ns.
        open: a mask of unfinished rows.
    """

    rows: Numbers
    runs: AttemptRuns
    start: Numbers
    end: Numbers
    open: Mask

    @property
    def is_run(self) -> Mask:
        """Return a mask of the rows that stand for a run."""
        return np.isin(self.rows, self.runs.first, assume_unique=True)

    def only(self, which: Mask) -> ChosenSlices:
        """Return some of the slices, which must include all runs."""
        columns = {name: getattr(self, name)[which] for name in ("rows", "start", "end", "open")}
        return replace(self, **columns)


def choose_slices(rows: TraceRows, selection: Selection, live: Mask) -> ChosenSlices:
    """Choose the actions that become slices.

    Args:
        rows: all actions.
        selection: the user's selection.
        live: a mask of the rows that earlier parts have not handled.
    """
    start, end = rows.times()
    shown, wanted = _wanted(rows, selection.where)
    shown &= live
    runs = AttemptRuns(np.empty(0, np.int64), np.empty(0, np.int64))
    if selection.failed != "keep":
        attempts = rows.attempts & wanted & live
        if selection.failed == "drop":
            shown &= ~attempts
        else:
            runs = _runs(attempts, rows.same_as_before)
            shown[runs.members()[1]] = False
            shown[runs.first] = True
            end[runs.first] = end[runs.last]
    unfinished = rows.numbers("duration_ns") == NONE
    if selection.minimum > 0:
        shown &= (end - start >= selection.minimum) | unfinished
    chosen = np.flatnonzero(shown)
    kept = shown[runs.first]
    return ChosenSlices(
        chosen,
        AttemptRuns(runs.first[kept], runs.length[kept]),
        start[chosen],
        end[chosen],
        unfinished[chosen],
    )


def count_undecided(rows: TraceRows) -> int:
    """Count the rows at the end that form a run of attempts, which may continue."""
    joined = rows.attempts.copy()
    if not len(joined) or not joined[-1] or _is_over(rows, int(rows.parent[-1])):
        return 0
    joined[1:] &= joined[:-1] & rows.same_as_before[1:]
    before = np.flatnonzero(~joined)
    return rows.count - int(before[-1]) if len(before) else rows.count


def _is_over(rows: TraceRows, ordinal: int) -> bool:
    """Whether an action has ended; false for NONE."""
    if ordinal == NONE:
        return False
    row = rows.of_ordinals(np.array([ordinal]))
    return bool(rows.numbers("duration_ns")[row][0] != NONE)


def _wanted(rows: TraceRows, where: str | None) -> tuple[Mask, Mask]:
    """Return masks of the shown rows (with parents) and of the selected rows."""
    if where is None:
        return np.ones(rows.count, np.bool_), np.ones(rows.count, np.bool_)
    from actiondbg.recording.query.database import ordinals_where

    wanted = np.zeros(rows.count, np.bool_)
    wanted[rows.of_ordinals(ordinals_where(rows.recording, where))] = True
    shown = wanted.copy()
    parents = rows.parent[wanted]
    while len(parents):
        around = rows.of_ordinals(np.unique(parents[parents != NONE]))
        around = around[~shown[around]]
        shown[around] = True
        parents = rows.parent[around]
    return shown, wanted


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


def _runs(attempts: Mask, same_as_before: Mask) -> AttemptRuns:
    """Return the runs of failed attempts."""
    joined = attempts & same_as_before
    joined[1:] &= attempts[:-1]
    joined[:1] = False
    first = np.flatnonzero(~joined)
    length = np.diff(np.append(first, len(joined)))
    several = length > 1
    return AttemptRuns(first[several], length[several])
