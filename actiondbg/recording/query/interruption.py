"""Work of DuckDB that Ctrl-C and SIGTERM interrupt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

T = TypeVar("T")
_AGAIN_SECONDS = 0.05


def interruptible(database: DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Call a function that queries a database; an exception of a signal's handler interrupts it.

    In the main thread DuckDB ignores the exception, or raises another exception instead.

    Args:
        database: of the queries.
        work: called in another thread; it must not leave an unread result.

    Returns:
        The return value of ``work``.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
        wait([answer])
    except BaseException:
        # Repeated, as an interrupt before the beginning of a query has no effect.
        while thread.is_alive() and not wait([answer], _AGAIN_SECONDS).done:
            database.interrupt()
        raise
    return answer.result()


def fetch_rows(
    database: DuckDBPyConnection, sql: str, values: object = None
) -> list[tuple[Any, ...]]:
    """Return the rows of a statement with some parameters; see ``interruptible``."""
    return interruptible(database, lambda: database.execute(sql, values).fetchall())


def fetch_numbers(database: DuckDBPyConnection, sql: str) -> dict[str, NDArray[Any]]:
    """Return the columns of a result as arrays; see ``interruptible``."""

    def work() -> dict[str, NDArray[Any]]:
        answer: Any = database.execute(sql)
        return answer.fetchnumpy()

    return interruptible(database, work)
