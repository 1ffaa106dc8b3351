"""Execution of SQL queries, which Ctrl-C interrupts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import duckdb

from actiondbg.recording.errors import QueryError, RecordingError
from actiondbg.recording.format.arrow import Reader
from actiondbg.recording.query.interruption import interruptible

_BATCH = 1 << 16  # rows
_WAY_OUT = "a query without SQL lists the tables and their columns"

T = TypeVar("T")


def ask(database: duckdb.DuckDBPyConnection, sql: str, use: Callable[[Reader], T]) -> T:
    """Run a query; Ctrl-C interrupts it.

    Args:
        database: from ``connect``.
        sql: one or more statements; the result is that of the last one.
        use: consumes the result, called in another thread.

    Returns:
        The return value of ``use``.

    Raises:
        QueryError: the query is wrong or fails.
    """

    def work() -> T:
        relation: Any = database.sql(sql)
        if relation is None:
            raise QueryError("The SQL is empty: write a query, or omit it to list the tables.")
        return use(relation.to_arrow_reader(_BATCH))

    try:
        return interruptible(database, work)
    except duckdb.Error as error:
        # DuckDB keeps only the text of a RecordingError: then reading failed, not the query.
        _, is_ours, message = str(error).partition(f"{RecordingError.__name__}: ")
        if is_ours:
            raise RecordingError(message) from error
        raise QueryError(sentence_of(error)) from error


def check_syntax(sql: str) -> None:
    """Refuse SQL that does not parse, before there are tables.

    Raises:
        QueryError: it does not.
    """
    try:
        duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError(sentence_of(error)) from error


def sentence_of(error: duckdb.Error) -> str:
    """Return one sentence for an error of DuckDB, with the position below it."""
    text, _, place = str(error).partition("\n\nLINE ")
    kind, _, what = text.partition(": ")
    lines = [" ".join(line.split()).rstrip(".!?") for line in what.splitlines() if line.strip()]
    # Inside of the sentence only a keyword in capitals begins with one.
    what = "; ".join(line if line[1:2].isupper() else line[:1].lower() + line[1:] for line in lines)
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        what = f"{what}; {_WAY_OUT}"
    sentence = f"The SQL cannot be answered ({kind}): {what}."
    if not place:
        return sentence
    line, _, marks = place.partition(": ")[2].partition("\n")
    # Move the marks to the left by the width of "LINE 1: ".
    prefix = len("LINE ") + len(place.partition(": ")[0]) + len(": ")
    return f"{sentence}\n  {line}\n  {marks[prefix:].rstrip()}"
