"""Chains of rewrites, each of what the one before it made or left: where patterns go in circles.

A chain that grows is no mistake by itself: that the same name comes again and again in it is.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.recording.report.queries import Columns, Shared, ask_columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    _Numbers = NDArray[np.int64]

_Name = tuple[str, str]  # tag and name

_LONG = 8  # rewrites of a chain that is looked at
_AGAIN = 4  # times that one name is in a chain that is told
_LOOKED_AT = 1_000  # ends of chains, the longest first
_WALKED = 500  # rewrites at the end of a chain whose names are counted
_SHOWN = 12  # names of a chain's end that are told in their order


class _Chain(NamedTuple):
    length: int
    first: int  # ordinals
    last: int
    names: list[_Name]  # of its last rewrites


def chains(database: DuckDBPyConnection, shared: Shared, most: int) -> Columns:
    """Return the longest chain of each set of names; at most ``most``. Asks ``rewrites``."""
    ordinals, before = _links(database)
    lengths, firsts = measured(before)
    ends = np.flatnonzero(lengths >= _LONG)
    ends = ends[~np.isin(ends, before[ends])]
    ends = ends[np.argsort(-lengths[ends], kind="stable")][:_LOOKED_AT]
    walked = [ordinals[_walk(before, int(end))].tolist() for end in ends]
    names = _names(database, {ordinal for chain in walked for ordinal in chain})
    found: dict[frozenset[_Name], _Chain] = {}
    for end, chain in zip(ends, walked, strict=True):
        told = [names[ordinal] for ordinal in chain]
        if max(Counter(told).values()) >= _AGAIN:
            first = int(ordinals[firsts[end]])
            one = _Chain(int(lengths[end]), first, int(ordinals[end]), told)
            found.setdefault(frozenset(told), one)
    return _columns(database, shared, list(found.values())[:most])


def measured(before: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Return the length of the chain that ends at each rewrite, and the place where it begins.

    Args:
        before: of each rewrite, the place of the one before it in its chain, or -1.
    """
    places = np.arange(len(before))
    jump = np.where(before < 0, places, before)  # the first of a chain leads to itself
    lengths = (before >= 0).astype(np.int64)
    while not np.array_equal(further := jump[jump], jump):  # jumps twice as far in each round
        lengths += lengths[jump]
        jump = further
    return lengths + 1, jump


def _walk(before: _Numbers, end: int) -> list[int]:
    """Return the places of a chain's last rewrites, in order."""
    chain: list[int] = []
    while end >= 0 and len(chain) < _WALKED:
        chain.append(end)
        end = int(before[end])
    return chain[::-1]


def _links(database: DuckDBPyConnection) -> tuple[_Numbers, _Numbers]:
    """Return the ordinals of the rewrites, and of each the place of the one before it, or -1."""
    answer: Any = database.execute(
        """
        SELECT r.ordinal, r.driver, coalesce(
                   lag(r.ordinal) OVER (PARTITION BY r.operation, r.driver ORDER BY r.ordinal),
                   o.created_by, 0) AS before
        FROM rewrites r LEFT JOIN operations o ON o.operation = r.operation
        ORDER BY r.ordinal
        """
    )
    found: dict[str, Any] = answer.fetchnumpy()
    ordinals, driver, wanted = (
        np.asarray(found[name], np.int64) for name in ("ordinal", "driver", "before")
    )
    if not len(ordinals):
        return ordinals, ordinals
    places = np.minimum(np.searchsorted(ordinals, wanted), len(ordinals) - 1)
    is_link = (ordinals[places] == wanted) & (driver[places] == driver)
    # A chain leads back in time: else a recording that contradicts itself would never end.
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
        """
        SELECT a.ordinal, a.op::VARCHAR AS op, a.file::VARCHAR AS file, a.line, a.col,
               a.function::VARCHAR AS function
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
