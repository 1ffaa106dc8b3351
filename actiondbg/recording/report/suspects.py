"""Suspects for missing convergence: drivers, patterns and pairs of patterns that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.recording.report.chains import chains
from actiondbg.recording.report.drivers import drivers
from actiondbg.recording.report.queries import NAME, Columns, Shared, ask, ask_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ITERATION = "GreedyPatternRewriteIteration"
_TIMES = 3  # least repetitions of a pattern on an operation, or of a pair


def suspects(database: DuckDBPyConnection, shared: Shared, most: int) -> dict[str, Columns]:
    """Return the suspects of each kind, at most ``most``: drivers, repeated, chains and pairs."""
    _make_rewrites(database)
    return {
        "drivers": drivers(database, shared, most),
        "repeated": _repeated(database, shared, most),
        "chains": chains(database, shared, most),
        "pairs": _pairs(database, shared, most),
    }


def _make_rewrites(database: DuckDBPyConnection) -> None:
    """Make the tables ``iterations`` and ``rewrites``, both with a column ``driver``.

    The ordinal of its first iteration identifies a driver: a pass may run several in sequence. The
    driver of a rewrite outside of any is its parent. Folds by an analysis are not rewrites: the
    analysis queries a value and leaves the operation unchanged.
    """
    database.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE iterations AS
        SELECT ordinal, parent, changed, outcome = 'unfinished' AS unfinished, duration_ns,
               coalesce(max(ordinal) FILTER (WHERE name::VARCHAR = 'iteration 1') OVER (
                   PARTITION BY parent, thread ORDER BY ordinal), ordinal) AS driver
        FROM actions WHERE tag = '{_ITERATION}'
        """
    )
    database.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE rewrites AS
        SELECT a.ordinal, a.parent, a.operation, a.tag::VARCHAR AS tag, {NAME} AS name, a.changed,
               coalesce(i.driver, a.parent, 0) AS driver
        FROM actions a LEFT JOIN iterations i ON i.ordinal = a.parent
        WHERE a.outcome IN ('succeeded', 'unchanged') AND a.operation IS NOT NULL
          AND (a.tag = 'apply-pattern' OR (a.tag = 'fold' AND i.ordinal IS NOT NULL))
        """
    )


def _repeated(database: DuckDBPyConnection, shared: Shared, most: int) -> Columns:
    """Return rewrites that succeeded repeatedly on one operation in one driver."""
    found = ask_columns(
        database,
        """
        WITH repeated AS (
            SELECT tag, name, operation, driver, count(*) AS times,
                   min(ordinal) AS first, max(ordinal) AS last
            FROM rewrites GROUP BY ALL HAVING times >= $times
            ORDER BY times DESC, first LIMIT $most
        )
        SELECT r.*, a.op::VARCHAR AS op, a.file::VARCHAR AS file, a.line, a.col,
               a.function::VARCHAR AS function
        FROM repeated r JOIN actions a ON a.ordinal = r.first ORDER BY times DESC, r.first
        """,
        times=_TIMES,
        most=most,
    )
    return shared.number(found, "op", "file", "function")


def _pairs(database: DuckDBPyConnection, shared: Shared, most: int) -> Columns:
    """Return pairs of rewrites that erased each other's operations in one driver."""
    rows = ask(
        database,
        """
        WITH made AS MATERIALIZED (
            SELECT r.tag, r.name, r.driver, o.op::VARCHAR AS op, o.erased_by
            FROM operations o JOIN rewrites r ON r.ordinal = o.created_by
            WHERE o.erased_by IS NOT NULL
        ), ended AS (
            SELECT m.tag, m.name, r.tag AS other_tag, r.name AS other_name,
                   count(*) AS times, mode(m.op) AS op, min(m.erased_by) AS first
            FROM made m JOIN rewrites r ON r.ordinal = m.erased_by AND r.driver = m.driver
            GROUP BY ALL HAVING times >= $times
        )
        SELECT x.tag, x.name, x.times, x.op, y.tag, y.name, y.times, y.op, least(x.first, y.first)
        FROM ended x JOIN ended y
          ON y.tag = x.other_tag AND y.name = x.other_name
         AND y.other_tag = x.tag AND y.other_name = x.name
        WHERE (x.tag, x.name) < (y.tag, y.name)
        ORDER BY least(x.times, y.times) DESC, 9 LIMIT $most
        """,
        times=_TIMES,
        most=most,
    )
    columns: Columns = {name: [] for name in ("one", "made", "op", "other", "unmade", "back")}
    columns["first"] = [row[8] for row in rows]
    for row in rows:
        columns["one"].append(shared.names.index((row[0], row[1])))
        columns["other"].append(shared.names.index((row[4], row[5])))
        columns["made"].append(row[2])
        columns["unmade"].append(row[6])
        columns["op"].append(shared.texts.index(row[3]))
        columns["back"].append(shared.texts.index(row[7]))
    return columns
