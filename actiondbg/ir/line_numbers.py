"""The lines of printed IR, by the numbers that MLIR's printer gives to operations.

The printer counts the newlines that it writes itself. An attribute or type of a dialect that is not
registered is printed as it was written, newlines included, which are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from actiondbg.ir.tokens import COMMENT, STRING

_START = re.compile(rf"{STRING}|{COMMENT}|(?P<start>[#!][\w$.-]*[\w$]<)")
_BRACKET = re.compile(rf"{STRING}|->|(?P<open>[<(\[{{])|(?P<close>[>)\]}}])|(?P<newline>\n)")


def actual_lines(text: str) -> Callable[[int], int]:
    """Return a function from the printer's number of a line, from 1, to the actual one."""
    starts = _starts(text)
    if starts is None:
        return lambda line: line
    return lambda line: starts[min(line, len(starts)) - 1]


def actual_range(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the actual first and last line of some lines, given by the printer's numbers."""
    starts = _starts(text)
    if starts is None:
        return first, last
    begin = starts[min(first, len(starts)) - 1]
    return begin, starts[last] - 1 if last < len(starts) else len(text.rstrip("\n").split("\n"))


def _starts(text: str) -> list[int] | None:
    """Return the actual lines of the lines that the printer counts; None if all are counted."""
    spans = list(_spanning(text))
    if not spans:
        return None
    raw = {at for start, end in spans for at in range(start, end) if text[at] == "\n"}
    newlines = (match.start() for match in re.finditer("\n", text))
    return [1, *(at for at, newline in enumerate(newlines, 2) if newline not in raw)]


def without_spanning(text: str) -> str:
    """Return a text of the same length without the attributes and types that span lines."""
    parts: list[str] = []
    last = 0
    for start, end in _spanning(text):
        parts += (text[last:start], "_" * (end - start))
        last = end
    return "".join((*parts, text[last:])) if parts else text


def _spanning(text: str) -> Iterator[tuple[int, int]]:
    """Iterate over where attributes and types of dialects that span lines begin and end."""
    at = 0
    while (match := _START.search(text, at)) is not None:
        at = match.end()
        if not match["start"]:
            continue
        depth, lines = 1, 0
        while depth and (found := _BRACKET.search(text, at)) is not None:
            at = found.end()
            depth += bool(found["open"]) - bool(found["close"])
            lines += bool(found["newline"])
        if lines and not depth:  # else it is cut off, or no attribute
            yield match.start(), at
