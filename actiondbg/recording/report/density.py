"""The density of actions over time, in buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from actiondbg.recording.report.queries import ask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MOST = 1_500  # buckets per thread: more than the columns of a screen


class Density(TypedDict):
    """The actions of a run over time.

    Attributes:
        end: the end of the run, in ns.
        width: the width of a bucket, in ns.
        threads: for each thread its number and its counts per bucket.
    """

    end: int
    width: int
    threads: list[dict[str, object]]


def density(database: DuckDBPyConnection, buckets: int) -> Density:
    """Count the actions, and those that changed the IR, by thread and bucket of their begin.

    Args:
        database: the database of the recording.
        buckets: the number of buckets of all threads together.
    """
    [(end, threads)] = ask(
        database,
        """
        SELECT coalesce(max(start_ns + coalesce(duration_ns, 0)), 0), count(DISTINCT thread)
        FROM actions
        """,
    )
    count = max(min(_MOST, buckets // max(threads, 1)), 1)
    width = end // count + 1
    rows = ask(
        database,
        """
        SELECT thread, start_ns // $width AS bucket, count(*), count_if(changed)
        FROM actions GROUP BY ALL ORDER BY ALL
        """,
        width=width,
    )
    counted: dict[int, dict[str, list[int]]] = {}
    for thread, bucket, calls, changed in rows:
        both = counted.setdefault(thread, {"calls": [0] * count, "changed": [0] * count})
        both["calls"][bucket], both["changed"][bucket] = calls, changed
    columns: list[dict[str, object]] = [
        {"thread": thread, **both} for thread, both in counted.items()
    ]
    return {"end": end, "width": width, "threads": columns}
