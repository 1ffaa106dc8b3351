"""Measured quantities of calls: buckets, correlations, and texts with units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from actiondbg.statistics.events import is_clock
from actiondbg.support.counts import counted, time_text

DURATION = "duration"


@dataclass(frozen=True)
class Quantity:
    """A measured quantity, the duration in nanoseconds or an event: values and buckets."""

    name: str
    values: Floats
    buckets: Buckets

    @cached_property
    def ranks(self) -> Floats:
        """The rank of each value, from 1."""
        return ranks(self.values)

    @property
    def mean(self) -> float:
        """The mean over all calls."""
        return float(np.mean(self.values))

    @property
    def is_constant(self) -> bool:
        """Whether all calls have the same value."""
        return bool(np.ptp(self.values) == 0)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of ``--json``."""
        total = float(np.sum(self.values))
        return {"mean": self.mean, "total": total, "buckets": self.buckets.as_json()}


@dataclass(frozen=True)
class QuantityRelation:
    """The dependence between two quantities of the same calls."""

    first: Quantity
    second: Quantity
    pearson: float | None  # the correlation; None if one of the two is constant
    spearman: float | None  # the correlation of the ranks; None likewise
    first_given_second: Floats  # shape (buckets of the second, buckets of the first)
    second_given_first: Floats  # shape (buckets of the first, buckets of the second)


def quantity_of(name: str, values: Floats, buckets: int) -> Quantity:
    """Return a quantity, ``duration`` or an event, divided into quantile buckets, at least one.

    There is a value for each call, none of them NaN, and at least one.
    """
    return Quantity(name, values, split(values, buckets))


def relation_of(first: Quantity, second: Quantity) -> QuantityRelation:
    """Return the dependence between two quantities of the same calls."""
    return QuantityRelation(
        first,
        second,
        pearson(second.values, first.values),
        pearson(second.ranks, first.ranks),
        conditional(second.buckets, first.buckets),
        conditional(first.buckets, second.buckets),
    )


def relations_of(quantities: Sequence[Quantity]) -> list[QuantityRelation]:
    """Return the dependence between each two quantities."""
    return [relation_of(first, second) for first, second in combinations(quantities, 2)]


def value_text(name: str, value: float | None) -> str:
    """Format a duration or an event count; ``-`` for None."""
    if value is None:
        return "-"
    return time_text(value) if is_time(name) else _count_text(value)


def is_time(name: str) -> bool:
    """Whether a quantity is measured in nanoseconds."""
    return name == DURATION or is_clock(name)


def range_text(name: str, buckets: Buckets, bucket: int) -> str:
    """Format the smallest and the largest value of a bucket."""
    low, high = (value_text(name, float(ends[bucket])) for ends in (buckets.low, buckets.high))
    return low if low == high else f"{low} .. {high}"


def constant_words(quantity: Quantity) -> str:
    """Describe a constant quantity."""
    value = value_text(quantity.name, quantity.mean)
    return f"{quantity.name} is {value} in all {counted(len(quantity.values), 'call')}"


def correlation_text(correlation: float | None) -> str:
    """Format a correlation."""
    return "undefined" if correlation is None else f"{correlation:.2f}"


def _count_text(value: float) -> str:
    if value == int(value) or abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.3g}"


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
    """

    wanted: int  # the requested number of buckets
    of: Integers  # the bucket of each sample, from 0
    calls: Integers  # the number of samples in each bucket, at least 1
    low: Floats  # the smallest value of each bucket
    high: Floats  # the largest value of each bucket
    mean: Floats  # the mean of each bucket

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
