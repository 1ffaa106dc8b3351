"""Recordings as a DuckDB database whose tables are read when a query needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from actiondbg.recording.format.arrow import Reader, Schema, pa
from actiondbg.recording.query.runs import RUNS, runs_table
from actiondbg.recording.tables.lazy_table import LazyTable

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

TABLES = ("actions", "changes", "operations", "reasons", "ir")

_BATCH = 1 << 17  # rows, that a thread of DuckDB takes at a time


class _AskedTable(pa.Table):
    """A table, of which DuckDB asks for the schema first, and then for the columns of a query.

    As a table of pyarrow it is empty: all that DuckDB asks of one is answered here.

    Args:
        table: whose columns are built then.
        rows: about how many it has, for the plans of queries.
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
        """Return a reader of some columns, given by their places."""
        return self._reader([self._table.names[place] for place in columns])

    def _reader(self, names: Sequence[str]) -> Reader:
        return self._table.table(names).to_reader(_BATCH)


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
    database.register(RUNS if alone else f"{RUNS}_0", runs_table(recordings))
    if not alone:
        _create_view(database, RUNS, [f"FROM {RUNS}_0", *_exported(RUNS, exports)])
    for name in TABLES:
        parts: list[str] = []
        for index, (run, recording) in enumerate(recordings.items()):
            table = _asked(recording, name)
            if alone:
                database.register(name, table)
                continue
            database.register(f"{name}_{index}", table)
            parts.append(f"SELECT {_quoted(run)} AS run, * FROM {name}_{index}")
        if not alone:
            _create_view(database, name, [*parts, *_exported(name, exports)])
    return database


def open_database(recording: Recording) -> duckdb.DuckDBPyConnection:
    """Return a DuckDB database in memory that has the tables of a recording as views.

    A query builds only the columns that it needs.
    """
    return connect({Path(recording.path).stem: recording}, alone=True)


def _asked(recording: Recording, name: str) -> object:
    """Return what DuckDB may ask for a table."""
    table = recording.tables[name]
    if not table.large or recording.header.ir == "none":
        return _AskedTable(table, recording.count)
    # Only now: it imports much of pyarrow.
    from actiondbg.recording.tables.large_table import LargeTable

    return LargeTable(table)


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
