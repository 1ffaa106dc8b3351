"""Measured values as text with units."""

from __future__ import annotations

from actiondbg.statistics.buckets import Buckets
from actiondbg.statistics.events import is_clock
from actiondbg.statistics.quantities import DURATION, Quantity
from actiondbg.support.counts import counted

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
