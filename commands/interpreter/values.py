"""Parsers of argument values; their errors quote the word."""

from __future__ import annotations

import argparse
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
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def index(text: str) -> int:
    """Parse a non-negative integer."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative integer")
    return int(text)


def operation_id(text: str) -> int:
    """Parse an operation id, such as 12 or @12."""
    digits = text.removeprefix("@")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an operation id, such as @12")
    return int(digits)


def ordinal(text: str) -> int:
    """Parse an ordinal, such as 17 or #17."""
    digits = text.removeprefix("#")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an ordinal, such as #17")
    return int(digits)


def boolean(text: str) -> bool:
    """Parse true or false, also as 1, 0, yes, no, on or off, in any case."""
    words = {"true": True, "1": True, "yes": True, "on": True}
    words |= {"false": False, "0": False, "no": False, "off": False}
    if text.lower() not in words:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return words[text.lower()]


def bucket_count(text: str) -> int:
    """Parse a number of quantile buckets."""
    if not text.isdecimal() or not 2 <= int(text) <= _MOST_BUCKETS:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer from 2 to {_MOST_BUCKETS}")
    return int(text)


def milliseconds(text: str) -> float:
    """Parse a non-negative number of milliseconds."""
    value = _number(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a non-negative number of milliseconds")
    return value


def seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return value


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
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _number(text: str) -> float:
    """Return a number; -1 for another text."""
    try:
        return float(text)
    except ValueError:
        return -1.0
