"""Chains of rewrites, each of an operation that the one before made or left: signs of cycles.

A long chain is no mistake by itself; one that repeats the same name is suspicious.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from actiondbg.recording.query.interruption import fetch_numbers
from actiondbg.recording.report.queries import PLACE, Columns, Shared, ask_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    _Numbers = NDArray[np.int64]

_Name = tuple[str, str]  # tag and name

_LONG = 8  # rewrites of the shortest chain considered
_AGAIN = 4  # least occurrences of one name in a reported chain
_CONSIDERED = 1_000  # ends of chains, longest first
_WALKED = 500  # last rewrites of a chain whose names are counted
_SHOWN = 12  # last names of a chain, shown in order


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
