"""Greedy drivers that converged slowly or not at all, with their last rewrites."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from actiondbg.analysis.cycles import Applied, find_cycle
from actiondbg.recording.report.queries import Columns, Shared, ask, ask_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ITERATIONS = (
    4  # of a slow driver: a fast one takes two or three, of which the last changes nothing
)
_NEWEST = 2_000  # rewrites of a driver that are searched for cycles
_NAMES = 5  # shown of the last iteration
# How the last iteration ended, in the column ``state``.
SETTLED, CHANGING, UNFINISHED = range(3)


def drivers(database: DuckDBPyConnection, shared: Shared, most: int) -> Columns:
    """Return drivers with many iterations, or whose last iteration changed something.

    An unfinished driver is only returned for a cycle or many iterations, because a crash leaves
    any driver unfinished. Reads the tables of ``suspects``.
    """
    found = ask_columns(
        database,
        f"""
        WITH driver AS (
            SELECT driver AS first, any_value(parent) AS parent, count(*) AS iterations,
                   max(ordinal) AS last, coalesce(sum(duration_ns), 0)::BIGINT AS time,
                   max_by(CASE WHEN unfinished THEN {UNFINISHED} WHEN changed THEN {CHANGING}
                          ELSE {SETTLED} END, ordinal) AS state
            FROM iterations GROUP BY driver HAVING iterations >= $many OR state > {SETTLED}
            ORDER BY state DESC, iterations DESC, first LIMIT $most
        )
        SELECT d.*, coalesce(p.tag::VARCHAR, '') AS tag, coalesce(p.name::VARCHAR, '') AS name,
               a.op::VARCHAR AS op, a.file::VARCHAR AS file, a.line, a.col,
               a.function::VARCHAR AS function
        FROM driver d JOIN actions a ON a.ordinal = d.first
        LEFT JOIN actions p ON p.ordinal = d.parent
        ORDER BY state DESC, iterations DESC, first
        """,
        many=_ITERATIONS,
        most=most,
    )
    newest = _newest(database, found["first"])
    details = [_details(shared, newest.get(first, []), last) for first, last in _ends(found)]
    found = {
        **found,
        **{name: [each[name] for each in details] for name in ("doing", "round", "times")},
    }
    rows = zip(found["state"], found["iterations"], found["times"], strict=True)
    kept = [
        at
        for at, (state, count, times) in enumerate(rows)
        if state != UNFINISHED or count >= _ITERATIONS or times
    ]
    columns = {name: [values[at] for at in kept] for name, values in found.items()}
    return shared.number(columns, "op", "file", "function")


def _ends(found: Columns) -> list[tuple[int, int]]:
    return list(zip(found["first"], found["last"], strict=True))


def _newest(
    database: DuckDBPyConnection, firsts: list[int]
) -> dict[int, list[tuple[int, Applied]]]:
    """Return the newest rewrites of each driver, each with its iteration."""
    rows = ask(
        database,
        """
        WITH newest AS (
            SELECT * FROM rewrites WHERE changed AND driver IN (SELECT unnest($firsts::BIGINT[]))
            QUALIFY row_number() OVER (PARTITION BY driver ORDER BY ordinal DESC) <= $newest
        )
        SELECT n.driver, n.parent, n.ordinal, n.tag, n.name, n.operation, a.op::VARCHAR,
               a.file::VARCHAR || ':' || a.line || ':' || a.col
        FROM newest n JOIN actions a USING (ordinal) ORDER BY n.ordinal
        """,
        firsts=firsts,
        newest=_NEWEST,
    )
    newest: dict[int, list[tuple[int, Applied]]] = {}
    for driver, iteration, ordinal, tag, name, operation, op, location in rows:
        one = Applied(ordinal=ordinal, tag=tag, name=name, op=op, location=location, id=operation)
        newest.setdefault(driver, []).append((iteration, one))
    return newest


def _details(shared: Shared, newest: list[tuple[int, Applied]], last: int) -> dict[str, Any]:
    """Return the names of the last iteration, and the cycle at the end of the rewrites."""
    cycle = find_cycle([one for _, one in newest])
    counts = Counter((one.tag, one.name) for iteration, one in newest if iteration == last)
    return {
        "doing": [(shared.names.index(name), n) for name, n in counts.most_common(_NAMES)],
        "round": [shared.names.index((one.tag, one.name)) for one in cycle.round] if cycle else [],
        "times": cycle.times if cycle else 0,
    }
