"""The slices of a recording: times, labels and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.byte_columns import Argument
from actiondbg.recording.trace.labels import Earlier, SliceLabels, SliceLocations, find_locations
from actiondbg.recording.trace.options import Selection
from actiondbg.recording.trace.rows import TraceRows, give_times, nesting_of
from actiondbg.recording.trace.selection import ChosenSlices, choose_slices, count_undecided
from actiondbg.recording.trace.text_columns import NONE, Mask, Numbers, TextColumn


@dataclass(frozen=True)
class Span:
    """The slices of one thread, from ``first`` up to but excluding ``last``."""

    thread: int
    first: int
    last: int


@dataclass(frozen=True)
class Shown:
    """The slices that show the actions.

    Args:
        ordinals: the ordinals of all actions, ascending.
        slices: for each action its slice, or NONE.
        begins: for each action the begin of its slice in ns, even of a later part's; or NONE.
    """

    ordinals: Numbers
    slices: Numbers
    begins: Numbers


@dataclass(frozen=True)
class Slices:
    """Slices in the order of threads, then of begin.

    Args:
        categories: the tags, or FOLDED.
        start: ns since the first action.
        end: ns since the first action; all times of a thread are distinct (``give_times``).
        ordinals: the ordinals of the actions; the first of a run.
        arguments: in display order.
        shown: the slice of each action.
    """

    spans: Sequence[Span]
    names: TextColumn
    categories: TextColumn
    start: Numbers
    end: Numbers
    ordinals: Numbers
    places: SliceLocations
    arguments: Sequence[Argument]
    shown: Shown


class SliceMaker:
    """Makes the slices of a recording, as a whole or, for one thread, part by part."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._floors: dict[int, int] = {}  # by thread
        self.undecided = 1  # the ordinal of the first action that no part has handled
        self._last = 0  # the ordinal of the last action read
        self._open: dict[int, Earlier] = {}  # by ordinal: actions to show when they end

    @property
    def kept(self) -> list[int]:
        """The ordinals of actions of this part that the next part must include."""
        return sorted({*self._open, *range(self.undecided, self._last + 1)})

    def make(self, recording: Recording, *, last: bool = True) -> Slices:
        """Make the slices of a part.

        Args:
            recording: the part, with the ``kept`` actions of earlier parts.
            last: whether it is the last part, in which unfinished actions remain so.
        """
        rows = TraceRows(recording)
        undecided = 0
        if not last and self._selection.failed == "fold":
            undecided = count_undecided(rows)
        live = (rows.ordinal >= self.undecided) | np.isin(rows.ordinal, list(self._open))
        live[rows.count - undecided :] = False
        chosen = choose_slices(rows, self._selection, live)
        # An action has ended if its thread continues outside it, even without a recorded end.
        waits = chosen.open & (rows.nested_end[chosen.rows] == rows.count) & (not last)
        chosen = self._timed(rows, chosen, waits)
        ended = chosen.only(~waits)
        labels = SliceLabels(rows, ended, self._open)
        places = find_locations(rows, ended)
        slices = Slices(
            spans=_spans(rows, ended),
            names=labels.names(),
            categories=labels.categories(),
            start=ended.start,
            end=ended.end,
            ordinals=rows.ordinal[ended.rows],
            places=places,
            arguments=labels.arguments(places),
            shown=_shown(rows, chosen, waits),
        )
        self._open = labels.earlier(chosen.only(waits))
        self._last = int(rows.ordinal[-1]) if rows.count else 0
        self.undecided = self._last - undecided + 1
        return slices

    def _timed(self, rows: TraceRows, chosen: ChosenSlices, waits: Mask) -> ChosenSlices:
        """Adjust the times of all begins, and of the ends that do not wait."""
        start, end = chosen.start.copy(), chosen.end.copy()
        ordinals = rows.ordinal[chosen.rows]
        given = np.isin(ordinals, list(self._open))
        start[given] = [self._open[ordinal].begin for ordinal in ordinals[given].tolist()]
        for span in _spans(rows, chosen):
            part = slice(span.first, span.last)
            nesting = nesting_of(rows.nested_end, chosen.rows[part])
            times = start[part], end[part], given[part], waits[part]
            floor = self._floors.get(span.thread, NONE)
            self._floors[span.thread] = give_times(nesting, *times, floor)
        return replace(chosen, start=start, end=end)


def _spans(rows: TraceRows, chosen: ChosenSlices) -> list[Span]:
    threads = rows.thread[chosen.rows]
    bounds = [0, *(np.flatnonzero(np.diff(threads)) + 1).tolist(), len(threads)]
    return [
        Span(int(threads[first]), first, last) for first, last in pairwise(bounds) if first < last
    ]


def _shown(rows: TraceRows, chosen: ChosenSlices, waits: Mask) -> Shown:
    """Return the slice of each action; ``chosen`` includes slices that wait for their end."""
    slices = np.full(rows.count, NONE)
    begins = np.full(rows.count, NONE)
    slices[chosen.rows] = np.where(waits, NONE, np.cumsum(~waits) - 1)
    begins[chosen.rows] = chosen.start
    runs = chosen.runs
    members = runs.members()[1]
    for column in (slices, begins):
        column[members] = np.repeat(column[runs.first], runs.length)
    order = np.argsort(rows.ordinal)
    return Shown(rows.ordinal[order], slices[order], begins[order])
