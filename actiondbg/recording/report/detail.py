"""The single actions of a page: the longest ones, and those with further details."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import TYPE_CHECKING

from actiondbg.recording.report.page_tables import ALL_CHANGES, OUTCOMES
from actiondbg.recording.report.queries import NAME, Columns, Shared, ask, ask_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_OF_SELF = 0.1  # the share of actions chosen by self time instead of duration
_CHANGED, _ROLLED_BACK = 1, 2  # bits of the column ``flags``


def held_actions(
    database: DuckDBPyConnection, shared: Shared, most: int, named: Set[int]
) -> Columns:
    """Return actions in order, with all their parents.

    Args:
        database: the database of the recording.
        shared: the texts of the page.
        most: the most actions chosen by their time.
        named: the ordinals of actions to include in any case.
    """
    ordinals = _with_parents(database, _longest(database, max(most - len(named), 1)) | named)
    found = ask_columns(
        database,
        f"""
        SELECT a.ordinal, coalesce(a.parent, 0) AS parent, a.thread, a.tag::VARCHAR AS tag,
               {NAME} AS name, a.op::VARCHAR AS op, coalesce(a.operation, 0) AS operation,
               a.file::VARCHAR AS file, coalesce(a.line, 0) AS line, coalesce(a.col, 0) AS col,
               a.function::VARCHAR AS function, a.outcome::VARCHAR AS outcome,
               a.changed::INT * {_CHANGED} + a.rolled_back::INT * {_ROLLED_BACK} AS flags,
               a.fold::VARCHAR AS fold, a.reason::VARCHAR AS reason,
               ({ALL_CHANGES})::BIGINT AS changes, a.start_ns AS start,
               coalesce(a.duration_ns, -1) AS duration, coalesce(a.self_ns, 0) AS self
        FROM actions a WHERE a.ordinal IN (SELECT unnest($ordinals::BIGINT[])) ORDER BY a.ordinal
        """,
        ordinals=sorted(ordinals),
    )
    found["outcome"] = [OUTCOMES.index(each) for each in found["outcome"]]
    inside = _counts_inside(database, found["ordinal"])
    callers = list(zip(found["ordinal"], found["thread"], strict=True))
    found["inside"] = [inside.get(caller, 0) for caller in callers]
    found["elsewhere"] = _inside_elsewhere(inside, callers)
    found["parent"] = _distances(found["ordinal"], found["parent"])
    numbered = shared.number(found, "op", "file", "function", "fold", "reason")
    return {**numbered, **{name: _steps(numbered[name]) for name in ("ordinal", "start")}}


def _longest(database: DuckDBPyConnection, most: int) -> set[int]:
    """Choose the actions with the longest durations and self times."""
    busiest = int(most * _OF_SELF)
    found: set[int] = set()
    for order, count in (
        ("duration_ns DESC NULLS FIRST", most - busiest),
        ("self_ns DESC", busiest),
    ):
        sql = f"SELECT ordinal FROM actions ORDER BY {order}, ordinal LIMIT $count"
        found.update(ordinal for (ordinal,) in ask(database, sql, count=count))
    return found


def _with_parents(database: DuckDBPyConnection, ordinals: Set[int]) -> set[int]:
    """Add all parents of actions."""
    found, new = set(ordinals), set(ordinals)
    while new:
        rows = ask(
            database,
            """
            SELECT DISTINCT parent FROM actions
            WHERE parent IS NOT NULL AND ordinal IN (SELECT unnest($ordinals::BIGINT[]))
            """,
            ordinals=sorted(new),
        )
        new = {parent for (parent,) in rows} - found
        found |= new
    return found


def _counts_inside(database: DuckDBPyConnection, ordinals: list[int]) -> dict[tuple[int, int], int]:
    """Count the children of each action by thread."""
    rows = ask(
        database,
        """
        SELECT parent, thread, count(*) FROM actions
        WHERE parent IN (SELECT unnest($parents::BIGINT[])) GROUP BY parent, thread
        """,
        parents=ordinals,
    )
    return {(parent, thread): count for parent, thread, count in rows}


def _inside_elsewhere(
    inside: dict[tuple[int, int], int], callers: list[tuple[int, int]]
) -> list[int]:
    """Count the children of each action in other threads."""
    counts = Counter[int]()
    for (parent, _), count in inside.items():
        counts[parent] += count
    return [counts[ordinal] - inside.get((ordinal, thread), 0) for ordinal, thread in callers]


def _distances(ordinals: list[int], parents: list[int]) -> list[int]:
    """Return the distance in the list from each action back to its parent; 0 for none."""
    place = {ordinal: at for at, ordinal in enumerate(ordinals)}
    return [at - place[parent] if parent else 0 for at, parent in enumerate(parents)]


def _steps(numbers: list[int]) -> list[int]:
    """Return the differences of ascending numbers, which are shorter as text."""
    return [number - before for before, number in zip([0, *numbers], numbers, strict=False)]
