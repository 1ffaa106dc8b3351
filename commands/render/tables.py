"""Lines and tables of text that fit a terminal."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r"(\s*)(\S+)")
_COLUMN = re.compile(r"(?<=\S)\s{2,}(?=\S)")  # what separates the columns of a line
_HEAD_SHARE = 0.6  # of the width, up to which the last column begins right of the others
_BELOW = 4  # the indentation of a last column that begins further to the right


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] | None = None) -> list[str]:
    """Return the lines of a table, whose columns have two blanks between them.

    Args:
        left: the indices of the columns that are aligned left; None for the last. The others are
            aligned right.
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    signs = ["<" if at in (left or (len(columns) - 1,)) else ">" for at in range(len(columns))]
    return [
        "  ".join(
            f"{cell:{sign}{width}}" for cell, sign, width in zip(row, signs, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def fitted(text: str, width: int | None) -> str:
    """Return a text whose lines are broken at words to fit a width; None for no limit."""
    if width is None:
        return text
    return "\n".join(row for line in text.split("\n") for row in wrapped(line, width))


def wrapped(line: str, width: int) -> list[str]:
    """Break a line at words.

    The rows after the first begin below the last column, where it begins in the left half of the
    line, else a little to the right of the line's beginning. Escape sequences take no columns.
    """
    plain = _plain(line)
    if len(plain) <= width:
        return [line]
    hang, last = _hanging(plain, width)
    rows: list[str] = []
    row, used, seen = "", 0, 0
    for gap, word in _WORD.findall(line.rstrip()):
        length = len(_plain(word))
        seen += len(gap)
        # The last column moves as a whole to the next row, if it fits there.
        rest = len(plain) - seen if seen == last and len(plain) - last <= width - hang else length
        if used > hang and used + len(gap) + rest > width:
            rows.append(row)
            row, used = f"{' ' * hang}{word}", hang + length
        else:
            row, used = f"{row}{gap}{word}", used + len(gap) + length
        seen += length
    return [*rows, row]


def _plain(text: str) -> str:
    return _ESCAPE.sub("", text)


def _hanging(plain: str, width: int) -> tuple[int, int]:
    """Return the indentation of the rows after the first, and where the last column begins."""
    unmarked = re.sub(r"^-->|^->", lambda mark: " " * len(mark[0]), plain)
    columns = [found.end() for found in _COLUMN.finditer(unmarked)]
    indentation = len(unmarked) - len(unmarked.lstrip())
    if not columns:
        return indentation + 2, 0
    in_reach = [column for column in columns if column <= width * _HEAD_SHARE]
    if columns[-1] in in_reach:
        return columns[-1], columns[-1]
    is_table = len(columns) > 1
    return _BELOW if is_table else indentation + 2, columns[-1]


def rows(facts: Mapping[str, object]) -> list[str]:
    """Return aligned lines of names and values; None values are omitted."""
    width = max((len(name) for name in facts), default=0)
    return [
        f"{name:<{width}}  {_value(value)}" for name, value in facts.items() if value is not None
    ]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
