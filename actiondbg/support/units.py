"""Units of times and sizes, in texts that are written and read."""

from __future__ import annotations

NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
"""The nanoseconds of each unit of time, the smallest first."""


def time_text(nanoseconds: float) -> str:
    """Return a time with three digits in its unit, such as ``12.3 ms``, or ``7 ns``."""
    for unit, size in reversed(NANOSECONDS.items()):
        # A value that would round to 1000 takes the larger unit.
        if size > 1 and abs(nanoseconds) >= size * 0.9995:
            return f"{_three_digits(nanoseconds / size)} {unit}"
    whole = nanoseconds == int(nanoseconds)
    return f"{nanoseconds:.0f} ns" if whole else f"{_three_digits(nanoseconds)} ns"


def size_text(size: int) -> str:
    """Return a number of bytes in kB, or in MB from a million on, such as ``1.9 kB``."""
    kilobytes = size / 1000
    return f"{kilobytes:,.1f} kB" if kilobytes < 1000 else f"{kilobytes / 1000:,.1f} MB"


def _three_digits(value: float) -> str:
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{decimals}f}"
