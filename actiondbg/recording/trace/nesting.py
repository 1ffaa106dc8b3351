"""How slices nest: by position, so that rounded times cannot tear the nesting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.trace.text_columns import Mask, Numbers


def depths_in_thread(depth: Numbers, outermost: Mask) -> Numbers:
    """Return depths from 0 at a thread's outermost actions.

    Args:
        depth: of actions in the order of threads, then of begin; parents in other threads counted.
        outermost: those that are nested in none of their thread.
    """
    where = np.where(outermost, np.arange(len(depth)), 0)
    return depth - depth[np.maximum.accumulate(where)]


def ends_of_nested(depth: Numbers) -> Numbers:
    """Return for each row the position after the last row that is nested in it.

    Args:
        depth: of the rows in the order of begin.
    """
    ends = np.full(len(depth), len(depth), np.int64)
    rows = np.arange(len(depth))
    # Of the rows that are no deeper than a level, the next one ends those of that level.
    for level in range(int(depth.max(initial=0)), -1, -1):
        rows = rows[depth[rows] <= level]
        at_level = depth[rows[:-1]] == level
        ends[rows[:-1][at_level]] = rows[1:][at_level]
    return ends


@dataclass(frozen=True)
class Nesting:
    """Where rows begin and end in the sequence of all begins and ends, 2 x rows long.

    Args:
        begins: of shape (rows,): positions in that sequence.
        ends: of shape (rows,): positions in that sequence.
    """

    begins: Numbers
    ends: Numbers


def nesting_of(ends_of: Numbers, shown: Numbers) -> Nesting:
    """Return how the shown rows of a thread nest.

    Args:
        ends_of: for every row the position after the last that is nested in it.
        shown: the rows that are shown, rising; one at least.
    """
    count = len(shown)
    ends = ends_of[shown]
    first = int(shown[0])
    rank = np.zeros(int(ends.max()) - first + 1, np.int64)
    rank[shown - first + 1] = 1
    after = np.cumsum(rank)[ends - first]
    # How many have ended before the begin of each: the depth is what is left.
    ended = np.cumsum(np.bincount(after, minlength=count + 1))
    rows = np.arange(count)
    depth = rows - ended[:count]
    # Of those that end at one place, the deepest ends first.
    deeper = depth[after - 1] - depth
    return Nesting(rows + ended[:count], after + ended[after - 1] + deeper)


@dataclass
class Times:
    """Begins and ends of rows of one thread, some of which were given out before.

    Args:
        begin: of shape (rows,), in ns; as they are measured, but where ``given``.
        end: of shape (rows,), in ns.
        given: whose begin was given out before, and stays.
        open: whose end is not given out yet.
    """

    begin: Numbers
    end: Numbers
    given: Mask
    open: Mask


def give_times(nesting: Nesting, times: Times, floor: int) -> int:
    """Change times so that slices nest as the rows do, whatever reads them.

    All begins and ends of a thread get different times, in the order of the sequence: a time that
    is measured too coarsely to tell it from the one before is moved by as little as that needs.
    So no reader has to guess which of two slices is the outer one.

    Args:
        nesting: of the rows.
        times: of the rows; changed in place.
        floor: the last time that was given out in this thread, in ns.

    Returns:
        The last time that is given out now.
    """
    sequence = np.empty(2 * len(times.begin), np.int64)
    sequence[nesting.begins] = times.begin
    sequence[nesting.ends] = times.end
    wanted = np.ones(len(sequence), np.bool_)
    wanted[nesting.begins[times.given]] = False
    wanted[nesting.ends[times.open]] = False
    measured = np.append(floor, sequence[wanted])
    steps = np.arange(len(measured))
    strict = np.maximum.accumulate(measured - steps) + steps
    sequence[wanted] = strict[1:]
    times.begin, times.end = sequence[nesting.begins], sequence[nesting.ends]
    return int(strict[-1])
