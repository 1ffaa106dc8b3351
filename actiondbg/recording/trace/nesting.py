"""The nesting of slices, by position, so that rounded times cannot break it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.trace.text_columns import Mask, Numbers


def ends_of_nested(depth: Numbers) -> Numbers:
    """Return for each row, in the order of begin, the position after the last row nested in it."""
    ends = np.full(len(depth), len(depth), np.int64)
    rows = np.arange(len(depth))
    # Among rows at most as deep as a level, the next row ends each row of that level.
    for level in range(int(depth.max(initial=0)), -1, -1):
        rows = rows[depth[rows] <= level]
        at_level = depth[rows[:-1]] == level
        ends[rows[:-1][at_level]] = rows[1:][at_level]
    return ends


@dataclass(frozen=True)
class Nesting:
    """The positions of begins and ends in the sequence of all of them, 2 x rows long.

    Args:
        begins: shape (rows,): the position of each begin.
        ends: shape (rows,): the position of each end.
    """

    begins: Numbers
    ends: Numbers


def nesting_of(ends_of: Numbers, shown: Numbers) -> Nesting:
    """Return the nesting of the shown rows of a thread.

    Args:
        ends_of: for every row the position after the last row nested in it.
        shown: the shown rows, ascending, at least one.
    """
    count = len(shown)
    ends = ends_of[shown]
    first = int(shown[0])
    rank = np.zeros(int(ends.max()) - first + 1, np.int64)
    rank[shown - first + 1] = 1
    after = np.cumsum(rank)[ends - first]
    # The depth of a row: the rows before it minus those that ended before its begin.
    ended = np.cumsum(np.bincount(after, minlength=count + 1))
    rows = np.arange(count)
    depth = rows - ended[:count]
    # Of rows that end at one place, the deepest ends first.
    deeper = depth[after - 1] - depth
    return Nesting(rows + ended[:count], after + ended[after - 1] + deeper)


@dataclass
class Times:
    """Begins and ends of the rows of one thread, some of them already written.

    Args:
        begin: shape (rows,), in ns; as measured, except where ``given``.
        end: shape (rows,), in ns.
        given: a mask of begins that are already written and stay.
        open: a mask of ends that are not written yet.
    """

    begin: Numbers
    end: Numbers
    given: Mask
    open: Mask


def give_times(nesting: Nesting, times: Times, floor: int) -> int:
    """Adjust times so that slices nest like the rows in every reader.

    All begins and ends of a thread get distinct times in the order of the sequence: a time that
    equals the one before is moved by the least amount. So no reader has to guess which of two
    slices is the outer one.

    Args:
        nesting: the nesting of the rows.
        times: the times of the rows, changed in place.
        floor: the last time written so far in this thread, in ns.

    Returns:
        The last time written now.
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
