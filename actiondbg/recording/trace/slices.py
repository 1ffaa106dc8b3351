"""What is drawn: the slices of a recording, their times, and what is said of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.byte_columns import Argument
from actiondbg.recording.trace.labels import Earlier, SliceLabels
from actiondbg.recording.trace.locations import SliceLocations, find_locations
from actiondbg.recording.trace.nesting import Times, give_times, nesting_of
from actiondbg.recording.trace.options import Selection
from actiondbg.recording.trace.rows import TraceRows
from actiondbg.recording.trace.selection import ChosenSlices, choose_slices, count_undecided
from actiondbg.recording.trace.text_columns import NONE, Mask, Numbers, TextColumn


@dataclass(frozen=True)
class Span:
    """The slices of one thread: ``first`` to ``last``, which is not one of them."""

    thread: int
    first: int
    last: int


@dataclass(frozen=True)
class Shown:
    """Where actions are shown.

    Args:
        ordinals: of all actions, rising.
        slices: for each the slice that shows it, or NONE.
        begins: for each when that slice begins, in ns; also of one that comes later. Or NONE.
    """

    ordinals: Numbers
    slices: Numbers
    begins: Numbers


@dataclass(frozen=True)
class Slices:
    """Slices in the order of threads, then of begin.

    Args:
        spans: the threads.
        names: of shape (slices,).
        categories: the tags, or FOLDED.
        start: ns from the first action.
        end: ns from the first action; all times of a thread are different (``give_times``).
        ordinals: of their actions; of the first, where one stands for several.
        places: where their operations are from.
        arguments: in the order in which they are shown.
        shown: where actions are shown.
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

    def __len__(self) -> int:
        return len(self.start)


class SliceMaker:
    """Makes slices of a recording: of all of it, or part by part if it is of one thread.

    Args:
        selection: which actions become slices, and how.
    """

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._floors: dict[int, int] = {}  # by thread
        self.undecided = 1  # the ordinal of the first action that no part has decided on
        self._last = 0  # the ordinal of the last action that a part had
        self._open: dict[int, Earlier] = {}  # by ordinal: begun, and to be shown when they end

    @property
    def kept(self) -> list[int]:
        """The ordinals of actions of this part that the next one has to hold, too."""
        return sorted({*self._open, *range(self.undecided, self._last + 1)})

    def make(self, recording: Recording, *, last: bool = True) -> Slices:
        """Make the slices of a part.

        Args:
            recording: the part, with the actions of earlier ones that are ``kept``.
            last: whether it is the last part: what is unfinished stays so.
        """
        rows = TraceRows(recording)
        undecided = 0
        if not last and self._selection.failed == "fold":
            undecided = count_undecided(rows)
        live = (rows.ordinal >= self.undecided) | np.isin(rows.ordinal, list(self._open))
        live[rows.count - undecided :] = False
        chosen = choose_slices(rows, self._selection, live)
        # What the thread went on outside of is over, whatever is missing of it.
        waits = chosen.open & (rows.nested_end[chosen.rows] == rows.count) & (not last)
        chosen = self._timed(rows, chosen, waits)
        over = chosen.only(~waits)
        sayer = SliceLabels(rows, over, self._open)
        places = find_locations(rows, over)
        slices = Slices(
            spans=_spans(rows, over),
            names=sayer.names(),
            categories=sayer.categories(),
            start=over.start,
            end=over.end,
            ordinals=rows.ordinal[over.rows],
            places=places,
            arguments=sayer.arguments(places),
            shown=_shown(rows, chosen, waits),
        )
        self._open = sayer.earlier(chosen.only(waits))
        self._last = int(rows.ordinal[-1]) if rows.count else 0
        self.undecided = self._last - undecided + 1
        return slices

    def _timed(self, rows: TraceRows, chosen: ChosenSlices, waits: Mask) -> ChosenSlices:
        """Give out the times of all begins, and of the ends of what does not wait for its end."""
        start, end = chosen.start.copy(), chosen.end.copy()
        ordinals = rows.ordinal[chosen.rows]
        given = np.isin(ordinals, list(self._open))
        start[given] = [self._open[ordinal].begin for ordinal in ordinals[given].tolist()]
        for span in _spans(rows, chosen):
            part = slice(span.first, span.last)
            nesting = nesting_of(rows.nested_end, chosen.rows[part])
            times = Times(start[part], end[part], given[part], waits[part])
            floor = self._floors.get(span.thread, NONE)
            self._floors[span.thread] = give_times(nesting, times, floor)
            start[part], end[part] = times.begin, times.end
        return replace(chosen, start=start, end=end)


def _spans(rows: TraceRows, chosen: ChosenSlices) -> list[Span]:
    threads = rows.thread[chosen.rows]
    bounds = [0, *(np.flatnonzero(np.diff(threads)) + 1).tolist(), len(threads)]
    return [
        Span(int(threads[first]), first, last) for first, last in pairwise(bounds) if first < last
    ]


def _shown(rows: TraceRows, chosen: ChosenSlices, waits: Mask) -> Shown:
    """Say where all actions are shown; ``chosen`` has also what waits for its end."""
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
