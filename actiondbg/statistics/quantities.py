"""Measured quantities of calls, and how they depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from actiondbg.statistics.buckets import Buckets, Floats, conditional, pearson, ranks, split

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
