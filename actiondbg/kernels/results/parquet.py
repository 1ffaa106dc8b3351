"""Reports as Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.results.columns import (
    CONFIGURATION,
    PROVIDER,
    Groups,
    Value,
    groups_of,
    last_columns,
    values_of,
)
from actiondbg.kernels.results.entry import Entry

_LISTS = "repetitions_s"


def check_parquet() -> None:
    """Require the package that writes Parquet.

    Raises:
        ActiondbgError: it is not installed.
    """
    if find_spec("pyarrow") is None:
        raise ActiondbgError(
            "Parquet files need the package pyarrow: pip install 'actiondbg[kernels]'."
        )


def to_parquet(entries: Sequence[Entry]) -> bytes:
    """Return a report as a Parquet file, with the columns of the CSV and their types.

    Raises:
        ActiondbgError: the package pyarrow is not installed.
    """
    check_parquet()
    arrow: Any = import_module("pyarrow")
    groups = groups_of(entries)
    rows = [values_of(entry, groups) for entry in entries]
    columns: dict[str, Any] = {}
    for index, name in enumerate(_unique_names(groups)):
        columns[name] = arrow.array(_typed([row[index] for row in rows]))
    seconds = [list(entry.seconds) for entry in entries]
    columns[_LISTS] = arrow.array(seconds, arrow.list_(arrow.float64()))
    sink = arrow.BufferOutputStream()
    import_module("pyarrow.parquet").write_table(arrow.table(columns), sink)
    return sink.getvalue().to_pybytes()


def _unique_names(groups: Groups) -> list[str]:
    """Return the header; a tag or a parameter that is named as another column gets a prefix."""
    tags, arguments, parameters, events = groups
    fixed = last_columns(events)
    taken = {PROVIDER, CONFIGURATION, *fixed, *arguments}
    tag_names = _prefixed(tags, "tag_", taken)
    parameter_names = _prefixed(parameters, "config_", taken)
    return [*tag_names, PROVIDER, *arguments, CONFIGURATION, *parameter_names, *fixed]


def _prefixed(names: Sequence[str], prefix: str, taken: set[str]) -> list[str]:
    chosen: list[str] = []
    for name in names:
        while name in taken:
            name = f"{prefix}{name}"
        taken.add(name)
        chosen.append(name)
    return chosen


def _typed(values: Sequence[Value]) -> Sequence[Value]:
    """Return a column as integers, as floats or as text, whichever fits all of its values."""
    if any(isinstance(value, float) for value in values):
        return [None if value is None else float(value) for value in values]
    try:
        return [None if value is None else int(value) for value in values]
    except ValueError:
        return [None if value is None else str(value) for value in values]
