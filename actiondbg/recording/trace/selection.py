"""Which actions become slices: filters, folding, and how long they are at least."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from actiondbg.recording.trace.folding import Runs, find_runs
from actiondbg.recording.trace.options import Selection
from actiondbg.recording.trace.rows import Rows
from actiondbg.recording.trace.texts import NONE, Mask, Numbers


@dataclass(frozen=True)
class Chosen:
    """What becomes a slice.

    Args:
        rows: that are shown, rising; of a run its first.
        runs: those of ``rows`` that stand for several; ``Runs.first`` are rows.
        start: of each of ``rows``, in ns.
        end: of each of ``rows``, in ns.
        open: which of ``rows`` are unfinished.
    """

    rows: Numbers
    runs: Runs
    start: Numbers
    end: Numbers
    open: Mask

    @property
    def is_run(self) -> Mask:
        """Return which of ``rows`` stand for several."""
        return np.isin(self.rows, self.runs.first, assume_unique=True)

    def only(self, which: Mask) -> Chosen:
        """Return some of them; no run is left out."""
        columns = {name: getattr(self, name)[which] for name in ("rows", "start", "end", "open")}
        return replace(self, **columns)


def choose(rows: Rows, selection: Selection, live: Mask) -> Chosen:
    """Choose what becomes a slice.

    Args:
        rows: all.
        selection: what is asked for.
        live: which rows are not done already.
    """
    start, end = rows.times()
    shown, wanted = _wanted(rows, selection.where)
    shown &= live
    runs = Runs(np.empty(0, np.int64), np.empty(0, np.int64))
    if selection.failed != "keep":
        attempts = rows.attempts & wanted & live
        if selection.failed == "drop":
            shown &= ~attempts
        else:
            runs = find_runs(attempts, rows.same_as_before)
            shown[runs.members()[1]] = False
            shown[runs.first] = True
            end[runs.first] = end[runs.last]
    unfinished = rows.numbers("duration_ns") == NONE
    if selection.minimum > 0:
        shown &= (end - start >= selection.minimum) | unfinished
    chosen = np.flatnonzero(shown)
    kept = shown[runs.first]
    return Chosen(
        chosen,
        Runs(runs.first[kept], runs.length[kept]),
        start[chosen],
        end[chosen],
        unfinished[chosen],
    )


def count_undecided(rows: Rows) -> int:
    """Return how many rows at the end are attempts on one operation, to which more may come."""
    joined = rows.attempts.copy()
    if not len(joined) or not joined[-1] or _is_over(rows, int(rows.parent[-1])):
        return 0
    joined[1:] &= joined[:-1] & rows.same_as_before[1:]
    before = np.flatnonzero(~joined)
    return rows.count - int(before[-1]) if len(before) else rows.count


def _is_over(rows: Rows, ordinal: int) -> bool:
    """Tell whether an action has ended; NONE has not."""
    if ordinal == NONE:
        return False
    row = rows.of_ordinals(np.array([ordinal]))
    return bool(rows.numbers("duration_ns")[row][0] != NONE)


def _wanted(rows: Rows, where: str | None) -> tuple[Mask, Mask]:
    """Return what is shown, with what is around what is wanted; and what is wanted itself."""
    if where is None:
        return np.ones(rows.count, np.bool_), np.ones(rows.count, np.bool_)
    wanted = np.zeros(rows.count, np.bool_)
    wanted[rows.of_ordinals(rows.ordinals_where(where))] = True
    shown = wanted.copy()
    parents = rows.parent[wanted]
    while len(parents):
        around = rows.of_ordinals(np.unique(parents[parents != NONE]))
        around = around[~shown[around]]
        shown[around] = True
        parents = rows.parent[around]
    return shown, wanted
