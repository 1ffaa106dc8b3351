"""The tables of a suite as a DuckDB database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.recording.query.filters import quoted
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.index import SCHEMAS, build_index, is_indexed

if TYPE_CHECKING:
    import duckdb


def connect(folder: SuiteFolder) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database with the tables of a suite as views.

    The index is built first, if runs were recorded since.

    Raises:
        UsageError: the folder is no suite.
    """
    import duckdb

    folder.check()
    if not is_indexed(folder):
        build_index(folder)
    database = duckdb.connect(":memory:")
    database.execute("SET python_enable_replacements = false")
    for name in SCHEMAS:
        file = quoted(str(folder.index / f"{name}.parquet"))
        database.execute(f"CREATE TEMP VIEW {name} AS FROM read_parquet({file})")
    return database
