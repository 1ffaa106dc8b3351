"""Reports as CSV files, and back: the dispatch profiler's columns first, then what it lacks."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.entry import Compilation, Entry, Verification
from actiondbg.support.counts import counted

_T = TypeVar("_T")
Value = str | int | float | None
Groups = tuple[list[str], list[str], list[str], list[str]]

# The borders of the groups of columns that differ from report to report.
PROVIDER, CONFIGURATION, VERIFICATION = "Provider", "Configuration", "Verification"
_EVENT = "event:"  # before the name of an event, in the last columns
_BETWEEN = " | "  # the first wrong elements in one cell
_LARGEST_CELL = 1 << 24  # of a map of wrong elements


@dataclass(frozen=True)
class Column:
    """A column that all reports have.

    Attributes:
        name: in the header.
        value: of an entry.
        field: of an entry, or of its compilation or verification, that has the value; "" if it
            follows from other columns: then it is not read back.
        read: returns the field's value of a cell.
    """

    name: str
    value: Callable[[Entry], Value]
    field: str = ""
    read: Callable[[str], object] = str


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


def groups_of(entries: Sequence[Entry]) -> Groups:
    """Return the names of tags, arguments, parameters and events of all entries, each once."""

    def names(group: Callable[[Entry], Mapping[str, object]]) -> list[str]:
        return list(dict.fromkeys(name for entry in entries for name in group(entry)))

    return (
        names(lambda entry: entry.tags),
        names(lambda entry: entry.arguments),
        names(lambda entry: entry.parameters),
        names(lambda entry: entry.counts),
    )


def header_of(groups: Groups) -> list[str]:
    """Return the names of the columns; a name can be that of an argument and of a parameter."""
    tags, arguments, parameters, events = groups
    last = last_columns(events)
    return [*tags, PROVIDER, *arguments, CONFIGURATION, *parameters, *last]


def last_columns(events: Sequence[str]) -> list[str]:
    """Return the names of the columns that all reports have, and those of events."""
    return [*(column.name for column in COLUMNS), *(f"{_EVENT}{name}" for name in events)]


def values_of(entry: Entry, groups: Groups) -> list[Value]:
    """Return the values of an entry, in the order of the header."""
    tags, arguments, parameters, events = groups
    return [
        *(entry.tags.get(name) for name in tags),
        entry.provider,
        *(entry.arguments.get(name) for name in arguments),
        entry.configuration,
        *(entry.parameters.get(name) for name in parameters),
        *(column.value(entry) for column in COLUMNS),
        *(entry.counts.get(name) for name in events),
    ]


def split_header(header: Sequence[str]) -> Groups | None:
    """Return the groups of a header, or None if it is not that of a report.

    Another version of actiondbg may lack columns, or have further ones.
    """
    names = list(header)
    if names.count(PROVIDER) != 1 or names.count(CONFIGURATION) != 1:
        return None
    if VERIFICATION not in names or not set(names[names.index(VERIFICATION) :]) >= _NEEDED:
        return None
    free = names[: names.index(VERIFICATION)]
    if PROVIDER not in free or CONFIGURATION not in free:
        return None
    first, second = free.index(PROVIDER), free.index(CONFIGURATION)
    if second < first:
        return None
    events = [name.removeprefix(_EVENT) for name in names if name.startswith(_EVENT)]
    return free[:first], free[first + 1 : second], free[second + 1 :], events


def entry_from(cells: Sequence[str], header: Sequence[str], groups: Groups) -> Entry:
    """Return the entry of the cells of a line; what its version lacks is empty.

    Raises:
        ActiondbgError: a cell is not a number; the message begins with the column.
    """
    tags, arguments, parameters, events = groups
    rest = iter(cells)

    def given(names: Sequence[str]) -> dict[str, str]:
        pairs = [(name, next(rest)) for name in names]
        return {name: cell for name, cell in pairs if cell}

    tag_cells, provider = given(tags), next(rest)
    argument_cells, configuration = given(arguments), next(rest)
    parameter_cells = given(parameters)
    names = header[header.index(VERIFICATION) :]
    fixed = dict(zip(names, rest, strict=True))
    fields: dict[str, dict[str, Any]] = {"": {}, "compilation": {}, "verification": {}}
    for column in COLUMNS:
        if column.field:
            owner, _, field = column.field.rpartition(".")
            fields[owner][field] = _read(column.name, fixed.get(column.name, ""), column.read)
    counts = {name: _read(f"{_EVENT}{name}", fixed[f"{_EVENT}{name}"], _number) for name in events}
    return Entry(
        provider=provider,
        configuration=configuration,
        arguments=argument_cells,
        parameters=parameter_cells,
        tags=tag_cells,
        counts={name: count for name, count in counts.items() if count is not None},
        verification=Verification(**fields["verification"]),
        compilation=Compilation(**fields["compilation"]),
        **fields[""],
    )


def _read(name: str, cell: str, read: Callable[[str], _T]) -> _T:
    try:
        return read(cell)
    except ValueError:
        kind = "an integer" if read is _integer else "a number"
        raise ActiondbgError(f"column {name!r}: {cell!r} is not {kind}") from None


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
