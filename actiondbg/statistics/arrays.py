"""Columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable

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
