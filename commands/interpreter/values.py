"""Values of arguments, parsed from words; an error says what was wrong with the word."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def one_of(words: tuple[str, ...]) -> Callable[[str], str]:
    """Return what parses one of some words, or a unique prefix of one."""

    def parse(text: str) -> str:
        matches = [word for word in words if word.startswith(text)]
        if text not in words and len(matches) != 1:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(words)}")
        return text if text in words else matches[0]

    return parse


def positive(text: str) -> int:
    """Parse a number from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def index(text: str) -> int:
    """Parse a number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0")
    return int(text)


def operation_id(text: str) -> int:
    """Parse an operation's id, a number from 1 with or without its @."""
    digits = text.removeprefix("@")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an operation's id, such as @12")
    return int(digits)


def ordinal(text: str) -> int:
    """Parse an action's ordinal, a number from 1 with or without its #."""
    digits = text.removeprefix("#")
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not an ordinal, such as #17")
    return int(digits)
