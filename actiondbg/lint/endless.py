"""The rewrites that a tool repeated endlessly when it was ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.protocol.tags import FOLD_TAG
from actiondbg.recording.capture.endless import repeated_actions
from actiondbg.recording.query.interruption import fetch_rows

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


def endless_rewrites(recording: Recording, database: Any) -> str | None:
    """Return the query of the rewrites that a tool repeated when it was ended, or None.

    The rows have the columns of a rule's query. Each row is an action of the round, in the
    unfinished iteration.
    """
    if not recording.ending.is_forced:
        return None
    cycle = repeated_actions(recording.path)
    if cycle is None:
        return None
    last = cycle.round[-1].ordinal
    rows = fetch_rows(
        database,
        """
        SELECT around.ordinal FROM actions AS own JOIN actions AS around
            ON around.ordinal = own.parent AND around.outcome = 'unfinished'
        WHERE own.ordinal = ?
        """,
        [last],
    )
    if not rows:
        return None  # the driver ended, and another action was going on
    names = ", ".join(f"({_quoted(each.tag)}, {_quoted(each.name)})" for each in cycle.round)
    period = len(cycle.round)
    how = "up to the end of the recording" + (f", in a round of {period}" if period > 1 else "")
    return f"""
        SELECT CASE tag WHEN '{FOLD_TAG}' THEN 'fold (' || name || ')' ELSE name END AS subject,
               ordinal, '{how}' AS detail
        FROM actions WHERE parent = {rows[0][0]} AND changed AND (tag, name) IN ({names})
    """


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
