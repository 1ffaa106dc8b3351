"""The operands and the attributes of an operation in the generic form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from actiondbg.ir.tokens import CHARACTERS, RESULTS, STRING, unescaped

_TOKEN = re.compile(rf"{STRING}|->|[<>]=|[()\[\]{{}}<>,]|[^\"()\[\]{{}}<>,-]+|.", re.S)
_HEAD = re.compile(rf"\s*(?:{RESULTS})?{STRING}")
_NAME = re.compile(rf'\s*(?:"({CHARACTERS})"|([\w.$]+))(?:\s*=(?!=)|\s*$)')
_OPEN, _CLOSE = "([{<", ")]}>"


def attributes_of(text: str) -> list[tuple[str, str]]:
    """Return the names and values of the attributes and properties of an operation in generic form.

    A unit attribute has an empty value.
    """
    head = _HEAD.match(text)
    if head is None:
        return []
    found: list[tuple[str, str]] = []
    for group in _groups(text, head.end()):
        if group.startswith("<{"):
            found += _entries(group[2:-2])
        elif group.startswith("{"):
            found += _entries(group[1:-1])
    return found


def operands_of(text: str) -> list[str]:
    """Return the names of the operands of an operation in the generic form, by index."""
    head = _HEAD.match(text)
    if head is None:
        return []
    operands = next(_groups(text, head.end()), "")
    return [each.strip() for each in operands[1:-1].split(",") if each.strip()]


def _groups(text: str, start: int) -> Iterator[str]:
    """Yield the bracketed parts of an operation, up to its type."""
    depth = 0
    first = start
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        if token in _OPEN:
            first = match.start() if not depth else first
            depth += 1
        elif token in _CLOSE:
            depth -= 1
            if not depth:
                yield text[first : match.end()]
        elif not depth and token.strip():
            return


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of a dictionary."""
    depth, start = 0, 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
        elif token == "," and not depth:
            yield _entry(text[start : match.start()])
            start = match.end()
    if text[start:].strip():
        yield _entry(text[start:])


def _entry(text: str) -> tuple[str, str]:
    entry = _NAME.match(text)
    if entry is None:
        return text.strip(), ""
    name = entry[2] or unescaped(entry[1])
    return name, text[entry.end() :].strip()
