"""Queries over the tables of a recording, and the summaries of actions that they give."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from actiondbg.protocol import RESULTS
from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.query.interruption import fetch_rows, interruptible
from actiondbg.recording.tables.recorded_tables import column_of_event

if TYPE_CHECKING:
    from collections.abc import Sequence

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


OUTCOMES = (*RESULTS, "unfinished")
ALL_CHANGES = "+".join(f"a.{kind}" for kind in CHANGE_KINDS)


def names(
    database: DuckDBPyConnection, shared: Shared, most: int, events: Sequence[str] = ()
) -> Table:
    """Return one row per tag and name, longest self time first."""
    outcomes = ", ".join(f"count_if(a.outcome = '{each}') AS {each}" for each in OUTCOMES)
    counters = "".join(
        f', sum(a."{column_of_event(event)}")::BIGINT AS event{at}'
        for at, event in enumerate(events)
    )
    found = ask_table(
        database,
        f"""
        SELECT a.tag::VARCHAR AS tag, {NAME} AS name, any_value(a.full_name::VARCHAR) AS full,
               any_value(a.labels::VARCHAR) AS labels, count(*) AS calls, {outcomes},
               count_if(a.changed) AS changed, sum({ALL_CHANGES})::BIGINT AS changes,
               coalesce(sum(a.duration_ns), 0)::BIGINT AS time,
               coalesce(sum(a.self_ns), 0)::BIGINT AS self,
               coalesce(max(a.duration_ns), 0) AS longest, min(a.ordinal) AS first{counters}
        FROM actions a GROUP BY ALL
        """,
        "self DESC, calls DESC, tag, name",
        most,
    )
    return Table(shared.number(found.columns), found.total)


def reasons(database: DuckDBPyConnection, shared: Shared, most: int) -> Table:
    """Return the most frequent reasons of failure, with the name of the action."""
    found = ask_table(
        database,
        f"""
        SELECT a.tag::VARCHAR AS tag, {NAME} AS name, r.reason::VARCHAR AS reason,
               count(*) AS count, min(a.ordinal) AS first
        FROM reasons r JOIN actions a USING (ordinal)
        GROUP BY ALL
        """,
        "count DESC, tag, name, reason",
        most,
    )
    return Table(shared.number(found.columns, "reason"), found.total)


def places(
    database: DuckDBPyConnection, shared: Shared, most: int, key: str, beside: str = ""
) -> Table:
    """Return the actions by a column of texts, most changed first.

    ``beside`` is SQL of a further column by which they are counted, after a comma.
    """
    found = ask_table(
        database,
        f"""
        SELECT a.{key}::VARCHAR AS {key}{beside}, count(*) AS calls,
               count_if(a.changed) AS changed, coalesce(sum(a.self_ns), 0)::BIGINT AS self,
               min(a.ordinal) AS first
        FROM actions a WHERE a.{key} IS NOT NULL GROUP BY ALL
        """,
        "changed DESC, calls DESC, first",
        most,
    )
    return Table(shared.number(found.columns, key), found.total)
