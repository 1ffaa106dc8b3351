"""Profiles as CSV: Tracy's export, and counts of dispatches.

Tracy's ``tracy-csvexport`` writes one row for each zone (``name``, ``src_file``, ``src_line``,
``total_ns``, ``counts``), or with ``-u`` one for each time that it was entered (``exec_time_ns``).
``actiondbg kernels count --csv`` writes one row for each call (``dispatch``, ``duration_ns``) or
function (``total_ns``, ``calls``); other counters of dispatches use names of their own choice.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actiondbg.errors import ActiondbgError
from actiondbg.lineage.performance.profiles.profile import Entry, Frame, Profile, summed

# By the column of the time, in the order of preference: a total before a mean.
_UNITS = {
    "total_ns": "ns",
    "duration_ns": "ns",
    "exec_time_ns": "ns",
    "time_ns": "ns",
    "ns": "ns",
    "total_us": "us",
    "duration_us": "us",
    "time_us": "us",
    "us": "us",
    "total_ms": "ms",
    "time_ms": "ms",
    "ms": "ms",
    "seconds": "s",
    "total_s": "s",
    "time_s": "s",
    "s": "s",
    "cycles": "cycles",
    "time": "s",
    "total": "s",
}
_NAMES = ("dispatch", "function", "kernel", "entry_point", "symbol", "name")
_COUNTS = ("counts", "count", "calls", "workgroups", "invocations")
_SEPARATORS = (",", ";", "\t", "|")
_DIGITS = 18  # of the largest count
_TRACY = ("src_file", "src_line")


class _Columns(NamedTuple):
    """The positions of columns; -1 for one that is absent."""

    name: int
    time: int
    occurrences: int
    file: int
    line: int


def is_table(text: str) -> bool:
    """Whether the first line of a file names a column of times, or one of names."""
    header = _header(_lines(text))
    return any(one in header for one in (*_UNITS, *_NAMES))


def read_table(text: str, name: str) -> Profile:
    """Read a CSV with a header.

    Args:
        text: the CSV; its columns are separated by commas, semicolons, tabs or bars.
        name: the file, for messages.

    Raises:
        ActiondbgError: it lacks a column, or a time is not a number.
    """
    lines = _lines(text)
    header = _header(lines)
    rows = csv.reader(lines[1:], delimiter=_separator(lines))
    unit, columns = _columns(header, name)
    is_tracy = set(_TRACY) <= set(header)
    try:
        entries = summed(_entries(rows, columns, name))
    except csv.Error as error:
        raise ActiondbgError(f"{name!r} is not valid CSV ({error}): write it anew.") from error
    return Profile("Tracy's CSV" if is_tracy else "CSV", unit, entries)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _separator(lines: Sequence[str]) -> str:
    return max(_SEPARATORS, key=lines[0].count) if lines else ","


def _header(lines: Sequence[str]) -> list[str]:
    """Return the names of the columns."""
    if not lines or len(lines[0]) > csv.field_size_limit():
        return []
    rows = csv.reader(lines[:1], delimiter=_separator(lines))
    return [one.strip().lower() for one in next(rows, list[str]())]


def _columns(header: Sequence[str], name: str) -> tuple[str, _Columns]:
    """Return the unit and the columns."""

    def of(names: Sequence[str]) -> int:
        return next((header.index(one) for one in names if one in header), -1)

    time, label = of(tuple(_UNITS)), of(_NAMES)
    if time < 0 or label < 0:
        missing = "a time" if time < 0 else "a name"
        known = ", ".join(_UNITS if time < 0 else _NAMES)
        raise ActiondbgError(
            f"{name!r} has no column of {missing} (it has {', '.join(header) or 'none'}): "
            f"name one {known}."
        )
    columns = _Columns(label, time, of(_COUNTS), of(_TRACY[:1]), of(_TRACY[1:]))
    return _UNITS[header[time]], columns


def _entries(rows: Iterator[list[str]], columns: _Columns, name: str) -> Iterator[Entry]:
    for number, row in enumerate(rows, 2):

        def cell(column: int, row: list[str] = row) -> str:
            return row[column].strip() if 0 <= column < len(row) else ""

        try:
            time = float(cell(columns.time))
        except ValueError:
            time = math.nan
        if not math.isfinite(time) or time < 0:
            raise ActiondbgError(
                f"Row {number} of {name!r} has the time {cell(columns.time)!r}: give a number "
                "from 0."
            )
        line, count = cell(columns.line), cell(columns.occurrences)
        frame = Frame(cell(columns.name), cell(columns.file), _whole(line, 0))
        yield Entry(time, (frame,), _whole(count, 1))


def _whole(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else otherwise
