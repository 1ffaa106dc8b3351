"""Reports as CSV files, and back: the dispatch profiler's columns first, then what it lacks."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.columns import (
    COLUMNS,
    CONFIGURATION,
    EVENT,
    PROVIDER,
    VERIFICATION,
    Column,
    columns_between,
    columns_of,
    integer,
    keyed,
)
from actiondbg.kernels.results.entry import Compilation, Entry, Verification
from actiondbg.support.counts import counted

_LARGEST_CELL = 1 << 24  # of a map of wrong elements
_RECORDS = {"verification": Verification, "compilation": Compilation}
_NEEDED = frozenset({VERIFICATION, "dispatch", "kind", "operation", "repetitions_s"})


def _columns_in(header: Sequence[str]) -> list[Column] | None:
    """Return the columns of a header, or None if it is not that of a report.

    Another version of actiondbg may lack columns, which are the last ones here, or have further
    ones.
    """
    names = list(header)
    if names.count(PROVIDER) != 1 or names.count(CONFIGURATION) != 1 or VERIFICATION not in names:
        return None
    last = names.index(VERIFICATION)
    first, second = names.index(PROVIDER), names.index(CONFIGURATION)
    if not first < second < last or not set(names[last:]) >= _NEEDED:
        return None
    found = columns_between(names[:first], names[first + 1 : second], names[second + 1 : last])
    known = {column.name: column for column in COLUMNS}
    for name in names[last:]:
        if name.startswith(EVENT):
            found += keyed("counts", [name.removeprefix(EVENT)])
        else:
            found.append(known.pop(name, None) or Column(name, lambda _: None))
    return [*found, *known.values()]


def _entry(cells: Sequence[str], columns: Sequence[Column]) -> Entry:
    """Return the entry of the cells of a line; what its version lacks is empty.

    Raises:
        ActiondbgError: a cell is not a number of at least 0; the message begins with the column.
    """
    fields: dict[str, Any] = {}
    padded = [*cells, *[""] * (len(columns) - len(cells))]
    for column, cell in zip(columns, padded, strict=True):
        if not column.field:
            continue
        owner, dot, key = column.field.partition(".")
        value = _read(column, cell)
        if not dot:
            fields[owner] = value
        elif owner in _RECORDS or value not in ("", None):
            fields.setdefault(owner, {})[key] = value
    for name, kind in _RECORDS.items():
        fields[name] = kind(**fields[name])
    return Entry(**fields)


def _read(column: Column, cell: str) -> object:
    try:
        return column.read(cell)
    except ValueError:
        kind = "an integer" if column.read is integer else "a finite number"
        raise ActiondbgError(
            f"column {column.name!r}: {cell!r} is not {kind} of at least 0"
        ) from None


def to_csv(entries: Sequence[Entry]) -> str:
    """Return a report as CSV; see ``columns_of``."""
    columns = columns_of(entries)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for entry in entries:
        cells = (column.value(entry) for column in columns)
        writer.writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue()


def read_csv(path: Path) -> list[Entry]:
    """Return the entries of a CSV file.

    Raises:
        ActiondbgError: the file is not a report of actiondbg, or damaged.
        OSError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ActiondbgError(f"{str(path)!r} is not a CSV file: it is not text.") from error
    limit = csv.field_size_limit(_LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, list[str]())
        columns = _columns_in(header)
        if columns is None:
            raise ActiondbgError(
                f"{str(path)!r} is not a report of actiondbg kernels: its columns are "
                f"{_shown(header)}; name a CSV file that --output wrote."
            )
        entries: list[Entry] = []
        for cells in filter(None, reader):
            place = f"{str(path)!r}, line {reader.line_num}"
            if len(cells) != len(header):
                raise ActiondbgError(
                    f"{place}: {counted(len(cells), 'cell')}, but the header has "
                    f"{counted(len(header), 'column')}."
                )
            try:
                entries.append(_entry(cells, columns))
            except ActiondbgError as error:
                raise ActiondbgError(f"{place}, {error}.") from error
        return entries
    except csv.Error as error:
        raise ActiondbgError(f"{str(path)!r}, line {reader.line_num}: {error}.") from error
    finally:
        csv.field_size_limit(limit)


def _shown(header: Sequence[str]) -> str:
    names = ", ".join(header[:4])
    return f"{names}, ..." if len(header) > 4 else names or "missing"
