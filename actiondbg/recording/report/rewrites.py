"""Successful rewrites, and the greedy drivers that applied them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.recording.report.queries import NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ITERATION = "GreedyPatternRewriteIteration"


def make_rewrites(database: DuckDBPyConnection) -> None:
    """Make the tables ``iterations`` and ``rewrites``, both with a column ``driver``.

    A driver is known by the ordinal of its first iteration: a pass may use several, one after the
    other. Of a rewrite outside of any it is the parent. What an analysis folds is no rewrite: it
    asks for a value and leaves the operation as it is.
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
