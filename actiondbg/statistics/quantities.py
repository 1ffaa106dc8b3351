"""Measured quantities of calls, how they depend on each other, and their texts with units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from actiondbg.statistics.buckets import Buckets, Floats, conditional, pearson, ranks, split
from actiondbg.statistics.events import is_clock
from actiondbg.support.counts import counted

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
class Relation:
    """The dependence between two quantities of the same calls.

    Args:
        pearson: the correlation; None if one of the two is constant.
        spearman: the correlation of the ranks; None likewise.
        first_given_second: shape (buckets of the second, buckets of the first).
        second_given_first: shape (buckets of the first, buckets of the second).
    """

    first: Quantity
    second: Quantity
    pearson: float | None
    spearman: float | None
    first_given_second: Floats
    second_given_first: Floats


def quantity_of(name: str, values: Floats, buckets: int) -> Quantity:
    """Return a quantity, ``duration`` or an event, divided into quantile buckets, at least one.

    There is a value for each call, none of them NaN, and at least one.
    """
    return Quantity(name, values, split(values, buckets))


def relation_of(first: Quantity, second: Quantity) -> Relation:
    """Return the dependence between two quantities of the same calls."""
    return Relation(
        first,
        second,
        pearson(second.values, first.values),
        pearson(second.ranks, first.ranks),
        conditional(second.buckets, first.buckets),
        conditional(first.buckets, second.buckets),
    )


def relations_of(quantities: Sequence[Quantity]) -> list[Relation]:
    """Return the dependence between each two quantities."""
    return [relation_of(first, second) for first, second in combinations(quantities, 2)]


_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))


def value_text(name: str, value: float | None) -> str:
    """Format a duration or an event count; ``-`` for None."""
    if value is None:
        return "-"
    return _time_text(value) if is_time(name) else _count_text(value)


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


def _time_text(nanoseconds: float) -> str:
    for size, unit in _UNITS:
        # A value that would round to 1000 takes the larger unit.
        if abs(nanoseconds) >= size * 0.9995:
            return f"{_three_digits(nanoseconds / size)} {unit}"
    whole = nanoseconds == int(nanoseconds)
    return f"{nanoseconds:.0f} ns" if whole else f"{_three_digits(nanoseconds)} ns"


def _three_digits(value: float) -> str:
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{decimals}f}"


def _count_text(value: float) -> str:
    if value == int(value) or abs(value) >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.3g}"
