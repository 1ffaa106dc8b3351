"""Parsers of argument values; their errors quote the word."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from actiondbg.errors import UsageError

_MOST_BUCKETS = 64


def one_of(words: tuple[str, ...]) -> Callable[[str], str]:
    """Return a parser of words from a list, or unique prefixes."""

    def parse(text: str) -> str:
        matches = [word for word in words if word.startswith(text)]
        if text not in words and len(matches) != 1:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(words)}")
        return text if text in words else matches[0]

    return parse


def positive(text: str) -> int:
    """Parse a positive integer."""
    return _integer(text, "a positive integer", least=1)


def index(text: str) -> int:
    """Parse a non-negative integer."""
    return _integer(text, "a non-negative integer")


def operation_id(text: str) -> int:
    """Parse an operation id, such as 12 or @12."""
    return _integer(text, "an operation id, such as @12", prefix="@", least=1)


def ordinal(text: str) -> int:
    """Parse an ordinal, such as 17 or #17."""
    return _integer(text, "an ordinal, such as #17", prefix="#", least=1)


def boolean(text: str) -> bool:
    """Parse true or false, also as 1, 0, yes, no, on or off, in any case."""
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    if text.lower() not in words:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return words[text.lower()]


def bucket_count(text: str) -> int:
    """Parse a number of quantile buckets."""
    most = _MOST_BUCKETS
    return _integer(text, f"an integer from 2 to {most}", least=2, most=most)


def milliseconds(text: str) -> float:
    """Parse a non-negative number of milliseconds."""
    return _number(text, "a non-negative number of milliseconds", or_zero=True)


def seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    return _number(text, "a positive number of seconds")


def capability(text: str) -> str:
    """Parse the name of a capability of the agent."""
    from actiondbg.tool.agent_environment import capabilities_without

    try:
        capabilities_without([text], {})
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from None
    return text


def positive_number(text: str) -> float:
    """Parse a positive number."""
    return _number(text, "a positive number")


def non_negative_number(text: str) -> float:
    """Parse a non-negative number."""
    return _number(text, "a non-negative number", or_zero=True)


def percent(text: str) -> float:
    """Parse a non-negative number of per cent, with or without the sign."""
    return _number(text, "a non-negative number of per cent", or_zero=True, unit="%")


def share(text: str) -> float:
    """Parse a number of per cent, at most 100, with or without the sign."""
    noun = "a number of per cent, 0 to 100"
    return _number(text, noun, or_zero=True, unit="%", most=100)


def _integer(
    text: str, noun: str, *, prefix: str = "", least: int = 0, most: float = math.inf
) -> int:
    digits = text.removeprefix(prefix)
    if not digits.isdecimal() or not least <= int(digits) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {noun}")
    return int(digits)


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
