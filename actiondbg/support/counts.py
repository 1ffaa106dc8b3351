"""Counts with their nouns, times and sizes with their units, lists of words, shortened texts."""

from __future__ import annotations

from collections.abc import Iterable

from actiondbg.errors import UsageError

NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
"""The nanoseconds of each unit of time, the smallest first."""

_HISSING = ("s", "x", "z", "ch", "sh")


def as_texts(given: Iterable[str]) -> list[str]:
    """Return several texts; of a text alone, that one instead of its letters."""
    return [given] if isinstance(given, str) else list(given)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 action`` or ``12,345 passes``."""
    return f"{count:,} {plural(noun, count)}"


def plural(noun: str, count: int = 2) -> str:
    """Return a noun in the number that a count demands; of several words the last changes."""
    if count == 1:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"


def times(count: int) -> str:
    """Return how often something happened: ``once``, or ``3 times``."""
    return "once" if count == 1 else f"{count:,} times"


def joined(words: Iterable[object], last: str = "and") -> str:
    """Return a list of words in a sentence, such as ``1, 2 and 3``."""
    *before, end = map(str, words)
    return f"{', '.join(before)} {last} {end}" if before else end


def check_count(count: int) -> None:
    """Raise UsageError for a count that is not at least 1."""
    if count < 1:
        raise UsageError(f"The count must be at least 1, got {count}.")


def no_such(noun: str, number: int, existing: Iterable[int]) -> str:
    """Return the sentence that nothing has a number, with the numbers that exist."""
    numbers = list(existing)
    if not numbers:
        return f"There is no {noun} {number}: there are none."
    known = joined(numbers)
    rest = f"the only one is {known}" if len(numbers) == 1 else f"the {plural(noun)} are {known}"
    return f"There is no {noun} {number}: {rest}."


def shortened(text: str, most: int | None) -> str:
    """Return a text of at most some characters; None for no limit."""
    return text if most is None or len(text) <= most else f"{text[: max(most - 1, 1)]}…"


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
