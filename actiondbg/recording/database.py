"""Recordings as a DuckDB database whose tables are read when a query needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from actiondbg.recording.runs import RUNS, runs_table
from actiondbg.recording.tables import LazyTable

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

TABLES = ("actions", "changes", "operations", "reasons", "ir")

_datasets: Any = import_module("pyarrow.dataset")


class _LazyDataset(_datasets.Dataset):
    """A table for DuckDB, which asks for the schema first, and then for what a query needs."""

    def __init__(self, table: LazyTable) -> None:
        self._table = table

    @property
    def schema(self) -> Any:
        return self._table.schema()

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **how: Any) -> Any:
        """Return a scanner over the columns that are wanted, of the rows that pass a filter."""
        wanted = list(columns) if columns is not None else self._table.names
        # An expression does not say which columns are in it: too many are no harm.
        words = set(re.findall(r"\w+", str(filter))) if filter is not None else set[str]()
        named = [name for name in self._table.names if name in words and name not in wanted]
        if not self._table.large.keys() & {*wanted, *named}:
            built = _datasets.dataset(self._table.table([*wanted, *named]))
            return built.scanner(columns=wanted, filter=filter, **how)
        return self._scanner_of_parts(wanted, named, filter, how)

    def _scanner_of_parts(
        self, wanted: list[str], named: list[str], filter: Any, how: dict[str, Any]
    ) -> Any:
        all_names = [*wanted, *named]
        small = [name for name in self._table.names if name not in self._table.large]
        table = self._table.table(small)
        rows = np.arange(len(table))
        if filter is not None and not self._table.large.keys() & {*named}:
            # What need not be decompressed is not: the rows are found without.
            numbered = table.append_column("", [rows])
            found = _datasets.dataset(numbered).to_table(columns=[""], filter=filter)
            rows = found.column("").to_numpy()
        parts = self._table.parts(all_names, rows)
        schema = self._table.schema(all_names)
        return _datasets.Scanner.from_batches(
            parts, schema=schema, columns=wanted, filter=filter, **how
        )


def connect(
    recordings: Mapping[str, Recording], exports: Sequence[str] = (), *, alone: bool = False
) -> duckdb.DuckDBPyConnection:
    """Return a database in memory with the tables of some recordings as views.

    Args:
        recordings: by the name that the column ``run`` has for each.
        exports: globs of folders, as ``export`` writes one for each recording.
        alone: there is one recording, and no column ``run`` but in the table of the runs.
    """
    database = duckdb.connect(":memory:")
    # Else a query could name variables of ours as tables.
    database.execute("SET python_enable_replacements = false")
    database.register(f"{RUNS}_0", runs_table(recordings))
    _create_view(database, RUNS, [f"FROM {RUNS}_0", *_exported(RUNS, exports)])
    for name in TABLES:
        parts: list[str] = []
        for index, (run, recording) in enumerate(recordings.items()):
            table = _LazyDataset(recording.tables[name])
            if alone:
                database.register(name, table)
                continue
            database.register(f"{name}_{index}", table)
            parts.append(f"SELECT {_quoted(run)} AS run, * FROM {name}_{index}")
        if not alone:
            _create_view(database, name, [*parts, *_exported(name, exports)])
    return database


def _exported(name: str, exports: Sequence[str]) -> list[str]:
    how = "hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true"
    return [
        f"SELECT run, * EXCLUDE (run) FROM read_parquet({_quoted(f'{each}/{name}.parquet')}, {how})"
        for each in exports
    ]


def _create_view(database: duckdb.DuckDBPyConnection, name: str, parts: Sequence[str]) -> None:
    database.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL BY NAME '.join(parts)}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
