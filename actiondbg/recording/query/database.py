"""Recordings as a DuckDB database whose columns are built on demand."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb
import numpy as np

from actiondbg.recording.format.arrow import Reader, Schema, pa
from actiondbg.recording.query.runs import RUNS, runs_table
from actiondbg.recording.tables.lazy_table import LazyTable

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

_datasets: Any = import_module("pyarrow.dataset")
Expression: TypeAlias = Any  # pyarrow.dataset.Expression, or None
Scanner: TypeAlias = Any  # pyarrow.dataset.Scanner
TABLES = ("actions", "changes", "operations", "reasons", "links", "ir")

_BATCH = 1 << 17  # rows that a thread of DuckDB takes at a time


class LargeTable(_datasets.Dataset):
    """An Arrow dataset that builds only the columns and rows of a DuckDB query."""

    def __init__(self, table: LazyTable) -> None:
        self._table = table

    @property
    def schema(self) -> Schema:
        return self._table.schema()

    def scanner(
        self, columns: Sequence[str] | None = None, filter: Expression = None, **how: Any
    ) -> Scanner:
        """Return a scanner over some columns of the rows that pass a filter."""
        wanted = list(columns) if columns is not None else self._table.names
        # An expression does not list its columns: a superset is correct.
        words = set(re.findall(r"\w+", str(filter))) if filter is not None else set[str]()
        named = [name for name in self._table.names if name in words and name not in wanted]
        if not self._table.large.keys() & {*wanted, *named}:
            built = _datasets.dataset(self._table.table([*wanted, *named]))
            return built.scanner(columns=wanted, filter=filter, **how)
        return self._scanner_of_parts(wanted, named, filter, how)

    def _scanner_of_parts(
        self, wanted: list[str], named: list[str], filter: Expression, how: dict[str, Any]
    ) -> Scanner:
        all_names = [*wanted, *named]
        small = [name for name in self._table.names if name not in self._table.large]
        table = self._table.table(small)
        rows = np.arange(len(table))
        if filter is not None and not self._table.large.keys() & {*named}:
            # Find the rows without decompressing texts.
            numbered = table.append_column("", [rows])
            found = _datasets.dataset(numbered).to_table(columns=[""], filter=filter)
            rows = found.column("").to_numpy()
        parts = self._table.parts(all_names, rows)
        schema = self._table.schema(all_names)
        return _datasets.Scanner.from_batches(
            parts, schema=schema, columns=wanted, filter=filter, **how
        )


class _OnDemandTable(pa.Table):
    """A table that builds only the columns of a DuckDB query.

    The underlying pyarrow table is empty: this class answers everything that DuckDB calls.

    Args:
        table: builds the columns.
        rows: the estimated number of rows, for the query planner.
    """

    def __init__(self, table: LazyTable, rows: int) -> None:
        self._table = table
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    @property
    def schema(self) -> Schema:
        return self._table.schema()

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, _: object = None) -> object:
        return self._reader(self._table.names).__arrow_c_stream__()

    def select(self, columns: Sequence[int]) -> Reader:
        """Return a reader of some columns, given by index."""
        return self._reader([self._table.names[place] for place in columns])

    def _reader(self, names: Sequence[str]) -> Reader:
        return self._table.table(names).to_reader(_BATCH)


def connect(
    recordings: Mapping[str, Recording], exports: Sequence[str] = (), *, alone: bool = False
) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with the tables of recordings as views.

    Args:
        recordings: recordings by their value in the column ``run``.
        exports: globs of folders written by ``export``.
        alone: there is one recording; only the table of runs has a column ``run``.
    """
    database = duckdb.connect(":memory:")
    # Otherwise a query could read our Python variables as tables.
    database.execute("SET python_enable_replacements = false")
    database.register(RUNS if alone else f"{RUNS}_0", runs_table(recordings))
    if not alone:
        _create_view(database, RUNS, [f"FROM {RUNS}_0", *_exported(RUNS, exports)])
    for name in TABLES:
        parts: list[str] = []
        for index, (run, recording) in enumerate(recordings.items()):
            table = _registered(recording, name)
            if alone:
                database.register(name, table)
                continue
            database.register(f"{name}_{index}", table)
            parts.append(f"SELECT {_quoted(run)} AS run, * FROM {name}_{index}")
        parts += _exported(name, exports)
        if not alone and parts:
            _create_view(database, name, parts)
    return database


def on_demand(table: LazyTable, rows: int) -> object:
    """Return an object to register with DuckDB: a query builds only the columns that it uses.

    Args:
        table: builds the columns.
        rows: the estimated number of rows, for the query planner.
    """
    return _OnDemandTable(table, rows)


def open_database(recording: Recording) -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB database with the tables of one recording as views.

    A query builds only the columns that it uses.
    """
    return connect({Path(recording.path).stem: recording}, alone=True)


def keep_actions(database: duckdb.DuckDBPyConnection, where: str) -> int:
    """Leave only some actions in a database of ``open_database``; return how many.

    Args:
        database: of one recording.
        where: SQL that selects actions, from ``query.filters``. Actions inside of them stay, too;
            an action whose parent is left out has none.
    """
    database.execute(
        f"""
        CREATE TEMP TABLE kept AS
        WITH RECURSIVE inside AS (
            SELECT ordinal FROM actions WHERE {where}
            UNION
            SELECT nested.ordinal FROM actions AS nested
            JOIN inside ON nested.parent = inside.ordinal)
        SELECT ordinal FROM inside
        """
    )
    kept = "ordinal IN (SELECT ordinal FROM kept)"
    parent = "CASE WHEN parent IN (SELECT ordinal FROM kept) THEN parent END AS parent"
    for name in ("actions", "changes", "reasons", "links", "ir"):
        columns = f"* REPLACE ({parent})" if name == "actions" else "*"
        database.execute(f"ALTER VIEW {name} RENAME TO whole_{name}")
        database.execute(
            f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM whole_{name} WHERE {kept}"
        )
    [(count,)] = database.execute("SELECT count(*) FROM kept").fetchall()
    return count


def _registered(recording: Recording, name: str) -> object:
    """Return the object that DuckDB queries for a table."""
    table = recording.tables[name]
    if not table.large or recording.header.ir == "none":
        return _OnDemandTable(table, recording.count)
    # Imported on demand: pyarrow.dataset is slow to import.
    from actiondbg.recording.query.database import LargeTable

    return LargeTable(table)


def _exported(name: str, exports: Sequence[str]) -> list[str]:
    """Return queries of the exported tables of a name; exports of earlier versions lack some."""
    how = "hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true"
    return [
        f"SELECT run, * EXCLUDE (run) FROM read_parquet({_quoted(f'{each}/{name}.parquet')}, {how})"
        for each in exports
        if "://" in each or glob.glob(f"{each}/{name}.parquet")
    ]


def _create_view(database: duckdb.DuckDBPyConnection, name: str, parts: Sequence[str]) -> None:
    database.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL BY NAME '.join(parts)}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
