"""How many actions ran when: all of them, in buckets, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.recording.report.queries import ask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MOST = 1_500  # buckets of a thread: more than a screen has columns


def density(database: DuckDBPyConnection, buckets: int) -> dict[str, Any]:
    """Return, of each thread, the actions that began in each bucket, and those that changed.

    Args:
        database: of the recording.
        buckets: of all threads together.
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
    told: dict[int, dict[str, list[int]]] = {}
    for thread, bucket, calls, changed in rows:
        both = told.setdefault(thread, {"calls": [0] * count, "changed": [0] * count})
        both["calls"][bucket], both["changed"][bucket] = calls, changed
    columns = [{"thread": thread, **both} for thread, both in told.items()]
    return {"end": end, "width": width, "threads": columns}
