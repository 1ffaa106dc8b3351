"""Parsers of argument values; their errors quote the word."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from actiondbg.errors import UsageError
from actiondbg.support.counts import no_such


def one_of(words: tuple[str, ...]) -> Callable[[str], str]:
    """Return a parser of words from a list, or unique prefixes."""

    def parse(text: str) -> str:
        matches = [word for word in words if word.startswith(text)]
        if text not in words and len(matches) != 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(words)}")
        return text if text in words else matches[0]

    return parse


def boolean(text: str) -> bool:
    """Parse true or false, also as 1, 0, yes, no, on or off, in any case."""
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    if text.lower() not in words:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return words[text.lower()]


def capability(text: str) -> str:
    """Parse the name of a capability of the agent."""
    from actiondbg.tool.agent_environment import capabilities_without

    try:
        capabilities_without([text], {})
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None
    return text


def parse_numbers(words: Sequence[str], existing: Iterable[int], what: str) -> list[int]:
    """Return the existing numbers given as numbers, ranges and ``all``.

    Raises:
        UsageError: a word is none of these, or does not exist.
    """
    existing = list(existing)
    if not words or list(words) == ["all"]:
        return existing
    numbers: list[int] = []
    for word in words:
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(
                f"{word!r} is not a {what} number: give numbers, ranges such as 2-4, or all."
            )
        if not dash and int(first) not in existing:
            raise UsageError(no_such(what, int(first), existing))
        numbers += [n for n in existing if int(first) <= n <= int(last or first)]
    return list(dict.fromkeys(numbers))


def _integer(
    text: str, noun: str, *, prefix: str = "", least: int = 0, most: float = math.inf
) -> int:
    digits = text.removeprefix(prefix)
    try:
        value = int(digits) if digits.isdecimal() else -1
    except ValueError:  # of thousands of digits
        value = -1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {noun}")
    return value


def _number(
    text: str, noun: str, *, or_zero: bool = False, unit: str = "", most: float = math.inf
) -> float:
    try:
        value = float(text.removesuffix(unit))
    except ValueError:
        value = math.nan
    if not 0 <= value <= most or value == math.inf or (value == 0 and not or_zero):
        raise argparse.ArgumentTypeError(f"{text!r} is not {noun}")
    return value


positive = partial(_integer, noun="a positive integer", least=1)
index = partial(_integer, noun="a non-negative integer")
operation_id = partial(_integer, noun="an operation id, such as @12", prefix="@", least=1)
ordinal = partial(_integer, noun="an ordinal, such as #17", prefix="#", least=1)
bucket_count = partial(_integer, noun="an integer from 2 to 64", least=2, most=64)

positive_number = partial(_number, noun="a positive number")
non_negative_number = partial(_number, noun="a non-negative number", or_zero=True)
seconds = partial(_number, noun="a positive number of seconds")
milliseconds = partial(_number, noun="a non-negative number of milliseconds", or_zero=True)
# With or without the sign.
percent = partial(_number, noun="a non-negative number of per cent", or_zero=True, unit="%")
share = partial(_number, noun="a number of per cent, 0 to 100", or_zero=True, unit="%", most=100)
