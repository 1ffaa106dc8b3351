"""Summaries of actions by name, by reason of failure and by place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.recording.format.layout import CHANGE_KINDS
from actiondbg.recording.report.queries import NAME, Shared, Table, ask_table
from actiondbg.recording.tables.actions import column_of_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

OUTCOMES = ("succeeded", "unchanged", "failed", "skipped", "unfinished")
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
