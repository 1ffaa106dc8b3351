"""Queries over the tables of a recording, and texts shared by their results."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from actiondbg.recording.query.interruption import fetch_rows, interruptible

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Columns = dict[str, list[Any]]
Rows = list[tuple[Any, ...]]
_T = TypeVar("_T", bound=Hashable)

# A pattern without a name is shown by the operation that it is applied to.
NAME = """
CASE WHEN a.name::VARCHAR = '' AND a.tag = 'apply-pattern' THEN '(nameless) on ' || a.op
ELSE coalesce(a.name::VARCHAR, '?') END
"""
# Where the operation of an action is.
PLACE = """
a.op::VARCHAR AS op, a.file::VARCHAR AS file, a.line, a.col, a.function::VARCHAR AS function
"""


def ask(database: DuckDBPyConnection, sql: str, **values: Any) -> Rows:
    """Return the rows of a result; the SQL refers to ``values`` as $name."""
    return fetch_rows(database, sql, values)


def ask_columns(database: DuckDBPyConnection, sql: str, **values: Any) -> Columns:
    """Return the columns of a result by name; see ``ask``."""

    def work() -> tuple[list[str], Rows]:
        answer = database.execute(sql, values)
        names = [each[0] for each in answer.description or ()]
        return names, answer.fetchall()

    names, rows = interruptible(database, work)
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


class Table(NamedTuple):
    """The first rows of a result, and its total number of rows."""

    columns: Columns
    total: int


def ask_table(database: DuckDBPyConnection, sql: str, order: str, most: int) -> Table:
    """Return the first rows of a SELECT in some order, at most ``most``."""
    columns = ask_columns(
        database,
        f"SELECT *, count(*) OVER () AS all_rows FROM ({sql}) ORDER BY {order} LIMIT $most",
        most=most,
    )
    totals = columns.pop("all_rows")
    return Table(columns, totals[0] if totals else 0)


class Interned(Generic[_T]):
    """Numbers distinct values from 0; None is -1."""

    def __init__(self) -> None:
        self._places: dict[_T, int] = {}

    def index(self, one: _T | None) -> int:
        """Return the number of a value, its index in ``all``."""
        return -1 if one is None else self._places.setdefault(one, len(self._places))

    def indices(self, several: list[_T | None]) -> list[int]:
        """Return the numbers of several values."""
        return [self.index(one) for one in several]

    @property
    def all(self) -> list[_T]:
        """The numbered values, in order."""
        return list(self._places)


class Shared:
    """The distinct (tag, name) of actions, and the distinct other texts of a page."""

    def __init__(self) -> None:
        self.names = Interned[tuple[str, str]]()
        self.texts = Interned[str]()

    def number(self, columns: Columns, *names: str) -> Columns:
        """Replace texts of some columns by numbers, and tag and name by a column ``group``."""
        numbered = dict(columns)
        for name in names:
            numbered[name] = self.texts.indices(numbered[name])
        if "tag" in numbered:
            pairs = zip(numbered.pop("tag"), numbered.pop("name"), strict=True)
            numbered["group"] = self.names.indices(list(pairs))
        return numbered
