"""The lines of printed IR, by the numbers that MLIR's printer gives to operations.

The printer counts the newlines that it writes itself. An attribute or type of a dialect that is not
registered is printed as it was written, newlines included, which are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from actiondbg.ir.tokens import COMMENT, STRING

_START = re.compile(rf"{STRING}|{COMMENT}|(?P<start>[#!][\w$.-]*[\w$]<)")
_LINE = re.compile(r"[^\n]*[#!][\w$.-]*[\w$]<[^\n]*")
_BRACKET = re.compile(rf"{STRING}|->|(?P<open>[<(\[{{])|(?P<close>[>)\]}}])|(?P<newline>\n)")


def actual_lines(text: str) -> Callable[[int], int]:
    """Return a function from the printer's number of a line, from 1, to the actual one."""
    spans = _spans(text)
    if not spans:
        return lambda line: line
    raw = {at for start, end in spans for at in range(start, end) if text[at] == "\n"}
    newlines = (match.start() for match in re.finditer("\n", text))
    starts = [1, *(at for at, newline in enumerate(newlines, 2) if newline not in raw)]
    return lambda line: starts[min(line, len(starts)) - 1]


def without_spanning(text: str) -> str:
    """Return a text of the same length without the attributes and types that span lines."""
    parts: list[str] = []
    last = 0
    for start, end in _spans(text):
        parts += (text[last:start], "_" * (end - start))
        last = end
    return "".join((*parts, text[last:])) if parts else text


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where attributes and types of dialects that span lines begin and end."""
    return list(_spanning(text)) if _may_span_lines(text) else []


def _may_span_lines(text: str) -> bool:
    """Whether an attribute or a type may not end on its line: most texts have none."""
    lines = (match.group() for match in _LINE.finditer(text))
    return any(line.count("<") + line.count("->") != line.count(">") for line in lines)


def _spanning(text: str) -> Iterator[tuple[int, int]]:
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
