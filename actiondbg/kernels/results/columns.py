"""The columns of reports: of files of values, CSV and Parquet, and of tables for readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Any, Generic, TypeVar

from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.words import Weight, bandwidth, digits, milliseconds, notes

RowT = TypeVar("RowT")
NumberT = TypeVar("NumberT", int, float)
Value = str | int | float | None

# The borders of the columns that differ from report to report.
PROVIDER, CONFIGURATION, VERIFICATION = "Provider", "Configuration", "Verification"
EVENT = "event:"  # before the name of an event, in the last columns
_BETWEEN = " | "  # the first wrong elements in one cell


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


def integer(cell: str) -> int:
    """Read a count, 0 if the cell is empty.

    Raises:
        ValueError: the cell is no integer, or a negative one.
    """
    return _least_zero(int(cell or 0))


def _numbers(cell: str) -> tuple[float, ...]:
    """Read times or rates.

    Raises:
        ValueError: one is no number, or negative, infinite or NaN, with which nothing compares.
    """
    return tuple(_least_zero(float(word)) for word in cell.split())


def _ratio(cell: str) -> float:
    """Read the ratio of an error, which is infinite if the error is."""
    return inf if cell == str(inf) else _number(cell) or 0.0


def _least_zero(number: NumberT) -> NumberT:
    if not 0 <= number < inf:
        raise ValueError(number)
    return number


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
    Column("switches", lambda it: it.switches if it.seconds else None, "switches", integer),
    _stored("flops", read=integer),
    _stored("bytes", read=integer),
    Column("bytes_per_second", lambda entry: _short(entry.bandwidth)),
    Column("flops_per_byte", lambda entry: _short(entry.intensity)),
    _stored("peak_gflops", read=_number),
    _stored("peak_bytes_per_second", "peak_bandwidth", _number),
    Column("percent_of_peak", lambda entry: _short(entry.percent_of_peak)),
    Column("percent_of_roof", lambda entry: _short(entry.percent_of_roof)),
    _stored("comparison", "verification.method"),
    _checked("error_ratio", "error_ratio", _ratio),
    _checked("wrong", "wrong", integer),
    _checked("elements", "total", integer),
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
FIXED = (PROVIDER, CONFIGURATION, *(column.name for column in COLUMNS))
_PREFIXES = {"tags": "tag_", "parameters": "config_"}


def keyed(mapping: str, keys: Iterable[str]) -> Iterator[Column]:
    """Yield a column for each key of a mapping of entries."""
    for key in keys:

        def value(entry: Entry, key: str = key) -> Value:
            return getattr(entry, mapping).get(key)

        field, prefix = f"{mapping}.{key}", _PREFIXES.get(mapping, "")
        if mapping == "counts":
            yield Column(f"{EVENT}{key}", value, field, _number)
        else:
            yield Column(key, value, field, prefix=prefix)


def columns_between(
    tags: Iterable[str], arguments: Iterable[str], parameters: Iterable[str]
) -> list[Column]:
    """Return the columns before those that all reports have."""
    return [
        *keyed("tags", tags),
        _stored(PROVIDER, "provider"),
        *keyed("arguments", arguments),
        _stored(CONFIGURATION, "configuration"),
        *keyed("parameters", parameters),
    ]


def columns_of(entries: Sequence[Entry]) -> list[Column]:
    """Return the columns of entries; those of different kinds have the union of their columns."""

    def keys(mapping: str) -> dict[str, None]:
        return dict.fromkeys(key for entry in entries for key in getattr(entry, mapping))

    first = columns_between(keys("tags"), keys("arguments"), keys("parameters"))
    return [*first, *COLUMNS, *keyed("counts", keys("counts"))]


# --- tables ------------------------------------------------------------------------


@dataclass(frozen=True)
class TableColumn(Generic[RowT]):
    """A column of the tables for readers, in a terminal, in Markdown and in HTML.

    Attributes:
        value: of a row: words, or a number.
        words: of a number; None if the values are words.
        short: of a number, where it has fewer digits in tables of text.
        only_page: whether only HTML has it.
    """

    heading: str
    value: Callable[[RowT], Any]
    words: Callable[[Any], str] | None = None
    short: Callable[[Any], str] | None = None
    only_page: bool = False

    @property
    def is_number(self) -> bool:
        return self.words is not None

    def text(self, row: RowT) -> str:
        """Return the cell of a table of text."""
        value, words = self.value(row), self.short or self.words
        if words is None:
            return value
        return "-" if value is None else words(value)


PAGE_TABLE: tuple[TableColumn[Entry], ...] = (
    TableColumn("dispatch", attrgetter("dispatch")),
    TableColumn("kind", attrgetter("kind"), only_page=True),
    TableColumn("provider", attrgetter("provider"), only_page=True),
    TableColumn("verified", attrgetter("verification.verdict")),
    TableColumn("ms", attrgetter("least"), milliseconds),
    TableColumn("to ms", lambda it: max(it.seconds, default=None), milliseconds, only_page=True),
    TableColumn(
        "call ms", attrgetter("call_seconds"), milliseconds, lambda it: digits(it * 1e3, 2)
    ),
    TableColumn("GFLOP/s", attrgetter("gflops"), digits),
    TableColumn("% of peak", attrgetter("percent_of_peak"), digits, lambda it: digits(it, 2)),
    TableColumn("% of roof", attrgetter("percent_of_roof"), digits, only_page=True),
    TableColumn("bytes/s", attrgetter("bandwidth"), bandwidth, only_page=True),
    TableColumn("applied", attrgetter("compilation.config_applied"), only_page=True),
    TableColumn("notes", notes),
)
TABLE = tuple(each for each in PAGE_TABLE if not each.only_page)

SHARES: tuple[TableColumn[Weight], ...] = (
    TableColumn("share", attrgetter("share"), "{:.1f} %".format),
    TableColumn("total ms", attrgetter("seconds"), milliseconds),
    TableColumn("count", attrgetter("count"), "{:,}".format),
    TableColumn("ms", lambda it: it.entry.least or 0.0, milliseconds),
    TableColumn("operation", attrgetter("entry.operation")),
    TableColumn("configuration", attrgetter("entry.configuration")),
)


def text_rows(columns: Sequence[TableColumn[RowT]], rows: Iterable[RowT]) -> list[list[str]]:
    """Return the headings and the cells of a table of text."""
    return [[each.heading for each in columns], *([it.text(row) for it in columns] for row in rows)]


def word_columns(columns: Sequence[TableColumn[RowT]]) -> list[int]:
    """Return the indices of the columns that are aligned left."""
    return [at for at, each in enumerate(columns) if not each.is_number]
