"""Reports as CSV files, and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.columns import (
    Groups,
    entry_from,
    groups_of,
    header_of,
    split_header,
    values_of,
)
from actiondbg.kernels.results.entry import Entry
from actiondbg.support.counts import counted

_LARGEST_CELL = 1 << 24  # of a map of wrong elements


def to_csv(entries: Sequence[Entry]) -> str:
    """Return a report as CSV; entries of different kinds have the union of their columns."""
    groups = groups_of(entries)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header_of(groups))
    for entry in entries:
        writer.writerow(["" if cell is None else cell for cell in values_of(entry, groups)])
    return text.getvalue()


def read_csv(path: Path) -> list[Entry]:
    """Return the entries of a CSV file.

    Raises:
        ActiondbgError: the file is not a report of actiondbg, or damaged.
        OSError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ActiondbgError(f"{str(path)!r} is not a CSV file: it is not text.") from error
    limit = csv.field_size_limit(_LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        header = next(reader, list[str]())
        groups = split_header(header)
        if groups is None:
            raise ActiondbgError(
                f"{str(path)!r} is not a report of actiondbg kernels: its columns are "
                f"{_shown(header)}; name a CSV file that --output wrote."
            )
        return [_entry(path, reader.line_num, cells, groups, header) for cells in reader if cells]
    except csv.Error as error:
        raise ActiondbgError(f"{str(path)!r}, line {reader.line_num}: {error}.") from error
    finally:
        csv.field_size_limit(limit)


def _entry(path: Path, line: int, cells: list[str], groups: Groups, header: list[str]) -> Entry:
    place = f"{str(path)!r}, line {line}"
    if len(cells) != len(header):
        raise ActiondbgError(
            f"{place}: {counted(len(cells), 'cell')}, but the header has "
            f"{counted(len(header), 'column')}."
        )
    try:
        return entry_from(cells, header, groups)
    except ActiondbgError as error:
        raise ActiondbgError(f"{place}, {error}.") from error


def _shown(header: Sequence[str]) -> str:
    names = ", ".join(header[:4])
    return f"{names}, ..." if len(header) > 4 else names or "missing"
