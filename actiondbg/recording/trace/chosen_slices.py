"""The choice of slices: which actions become slices, and which attempts become one together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from actiondbg.recording.trace.byte_columns import NONE, Mask, Numbers
from actiondbg.recording.trace.options import SliceSelection
from actiondbg.recording.trace.trace_rows import TraceRows, ranges


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
        """Return a mask of the rows that become slices for a run of attempts."""
        return np.isin(self.rows, self.runs.first, assume_unique=True)

    def only(self, which: Mask) -> ChosenSlices:
        """Return some of the slices, which must include all runs."""
        columns = {name: getattr(self, name)[which] for name in ("rows", "start", "end", "open")}
        return replace(self, **columns)


def choose_slices(rows: TraceRows, selection: SliceSelection, live: Mask) -> ChosenSlices:
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


def _runs(attempts: Mask, same_as_before: Mask) -> AttemptRuns:
    """Return the runs of failed attempts."""
    joined = attempts & same_as_before
    joined[1:] &= attempts[:-1]
    joined[:1] = False
    first = np.flatnonzero(~joined)
    length = np.diff(np.append(first, len(joined)))
    several = length > 1
    return AttemptRuns(first[several], length[several])
