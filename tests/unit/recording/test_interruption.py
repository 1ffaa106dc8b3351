"""Signals in the middle of a query of DuckDB."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

pytest.importorskip("duckdb")

from duckdb import DuckDBPyConnection

from actiondbg.errors import ActiondbgError
from actiondbg.recording.query.database import empty_database
from actiondbg.recording.query.execution import ask as query
from actiondbg.recording.query.interruption import fetch_rows
from actiondbg.recording.report.queries import ask, ask_columns
from actiondbg.support.interrupts import raise_interrupt

LONG = (
    "SELECT count(*) FROM range(100000000) a, range(100000) b WHERE a.range * b.range % 7 = $seven"
)
SECONDS = 0.3


def _exit(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


@pytest.fixture
def handled() -> Iterator[None]:
    """Handlers of signals as in the command."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, raise_interrupt),
        signal.SIGTERM: signal.signal(signal.SIGTERM, _exit),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def _query(database: DuckDBPyConnection, sql: str, seven: int) -> object:
    return query(database, sql.replace("$seven", str(seven)), list)


@pytest.mark.parametrize("run", [ask, ask_columns, _query])
@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
@pytest.mark.usefixtures("handled")
def test_a_signal_ends_a_query(
    run: Callable[..., object], number: int, expected: type[BaseException]
) -> None:
    with contextlib.closing(empty_database()) as database:
        timer = threading.Timer(SECONDS, os.kill, (os.getpid(), number))
        timer.start()
        with pytest.raises(expected):
            run(database, LONG, seven=3)
        timer.join()
        assert ask(database, "SELECT $one", one=1) == [(1,)]


def test_an_error_of_a_query_is_its_own() -> None:
    with contextlib.closing(empty_database()) as database:
        with pytest.raises(ActiondbgError, match="cannot be answered"):
            query(database, "SELECT nothing", list)
        with pytest.raises(Exception, match="nothing"):
            fetch_rows(database, "SELECT nothing")
