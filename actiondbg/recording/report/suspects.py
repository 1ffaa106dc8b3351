"""Suspects for missing convergence: drivers, patterns and pairs of patterns that repeat."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.analysis.cycles import Applied, find_cycle
from actiondbg.protocol.tags import ITERATION_TAG
from actiondbg.recording.query.interruption import fetch_numbers
from actiondbg.recording.report.queries import NAME, PLACE, Columns, Shared, ask, ask_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    _Numbers = NDArray[np.int64]

_ITERATIONS = 4  # of a slow driver: a fast one takes 2 or 3, of which the last changes nothing
_NEWEST = 2_000  # rewrites of a driver that are searched for cycles
_NAMES = 5  # shown of the last iteration
# How the last iteration ended, in the column ``state``.
SETTLED, CHANGING, UNFINISHED = range(3)
_TIMES = 3  # least repetitions of a pattern on an operation, or of a pair
_Name = tuple[str, str]  # tag and name

_LONG = 8  # rewrites of the shortest chain considered
_AGAIN = 4  # least occurrences of one name in a reported chain
_CONSIDERED = 1_000  # ends of chains, longest first
_WALKED = 500  # last rewrites of a chain whose names are counted
_SHOWN = 12  # last names of a chain, shown in order


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
               {PLACE}
        FROM driver d JOIN actions a ON a.ordinal = d.first
        LEFT JOIN actions p ON p.ordinal = d.parent
        ORDER BY state DESC, iterations DESC, first
        """,
        many=_ITERATIONS,
        most=most,
    )
    newest = _newest(database, found["first"])
    ends = zip(found["first"], found["last"], strict=True)
    details = [_details(shared, newest.get(first, []), last) for first, last in ends]
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
    ask(
        database,
        f"""
        CREATE OR REPLACE TEMP TABLE iterations AS
        SELECT ordinal, parent, changed, outcome = 'unfinished' AS unfinished, duration_ns,
               coalesce(max(ordinal) FILTER (WHERE name::VARCHAR = 'iteration 1') OVER (
                   PARTITION BY parent, thread ORDER BY ordinal), ordinal) AS driver
        FROM actions WHERE tag = '{ITERATION_TAG}'
        """,
    )
    ask(
        database,
        f"""
        CREATE OR REPLACE TEMP TABLE rewrites AS
        SELECT a.ordinal, a.parent, a.operation, a.tag::VARCHAR AS tag, {NAME} AS name, a.changed,
               coalesce(i.driver, a.parent, 0) AS driver
        FROM actions a LEFT JOIN iterations i ON i.ordinal = a.parent
        WHERE a.outcome IN ('succeeded', 'unchanged') AND a.operation IS NOT NULL
          AND (a.tag = 'apply-pattern' OR (a.tag = 'fold' AND i.ordinal IS NOT NULL))
        """,
    )


def _repeated(database: DuckDBPyConnection, shared: Shared, most: int) -> Columns:
    """Return rewrites that succeeded repeatedly on one operation in one driver."""
    found = ask_columns(
        database,
        f"""
        WITH repeated AS (
            SELECT tag, name, operation, driver, count(*) AS times,
                   min(ordinal) AS first, max(ordinal) AS last
            FROM rewrites GROUP BY ALL HAVING times >= $times
            ORDER BY times DESC, first LIMIT $most
        )
        SELECT r.*, {PLACE}
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


# --- chains ---
# A chain is of rewrites, each of an operation that the one before made or left: a sign of a cycle.
# A long chain is no mistake by itself; one that repeats the same name is suspicious.


class _Chain(NamedTuple):
    length: int
    first: int  # ordinals
    last: int
    names: list[_Name]  # of its last rewrites


def chains(database: DuckDBPyConnection, shared: Shared, most: int) -> Columns:
    """Return the longest chain of each set of names, at most ``most``; reads ``rewrites``."""
    ordinals, before = _links(database)
    lengths, firsts = measured(before)
    ends = np.flatnonzero(lengths >= _LONG)
    ends = ends[~np.isin(ends, before[ends])]
    ends = ends[np.argsort(-lengths[ends], kind="stable")][:_CONSIDERED]
    walked = [ordinals[_walk(before, int(end))].tolist() for end in ends]
    names = _names(database, {ordinal for chain in walked for ordinal in chain})
    found: dict[frozenset[_Name], _Chain] = {}
    for end, chain in zip(ends, walked, strict=True):
        named = [names[ordinal] for ordinal in chain]
        if max(Counter(named).values()) >= _AGAIN:
            first = int(ordinals[firsts[end]])
            one = _Chain(int(lengths[end]), first, int(ordinals[end]), named)
            found.setdefault(frozenset(named), one)
    return _columns(database, shared, list(found.values())[:most])


def measured(before: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Return the length and the begin of the chain that ends at each rewrite.

    Args:
        before: for each rewrite the index of its predecessor in the chain, or -1.
    """
    places = np.arange(len(before))
    jump = np.where(before < 0, places, before)  # the first of a chain points to itself
    lengths = (before >= 0).astype(np.int64)
    while not np.array_equal(further := jump[jump], jump):  # jumps double in each round
        lengths += lengths[jump]
        jump = further
    return lengths + 1, jump


def _walk(before: _Numbers, end: int) -> list[int]:
    """Return the indices of a chain's last rewrites, in order."""
    chain: list[int] = []
    while end >= 0 and len(chain) < _WALKED:
        chain.append(end)
        end = int(before[end])
    return chain[::-1]


def _links(database: DuckDBPyConnection) -> tuple[_Numbers, _Numbers]:
    """Return the ordinals of the rewrites, and the index of each one's predecessor, or -1."""
    sql = """
        SELECT r.ordinal, r.driver, coalesce(
                   lag(r.ordinal) OVER (PARTITION BY r.operation, r.driver ORDER BY r.ordinal),
                   o.created_by, 0) AS before
        FROM rewrites r LEFT JOIN operations o ON o.operation = r.operation
        ORDER BY r.ordinal
    """
    found = fetch_numbers(database, sql)
    ordinals, driver, wanted = (
        np.asarray(found[name], np.int64) for name in ("ordinal", "driver", "before")
    )
    if not len(ordinals):
        return ordinals, ordinals
    places = np.minimum(np.searchsorted(ordinals, wanted), len(ordinals) - 1)
    is_link = (ordinals[places] == wanted) & (driver[places] == driver)
    # A chain must lead back in time: an inconsistent recording could hold a loop.
    is_link &= places < np.arange(len(ordinals))
    return ordinals, np.where(is_link, places, -1)


def _names(database: DuckDBPyConnection, ordinals: set[int]) -> dict[int, _Name]:
    found = ask_columns(
        database,
        """
        SELECT ordinal, tag, name FROM rewrites
        WHERE ordinal IN (SELECT unnest($ordinals::BIGINT[]))
        """,
        ordinals=sorted(ordinals),
    )
    named = zip(found["tag"], found["name"], strict=True)
    return dict(zip(found["ordinal"], named, strict=True))


def _columns(database: DuckDBPyConnection, shared: Shared, found: list[_Chain]) -> Columns:
    rows = ask_columns(
        database,
        f"""
        SELECT a.ordinal, {PLACE}
        FROM actions a WHERE a.ordinal IN (SELECT unnest($ordinals::BIGINT[]))
        """,
        ordinals=sorted({each.first for each in found}),
    )
    place = {ordinal: at for at, ordinal in enumerate(rows["ordinal"])}
    columns = {
        name: [rows[name][place[each.first]] for each in found]
        for name in ("op", "file", "line", "col", "function")
    }
    counts = [Counter(each.names).most_common(_SHOWN) for each in found]
    return {
        **shared.number(columns, "op", "file", "function"),
        "length": [each.length for each in found],
        "first": [each.first for each in found],
        "last": [each.last for each in found],
        "counts": [[(shared.names.index(name), n) for name, n in each] for each in counts],
        "end": [shared.names.indices([*each.names[-_SHOWN:]]) for each in found],
    }
