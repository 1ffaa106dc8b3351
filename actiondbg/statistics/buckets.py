"""Columns of numbers: quantile buckets, correlations and conditional probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


def all_measured(columns: Iterable[Floats], size: int) -> Flags:
    """Return for each of ``size`` rows whether no column has NaN there."""
    flags = np.ones(size, dtype=np.bool_)
    for values in columns:
        flags &= ~np.isnan(values)
    return flags


def sums_by_group(values: Floats, group: Integers, size: int) -> Floats:
    """Return the sum of the values of each of ``size`` groups; ``group`` has one for each value."""
    return np.bincount(group, weights=values, minlength=size).astype(np.float64)


@dataclass(frozen=True)
class Buckets:
    """Samples divided by value into buckets of about equal size, smallest values first.

    Equal values share a bucket, so there may be fewer buckets than requested.

    Args:
        wanted: the requested number of buckets.
        of: the bucket of each sample, from 0.
        calls: the number of samples in each bucket, at least 1.
        low: the smallest value of each bucket.
        high: the largest value of each bucket.
        mean: the mean of each bucket.
    """

    wanted: int
    of: Integers
    calls: Integers
    low: Floats
    high: Floats
    mean: Floats

    @property
    def size(self) -> int:
        """The number of buckets."""
        return len(self.calls)

    def as_json(self) -> list[dict[str, object]]:
        """Return the buckets as ``--json`` prints them."""
        columns = zip(self.calls, self.low, self.high, self.mean, strict=True)
        return [
            {"calls": int(calls), "low": float(low), "high": float(high), "mean": float(mean)}
            for calls, low, high, mean in columns
        ]


def split(values: Floats, wanted: int) -> Buckets:
    """Divide samples into quantile buckets.

    A cut between equal values moves to their nearer end; coinciding cuts merge. Without equal
    values the sizes differ by at most one.

    Args:
        values: one per sample, not empty, without NaN.
        wanted: the number of buckets, at least 1.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = _starts(ordered, wanted)
    calls = np.diff([*starts, len(values)])
    of = np.empty(len(values), dtype=np.int64)
    of[order] = np.repeat(np.arange(len(starts)), calls)
    ends = starts + calls - 1
    mean = np.add.reduceat(ordered, starts) / calls
    # The mean of equal values is exactly that value.
    mean = np.clip(mean, ordered[starts], ordered[ends])
    return Buckets(wanted, of, calls, ordered[starts], ordered[ends], mean)


def _starts(ordered: Floats, wanted: int) -> Integers:
    """Return the index of the first sample of each bucket."""
    count = len(ordered)
    cuts = np.arange(1, wanted) * count // wanted
    cuts = cuts[cuts > 0]
    left = np.searchsorted(ordered, ordered[cuts], side="left")
    right = np.searchsorted(ordered, ordered[cuts], side="right")
    nearer = np.where(cuts - left <= right - cuts, left, right)
    nearer = np.where(left == cuts, cuts, nearer)
    return np.unique([0, *nearer[nearer < count]]).astype(np.int64)


def pearson(x: Floats, y: Floats) -> float | None:
    """Return the correlation of two quantities, None if one is constant."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    # Scaled first: squares of large counts would overflow or lose precision.
    x, y = (x - np.mean(x)) / np.ptp(x), (y - np.mean(y)) / np.ptp(y)
    cosine = np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y))
    return float(np.clip(cosine, -1.0, 1.0))


def ranks(values: Floats) -> Floats:
    """Return the rank of each value, from 1; equal values share their mean rank.

    Pearson's correlation of ranks is Spearman's correlation.
    """
    _, group, calls = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(calls)
    return (last - (calls - 1) / 2)[group]


def conditional(given: Buckets, of: Buckets) -> Floats:
    """Return the probabilities of one quantity's buckets, given another's, over the same samples.

    Returns:
        Shape (given.size, of.size); each row sums to 1.
    """
    cells = np.bincount(given.of * of.size + of.of, minlength=given.size * of.size)
    table = cells.reshape(given.size, of.size)
    return table / given.calls[:, np.newaxis]
