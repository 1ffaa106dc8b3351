"""Folding: consecutive failed attempts on one operation are shown as one slice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actiondbg.recording.trace.texts import Mask, Numbers


@dataclass(frozen=True)
class Runs:
    """Runs of at least two attempts; positions are in the order of threads, then of begin.

    Args:
        first: of shape (runs,): the position of each run's first attempt.
        length: of shape (runs,): how many attempts each has.
    """

    first: Numbers
    length: Numbers

    @property
    def last(self) -> Numbers:
        """Return the position of each run's last attempt."""
        return self.first + self.length - 1

    def members(self) -> tuple[Numbers, Numbers]:
        """Return the offset at which each run begins (and their end), and all positions."""
        return ranges(self.first, self.length)


def ranges(first: Numbers, length: Numbers) -> tuple[Numbers, Numbers]:
    """Write out some ranges of numbers.

    Args:
        first: of shape (ranges,).
        length: of shape (ranges,).

    Returns:
        Of shape (ranges + 1,) where each begins in what follows, and all numbers.
    """
    offsets = np.zeros(len(first) + 1, np.int64)
    np.cumsum(length, out=offsets[1:])
    return offsets, np.repeat(first - offsets[:-1], length) + np.arange(int(offsets[-1]))


def find_runs(attempts: Mask, same_as_before: Mask) -> Runs:
    """Find runs of failed attempts.

    Args:
        attempts: which actions are failed attempts that hold nothing.
        same_as_before: which have the operation, the parent and the thread of the one before.
    """
    joined = attempts & same_as_before
    joined[1:] &= attempts[:-1]
    joined[:1] = False
    first = np.flatnonzero(~joined)
    length = np.diff(np.append(first, len(joined)))
    several = length > 1
    return Runs(first[several], length[several])
