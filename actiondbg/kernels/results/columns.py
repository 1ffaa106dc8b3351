"""The columns of a report: the dispatch profiler's first, then what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.row import Compilation, Verdict, Verification

Value = str | int | float | None
Groups = tuple[list[str], list[str], list[str], list[str]]

# The borders of the groups of columns that differ from report to report.
PROVIDER, CONFIGURATION, VERIFICATION = "Provider", "Configuration", "Verification"
_EVENT = "event:"  # before the name of an event, in the last columns
_BETWEEN = " | "  # the first wrong elements in one cell


@dataclass(frozen=True)
class Column:
    """A column that all reports have.

    Attributes:
        name: in the header.
        value: of an entry.
        is_derived: whether it follows from other columns: it is not read back.
    """

    name: str
    value: Callable[[Entry], Value]
    is_derived: bool = False


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds * 1e3:.6g}")


def _short(value: float | None) -> float | None:
    """Round a derived number to the digits that a measurement has."""
    return None if value is None else float(f"{value:.5g}")


COLUMNS = (
    Column(VERIFICATION, lambda entry: entry.verification.verdict),
    Column("Runtime(ms)", lambda entry: _milliseconds(entry.least), is_derived=True),
    Column("GFLOPs", lambda entry: _short(entry.gflops), is_derived=True),
    Column("dispatch", lambda entry: entry.dispatch),
    Column("kind", lambda entry: entry.kind),
    Column("operation", lambda entry: entry.operation),
    Column("config_applied", lambda entry: entry.compilation.config_applied),
    Column("min_ms", lambda entry: _milliseconds(entry.least), is_derived=True),
    Column("median_ms", lambda entry: _milliseconds(entry.middle), is_derived=True),
    Column(
        "max_ms", lambda entry: _milliseconds(max(entry.seconds, default=None)), is_derived=True
    ),
    Column("repetitions_s", lambda entry: " ".join(map(repr, entry.seconds))),
    Column("confirmed_s", lambda entry: entry.confirmed),
    Column("call_s", lambda entry: entry.call_seconds),
    Column("switches", lambda entry: entry.switches if entry.seconds else None),
    Column("flops", lambda entry: entry.flops),
    Column("bytes", lambda entry: entry.bytes),
    Column("bytes_per_second", lambda entry: _short(entry.bandwidth), is_derived=True),
    Column("flops_per_byte", lambda entry: _short(entry.intensity), is_derived=True),
    Column("peak_gflops", lambda entry: entry.peak_gflops),
    Column("peak_bytes_per_second", lambda entry: entry.peak_bandwidth),
    Column("percent_of_peak", lambda entry: _short(entry.percent_of_peak), is_derived=True),
    Column("percent_of_roof", lambda entry: _short(entry.percent_of_roof), is_derived=True),
    Column("comparison", lambda entry: entry.verification.method),
    Column("error_ratio", lambda entry: _checked(entry, entry.verification.error_ratio)),
    Column("wrong", lambda entry: _checked(entry, entry.verification.wrong)),
    Column("elements", lambda entry: _checked(entry, entry.verification.total)),
    Column("first_wrong", lambda entry: _BETWEEN.join(entry.verification.first)),
    Column("map", lambda entry: _escaped(entry.verification.map)),
    Column("detail", lambda entry: entry.verification.detail),
    Column("compile_seconds", lambda entry: entry.compilation.seconds),
    Column("compile_error", lambda entry: entry.compilation.error),
    Column("config_detail", lambda entry: entry.compilation.detail),
    Column("culprit", lambda entry: entry.culprit),
    Column("culprit_folder", lambda entry: entry.culprit_folder),
)
_NEEDED = frozenset({VERIFICATION, "dispatch", "kind", "operation", "repetitions_s"})
FIXED = (PROVIDER, CONFIGURATION, *(column.name for column in COLUMNS))


def groups_of(entries: Iterable[Entry]) -> Groups:
    """Return the names of tags, arguments, parameters and events of all entries, each once."""
    tags: dict[str, None] = {}
    arguments: dict[str, None] = {}
    parameters: dict[str, None] = {}
    events: dict[str, None] = {}
    for entry in entries:
        tags.update(dict.fromkeys(entry.tags))
        arguments.update(dict.fromkeys(entry.arguments))
        parameters.update(dict.fromkeys(entry.parameters))
        events.update(dict.fromkeys(entry.counts))
    return list(tags), list(arguments), list(parameters), list(events)


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
    empty = dict.fromkeys((column.name for column in COLUMNS), "")
    fixed = _Cells(empty | dict(zip(names, rest, strict=True)))
    counts = {name: fixed.number(f"{_EVENT}{name}") for name in events}
    return Entry(
        dispatch=fixed["dispatch"],
        kind=fixed["kind"],
        operation=fixed["operation"],
        provider=provider,
        configuration=configuration,
        arguments=argument_cells,
        parameters=parameter_cells,
        tags=tag_cells,
        flops=fixed.integer("flops"),
        bytes=fixed.integer("bytes"),
        seconds=fixed.numbers("repetitions_s"),
        switches=fixed.integer("switches"),
        confirmed=fixed.number("confirmed_s"),
        call_seconds=fixed.number("call_s"),
        counts={name: count for name, count in counts.items() if count is not None},
        peak_gflops=fixed.number("peak_gflops"),
        peak_bandwidth=fixed.number("peak_bytes_per_second"),
        verification=_verification(fixed),
        compilation=Compilation(
            fixed.number("compile_seconds"),
            fixed["config_applied"],
            fixed["compile_error"],
            fixed["config_detail"],
        ),
        culprit=fixed["culprit"],
        culprit_folder=fixed["culprit_folder"],
    )


def _verification(fixed: _Cells) -> Verification:
    first = fixed["first_wrong"]
    return Verification(
        # A verdict of a later version is kept as it is.
        verdict=cast(Verdict, fixed[VERIFICATION]),
        method=fixed["comparison"],
        wrong=fixed.integer("wrong"),
        total=fixed.integer("elements"),
        error_ratio=fixed.number("error_ratio") or 0.0,
        first=tuple(first.split(_BETWEEN)) if first else (),
        map=_unescaped(fixed["map"]),
        detail=fixed["detail"],
    )


class _Cells:
    """The cells of the columns that all reports have."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells

    def __getitem__(self, name: str) -> str:
        return self._cells[name]

    def numbers(self, name: str) -> tuple[float, ...]:
        try:
            return tuple(float(word) for word in self._cells[name].split())
        except ValueError:
            raise ActiondbgError(
                f"column {name!r}: {self._cells[name]!r} is not a number"
            ) from None

    def number(self, name: str) -> float | None:
        return next(iter(self.numbers(name)), None)

    def integer(self, name: str) -> int:
        try:
            return int(self._cells[name] or 0)
        except ValueError:
            raise ActiondbgError(
                f"column {name!r}: {self._cells[name]!r} is not an integer"
            ) from None


def _checked(entry: Entry, value: float) -> float | None:
    """Return a value of a comparison; None if no result was compared."""
    return value if entry.verification.total else None


def _escaped(lines: str) -> str:
    """Return lines as one, so that a line of the file is an entry."""
    return lines.replace("\\", "\\\\").replace("\n", "\\n")


def _unescaped(text: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in text.split("\\\\"))
