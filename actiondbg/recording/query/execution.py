"""Ask a database of recordings in SQL, so that it can be interrupted."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

import duckdb

from actiondbg.recording.errors import QueryError, RecordingError
from actiondbg.recording.format.arrow import Reader

_BATCH = 1 << 16  # rows
_WAY_OUT = "a query without SQL lists the tables and their columns"

T = TypeVar("T")


def ask(database: duckdb.DuckDBPyConnection, sql: str, use: Callable[[Reader], T]) -> T:
    """Answer a query; Ctrl-C interrupts it.

    Args:
        database: what ``connect`` returned.
        sql: one statement, or several, of which the last has the answer.
        use: called in another thread with the answer.

    Returns:
        What ``use`` returned.

    Raises:
        QueryError: the query is wrong, or cannot be answered.
    """
    worker = _Worker(lambda: _answer(database, sql, use))
    try:
        worker.over.wait()
    except KeyboardInterrupt:
        database.interrupt()
        worker.over.wait()
        raise
    return worker.result()


class _Worker(Generic[T]):
    """Does some work in a thread, so that Ctrl-C reaches the main thread, as DuckDB ignores it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.over = threading.Event()
        self._work = work
        self._returned: list[T] = []
        self._raised: BaseException | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def result(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self._raised is not None:
            raise self._raised
        return self._returned[0]

    def _run(self) -> None:
        try:
            self._returned.append(self._work())
        except BaseException as error:
            self._raised = error
        finally:
            self.over.set()


def _answer(database: duckdb.DuckDBPyConnection, sql: str, use: Callable[[Reader], T]) -> T:
    with _one_sentence():
        relation: Any = database.sql(sql)
        if relation is None:
            raise QueryError("The SQL is empty: write a query, or leave it out to list the tables.")
        return use(relation.to_arrow_reader(_BATCH))


@contextlib.contextmanager
def _one_sentence() -> Generator[None]:
    """Say of DuckDB's errors what is wrong, where, and the way out, in one sentence."""
    try:
        yield
    except duckdb.Error as error:
        # DuckDB keeps only the text of ours: then reading has failed, not the query.
        _, is_ours, told = str(error).partition(f"{RecordingError.__name__}: ")
        if is_ours:
            raise RecordingError(told) from error
        raise QueryError(sentence_of(error)) from error


def _inside_sentence(text: str) -> str:
    """Return a text with a small first letter, unless it begins with a keyword in capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def sentence_of(error: duckdb.Error) -> str:
    """Return one sentence for an error of DuckDB."""
    text, _, place = str(error).partition("\n\nLINE ")
    kind, _, what = text.partition(": ")
    lines = [" ".join(line.split()).rstrip(".!?") for line in what.splitlines() if line.strip()]
    what = "; ".join(map(_inside_sentence, lines))
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        what = f"{what}; {_WAY_OUT}"
    sentence = f"The SQL cannot be answered ({kind}): {what}."
    if not place:
        return sentence
    line, _, marks = place.partition(": ")[2].partition("\n")
    # The marks stand below the words that "LINE 1: " has moved to the right.
    moved = len("LINE ") + len(place.partition(": ")[0]) + len(": ")
    return f"{sentence}\n  {line}\n  {marks[moved:].rstrip()}"
