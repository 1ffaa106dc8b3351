"""Reports as CSV files, and back: the dispatch profiler's columns first, then what it lacks."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.entry import Compilation, Entry, Verification
from actiondbg.support.counts import counted

Value = str | int | float | None

# The borders of the columns that differ from report to report.
PROVIDER, CONFIGURATION, VERIFICATION = "Provider", "Configuration", "Verification"
_EVENT = "event:"  # before the name of an event, in the last columns
_BETWEEN = " | "  # the first wrong elements in one cell
_LARGEST_CELL = 1 << 24  # of a map of wrong elements
_RECORDS = {"verification": Verification, "compilation": Compilation}


@dataclass(frozen=True)
class Column:
    """A column of a report.

    Attributes:
        name: in the header.
        value: of an entry.
        field: of an entry, or ``mapping.key`` or ``record.field`` of what an entry has, that has
            the value; "" if it follows from other columns: then it is not read back.
        read: returns the field's value of a cell.
        prefix: of the name, where names are unique and another column has this one.
    """

    name: str
    value: Callable[[Entry], Value]
    field: str = ""
    read: Callable[[str], object] = str
    prefix: str = ""


def _stored(name: str, field: str = "", read: Callable[[str], object] = str) -> Column:
    """Return the column of a field, by default that of the same name."""
    return Column(name, attrgetter(field or name), field or name, read)


def _checked(name: str, field: str, read: Callable[[str], object]) -> Column:
    """Return the column of a field of the verification, empty if no result was compared."""

    def value(entry: Entry) -> Value:
        return getattr(entry.verification, field) if entry.verification.total else None

    return Column(name, value, f"verification.{field}", read)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds * 1e3:.6g}")


def _short(value: float | None) -> float | None:
    """Round a derived number to the digits that a measurement has."""
    return None if value is None else float(f"{value:.5g}")


def _integer(cell: str) -> int:
    return int(cell or 0)


def _numbers(cell: str) -> tuple[float, ...]:
    return tuple(float(word) for word in cell.split())


def _number(cell: str) -> float | None:
    return next(iter(_numbers(cell)), None)


def _sentences(cell: str) -> tuple[str, ...]:
    return tuple(cell.split(_BETWEEN)) if cell else ()


def _escaped(lines: str) -> str:
    """Return lines as one, so that a line of the file is an entry."""
    return lines.replace("\\", "\\\\").replace("\n", "\\n")


def _unescaped(text: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))


COLUMNS = (
    _stored(VERIFICATION, "verification.verdict"),  # one of a later version is kept as it is
    Column("Runtime(ms)", lambda entry: _milliseconds(entry.least)),
    Column("GFLOPs", lambda entry: _short(entry.gflops)),
    _stored("dispatch"),
    _stored("kind"),
    _stored("operation"),
    _stored("config_applied", "compilation.config_applied"),
    Column("min_ms", lambda entry: _milliseconds(entry.least)),
    Column("median_ms", lambda entry: _milliseconds(entry.middle)),
    Column("max_ms", lambda entry: _milliseconds(max(entry.seconds, default=None))),
    Column("repetitions_s", lambda it: " ".join(map(repr, it.seconds)), "seconds", _numbers),
    _stored("confirmed_s", "confirmed", _number),
    _stored("call_s", "call_seconds", _number),
    Column("switches", lambda it: it.switches if it.seconds else None, "switches", _integer),
    _stored("flops", read=_integer),
    _stored("bytes", read=_integer),
    Column("bytes_per_second", lambda entry: _short(entry.bandwidth)),
    Column("flops_per_byte", lambda entry: _short(entry.intensity)),
    _stored("peak_gflops", read=_number),
    _stored("peak_bytes_per_second", "peak_bandwidth", _number),
    Column("percent_of_peak", lambda entry: _short(entry.percent_of_peak)),
    Column("percent_of_roof", lambda entry: _short(entry.percent_of_roof)),
    _stored("comparison", "verification.method"),
    _checked("error_ratio", "error_ratio", lambda cell: _number(cell) or 0.0),
    _checked("wrong", "wrong", _integer),
    _checked("elements", "total", _integer),
    Column(
        "first_wrong",
        lambda entry: _BETWEEN.join(entry.verification.first),
        "verification.first",
        _sentences,
    ),
    Column("map", lambda entry: _escaped(entry.verification.map), "verification.map", _unescaped),
    _stored("detail", "verification.detail"),
    _stored("compile_seconds", "compilation.seconds", _number),
    _stored("compile_error", "compilation.error"),
    _stored("config_detail", "compilation.detail"),
    _stored("culprit"),
    _stored("culprit_folder"),
)
_NEEDED = frozenset({VERIFICATION, "dispatch", "kind", "operation", "repetitions_s"})
FIXED = (PROVIDER, CONFIGURATION, *(column.name for column in COLUMNS))
_PREFIXES = {"tags": "tag_", "parameters": "config_"}


def _keyed(mapping: str, keys: Iterable[str]) -> Iterator[Column]:
    """Yield a column for each key of a mapping of entries."""
    for key in keys:

        def value(entry: Entry, key: str = key) -> Value:
            return getattr(entry, mapping).get(key)

        field, prefix = f"{mapping}.{key}", _PREFIXES.get(mapping, "")
        if mapping == "counts":
            yield Column(f"{_EVENT}{key}", value, field, _number)
        else:
            yield Column(key, value, field, prefix=prefix)


def _columns(
    tags: Iterable[str], arguments: Iterable[str], parameters: Iterable[str]
) -> list[Column]:
    """Return the columns before those that all reports have."""
    return [
        *_keyed("tags", tags),
        _stored(PROVIDER, "provider"),
        *_keyed("arguments", arguments),
        _stored(CONFIGURATION, "configuration"),
        *_keyed("parameters", parameters),
    ]


def columns_of(entries: Sequence[Entry]) -> list[Column]:
    """Return the columns of entries; those of different kinds have the union of their columns."""

    def keys(mapping: str) -> dict[str, None]:
        return dict.fromkeys(key for entry in entries for key in getattr(entry, mapping))

    first = _columns(keys("tags"), keys("arguments"), keys("parameters"))
    return [*first, *COLUMNS, *_keyed("counts", keys("counts"))]


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
    found = _columns(names[:first], names[first + 1 : second], names[second + 1 : last])
    known = {column.name: column for column in COLUMNS}
    for name in names[last:]:
        if name.startswith(_EVENT):
            found += _keyed("counts", [name.removeprefix(_EVENT)])
        else:
            found.append(known.pop(name, None) or Column(name, lambda _: None))
    return [*found, *known.values()]


def _entry(cells: Sequence[str], columns: Sequence[Column]) -> Entry:
    """Return the entry of the cells of a line; what its version lacks is empty.

    Raises:
        ActiondbgError: a cell is not a number; the message begins with the column.
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
        kind = "an integer" if column.read is _integer else "a number"
        raise ActiondbgError(f"column {column.name!r}: {cell!r} is not {kind}") from None


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
        text = path.read_text(encoding="utf-8")
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
