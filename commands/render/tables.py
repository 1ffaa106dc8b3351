"""Tables of text in columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] | None = None) -> list[str]:
    """Return the lines of a table, whose columns have two blanks between them.

    Args:
        rows: the cells.
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
