"""Recordings as a DuckDB database whose columns are built on demand."""

from __future__ import annotations

import contextlib
import glob
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
from numpy.typing import NDArray

from actiondbg.recording.format.arrow import Reader, Schema, Table, pa
from actiondbg.recording.query.filters import quoted
from actiondbg.recording.query.interruption import fetch_numbers, fetch_rows
from actiondbg.recording.run_facts import RUN_COLUMNS, RunSource, facts_of
from actiondbg.recording.tables.lazy_table import LazyTable

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

RUNS = "runs"  # the table of the recordings and their command lines
TABLES = ("actions", "changes", "operations", "reasons", "findings", "links", "ir")


def listing(tables: Sequence[str]) -> str:
    """Return the query that lists tables and their columns."""
    return f"""\
SELECT table_name AS "table", column_name AS "column", data_type AS "type"
FROM information_schema.columns WHERE list_contains({[*tables]}, table_name)
ORDER BY list_position({[*tables]}, table_name), ordinal_position"""


LISTING = listing([*TABLES, RUNS])  # of recordings

_BATCH = 1 << 17  # rows that a thread of DuckDB takes at a time


class OnDemandTable(pa.Table):
    """A table to register with DuckDB, which builds only the columns of a query.

    The underlying pyarrow table is empty: this class answers everything that DuckDB calls. The
    planner of queries gets an estimated number of rows.
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


def empty_database() -> duckdb.DuckDBPyConnection:
    """Return an in-memory database whose queries cannot read our Python variables as tables."""
    database = duckdb.connect(":memory:")
    database.execute("SET python_enable_replacements = false")
    return database


def connect(
    recordings: Mapping[str, Recording],
    exports: Sequence[str] = (),
    *,
    alone: bool = False,
    database: duckdb.DuckDBPyConnection | None = None,
) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with the tables of recordings as views.

    Args:
        recordings: recordings by their value in the column ``run``.
        exports: globs of folders written by ``export``.
        alone: there is one recording; only the table of runs has a column ``run``.
        database: of an earlier call with ``alone``, whose tables are replaced; None for a new one,
            which takes longer than a query.
    """
    database = database or empty_database()
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
            parts.append(f"SELECT {quoted(run)} AS run, * FROM {name}_{index}")
        parts += _exported(name, exports)
        if not alone and parts:
            _create_view(database, name, parts)
    return database


def open_database(
    recording: Recording, database: duckdb.DuckDBPyConnection | None = None
) -> duckdb.DuckDBPyConnection:
    """Return an in-memory DuckDB database with the tables of one recording as views.

    A query builds only the columns that it uses. ``database`` is a database to use again, which an
    earlier call returned for another recording.
    """
    return connect({Path(recording.path).stem: recording}, alone=True, database=database)


def ordinals_where(recording: Recording, where: str) -> NDArray[np.int64]:
    """Return the ordinals of the actions that satisfy a condition of ``filters``, in order."""
    with contextlib.closing(open_database(recording)) as database:
        sql = f"SELECT ordinal FROM actions WHERE {where} ORDER BY ordinal"
        return fetch_numbers(database, sql)["ordinal"]


def confine(database: duckdb.DuckDBPyConnection) -> None:
    """Keep the queries that follow from files, the network and extensions: for SQL of strangers."""
    for setting in ("enable_external_access = false", "lock_configuration = true"):
        database.execute(f"SET {setting}")


def keep_actions(database: duckdb.DuckDBPyConnection, where: str) -> int:
    """Leave only some actions in a database of ``open_database``; return how many.

    Args:
        database: of one recording.
        where: SQL that selects actions, from ``query.filters``. Actions inside of them stay, too;
            an action whose parent is left out has none.
    """
    fetch_rows(
        database,
        f"""
        CREATE TEMP TABLE kept AS
        WITH RECURSIVE inside AS (
            SELECT ordinal FROM actions WHERE {where}
            UNION
            SELECT nested.ordinal FROM actions AS nested
            JOIN inside ON nested.parent = inside.ordinal)
        SELECT ordinal FROM inside
        """,
    )
    kept = "ordinal IN (SELECT ordinal FROM kept)"
    parent = "CASE WHEN parent IN (SELECT ordinal FROM kept) THEN parent END AS parent"
    for name in ("actions", "changes", "reasons", "findings", "links", "ir"):
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
    if not table.large or not recording.header.has_ir:
        return OnDemandTable(table, recording.count)
    # Imported on demand: pyarrow.dataset is slow to import.
    from actiondbg.recording.tables.large_table import LargeTable

    return LargeTable(table)


def _exported(name: str, exports: Sequence[str]) -> list[str]:
    """Return queries of the exported tables of a name; exports of earlier versions lack some."""
    how = "hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true"
    return [
        f"SELECT run, * EXCLUDE (run) FROM read_parquet({quoted(f'{each}/{name}.parquet')}, {how})"
        for each in exports
        if "://" in each or glob.glob(f"{each}/{name}.parquet")
    ]


def _create_view(database: duckdb.DuckDBPyConnection, name: str, parts: Sequence[str]) -> None:
    database.execute(f"CREATE TEMP VIEW {name} AS {' UNION ALL BY NAME '.join(parts)}")


def runs_table(recordings: Mapping[str, Recording]) -> Table:
    """Return one row per recording, without anything that names the machine or its user."""
    rows = [
        {
            "run": run,
            "command": shlex.join(argv := _argv(recording)) or None,
            "argv": argv,
            **facts_of(RunSource(recording.header, recording.ending, recording.count)),
        }
        for run, recording in recordings.items()
    ]
    text = pa.string()
    columns = {"run": text, "command": text, "argv": pa.list_(text), **RUN_COLUMNS}
    return pa.Table.from_pylist(rows, schema=pa.schema(columns))


def _argv(recording: Recording) -> list[str]:
    # A command line may hold any bytes; Arrow strings are UTF-8.
    return [word.encode(errors="replace").decode() for word in recording.header.argv]
