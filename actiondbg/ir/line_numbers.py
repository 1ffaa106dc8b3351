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
    raw = set(_raw_newlines(text)) if _may_span_lines(text) else set[int]()
    if not raw:
        return lambda line: line
    newlines = (match.start() for match in re.finditer("\n", text))
    starts = [1, *(at for at, newline in enumerate(newlines, 2) if newline not in raw)]
    return lambda line: starts[min(line, len(starts)) - 1]


def _may_span_lines(text: str) -> bool:
    """Whether an attribute or a type may not end on its line: most texts have none."""
    lines = (match.group() for match in _LINE.finditer(text))
    return any(line.count("<") + line.count("->") != line.count(">") for line in lines)


def _raw_newlines(text: str) -> Iterator[int]:
    """Iterate over the places of newlines inside of attributes and types of dialects."""
    at = 0
    while (match := _START.search(text, at)) is not None:
        at = match.end()
        if not match["start"]:
            continue
        depth, newlines = 1, list[int]()
        while depth and (found := _BRACKET.search(text, at)) is not None:
            at = found.end()
            depth += bool(found["open"]) - bool(found["close"])
            if found["newline"]:
                newlines.append(found.start())
        if not depth:  # else it is cut off, or no attribute
            yield from newlines
