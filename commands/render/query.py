"""The result of a query as a table."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import IO, Any

from actiondbg.recording.format.arrow import Reader, Schema
from actiondbg.recording.query.results import text_of, values_of

MOST_ROWS = 1000  # on a terminal
_NARROWEST = 6  # least width of a shortened column
_BETWEEN = "  "  # columns
_NULL = "NULL"
_BOLD, _PLAIN = "\x1b[1m", "\x1b[22m"


def write_table(reader: Reader, out: IO[bytes], most: int | None = None) -> None:
    """Write a result as a table of ``most`` rows, with whole cells; see ``results.write_csv``."""
    values = _rows(reader)
    rows = [[_cell(value) for value in row] for row in islice(values, most)]
    lines = [*_lines(reader.schema, rows, None)]
    if most is not None and next(values, None) is not None:
        lines.append(f"Only {most:,} rows are shown: add a LIMIT.")
    for line in lines:
        out.write(f"{line}\n".encode(errors="backslashreplace"))


def show_table(reader: Reader) -> str | None:
    """Print a result on the terminal; long cells and many rows are truncated.

    Returns:
        The message about omitted rows, or None.
    """
    from actiondbg.commands.render.terminal.output import color_allowed

    names: list[str] = reader.schema.names
    values = list(islice(_rows(reader), MOST_ROWS + 1))
    if len(values) == len(names) == 1:
        print(_text(values[0][0]))
        return None
    rows = [[_cell(value) for value in row] for row in values[:MOST_ROWS]]
    width = shutil.get_terminal_size().columns
    if len(names) * (_NARROWEST + len(_BETWEEN)) > width:
        lines = _records(names, rows)
    else:
        head, *rest = _lines(reader.schema, rows, width)
        bold = color_allowed() and sys.stdout.isatty()
        lines = iter([f"{_BOLD}{head}{_PLAIN}" if bold else head, *rest])
    for line in lines:
        print(line)
    if len(values) > MOST_ROWS:
        return f"Only {MOST_ROWS:,} rows are shown: add a LIMIT, or write all of them with -o FILE."
    return None


def _lines(schema: Schema, rows: Sequence[Sequence[str]], most: int | None) -> Iterator[str]:
    """Yield the lines of a table, at most ``most`` cells wide."""
    from rich.cells import cell_len

    names: list[str] = schema.names
    widths = [max(map(cell_len, column)) for column in zip(names, *rows, strict=True)]
    if most is not None:
        widths = _narrowed(widths, most - len(_BETWEEN) * (len(widths) - 1))
    columns = list(zip(widths, _are_numbers(schema), strict=True))
    for row in (names, ["-" * width for width in widths], *rows):
        cells = (_fit(cell, *column) for cell, column in zip(row, columns, strict=True))
        yield _BETWEEN.join(cells).rstrip()


def _fit(text: str, width: int, to_the_right: bool) -> str:
    from rich.cells import cell_len, set_cell_size

    blanks = width - cell_len(text)
    if blanks < 0:
        return f"{set_cell_size(text, width - 1)}…"
    return " " * blanks + text if to_the_right else text + " " * blanks


def _narrowed(widths: Sequence[int], most: int) -> list[int]:
    """Narrow the widest columns until all columns fit."""
    width = max(widths)
    while width > _NARROWEST and sum(min(each, width) for each in widths) > most:
        width -= 1
    return [min(each, width) for each in widths]


def _records(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with too many columns for a table, one column a line."""
    width = max(map(len, names))
    for number, row in enumerate(rows, start=1):
        yield f"--- row {number}"
        for name, cell in zip(names, row, strict=True):
            yield f"{name:>{width}}{_BETWEEN}{cell}"


def _rows(reader: Reader) -> Iterator[tuple[object, ...]]:
    for batch in reader:
        yield from zip(*map(values_of, batch.columns), strict=True)


def _are_numbers(schema: Schema) -> list[bool]:
    types: Any = import_module("pyarrow.types")
    is_number = (types.is_integer, types.is_floating, types.is_decimal)
    return [any(is_one(field.type) for is_one in is_number) for field in schema]


def _text(value: object) -> str:
    if value is None:
        return _NULL
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"
    return value if isinstance(value, str) else text_of(value)


def _cell(value: object) -> str:
    """Return a value as one line."""
    text = _text(value)
    if text.isprintable():
        return text
    marks = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return "".join(c if c.isprintable() else marks.get(c, f"\\x{ord(c):02x}") for c in text)
