"""The nesting of slices: distinct times, so that slices nest like actions in every reader."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.trace.byte_columns import Mask, Numbers


@dataclass(frozen=True)
class SliceNesting:
    """The positions of begins and ends of rows in the sequence of all of them, 2 x rows long."""

    begins: Numbers
    ends: Numbers


def nesting_of(ends_of: Numbers, shown: Numbers) -> SliceNesting:
    """Return the nesting of the shown rows of a thread, which are ascending, at least one.

    ``ends_of`` has for every row the position after the last row nested in it.
    """
    count = len(shown)
    # At one place ends come before a begin, and of these the deepest, which began last, is first.
    places = np.concatenate((2 * ends_of[shown][::-1], 2 * shown + 1))
    sequence = np.empty(2 * count, np.int64)
    sequence[np.argsort(places, kind="stable")] = np.arange(2 * count)
    return SliceNesting(sequence[count:], sequence[:count][::-1])


def give_times(
    nesting: SliceNesting, begin: Numbers, end: Numbers, given: Mask, open: Mask, floor: int
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
