"""The actions of a recording as Python objects."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from actiondbg.recording import open_recording

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording

Row: TypeAlias = tuple[Any, ...]  # of the results of a query

_COLUMNS = "ordinal, thread, depth, tag, name, op, operation, file, line, col, function, outcome"


class ObservedChange(NamedTuple):
    """A change of the IR.

    Args:
        kind: inserted, erased, replaced, modified or moved.
        op: the name of the operation.
        operation: its id.
        by: the id of the operation that replaced it, or None.
    """

    kind: str
    op: str | None
    operation: int
    by: int | None


class ObservedAction(NamedTuple):
    """An action that has run.

    Args:
        ordinal: its number, from 1.
        thread: the number of its thread.
        depth: the number of actions around it.
        tag: such as "apply-pattern".
        name: of the pattern, the pass or the folded operation.
        op: the name of its operation, or None.
        operation: the id of its operation, or None.
        location: of its operation, as FILE:LINE:COL, or None.
        function: the symbol that holds the operation, or None.
        outcome: succeeded, unchanged, failed, skipped or unfinished.
        reasons: why it failed, as it reported them.
        changes: those that it made itself, without nested actions.
    """

    ordinal: int
    thread: int
    depth: int
    tag: str
    name: str
    op: str | None
    operation: int | None
    location: str | None
    function: str | None
    outcome: str
    reasons: tuple[str, ...]
    changes: tuple[ObservedChange, ...]

    @property
    def place(self) -> str:
        """The operation and where it is, as a text."""
        parts = [self.op or self.tag]
        parts += [f"in @{self.function}"] if self.function else []
        parts += [f"at {self.location}"] if self.location else []
        return " ".join(parts)


class EqualAttempts(NamedTuple):
    """Actions that ended in the same way."""

    outcome: str
    reason: str | None  # the first that each reported; None for none
    times: int
    first: int  # the ordinal of the first


class ObservedActions:
    """The actions of a recording, in the order of their ordinals.

    Args:
        path: the recording, which may still be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def recording(self) -> Recording:
        """Open the recording with all actions up to now."""
        return open_recording(self.path)

    def missing(self) -> str | None:
        """Return why actions may be missing, a sentence; None if all up to now are recorded."""
        return self._missing() if self.recording().cut is not None else None

    def _missing(self) -> str:
        return (
            f"The recording {str(self.path)!r} is incomplete, as the disk may be full: free disk "
            "space, or name another file (TMPDIR for temporary ones)."
        )

    def __iter__(self) -> Iterator[ObservedAction]:
        return iter(self.find())

    def __len__(self) -> int:
        return self.recording().count

    def find(self, spec: str | None = None, outcome: str | None = None) -> list[ObservedAction]:
        """Return the actions that match.

        Args:
            spec: SPEC or "SPEC if EXPR", as ``break`` takes it; None for all actions.
            outcome: as ``break --outcome`` takes it, such as "failed" or "changed".

        Raises:
            UsageError: a syntax error.
        """
        # Imported on demand, as all that reads recordings: a program observes before it asks.
        from actiondbg.recording.query.filters import where, where_outcome

        conditions = [where(spec)] if spec else []
        conditions += [where_outcome(outcome)] if outcome else []
        return self.select(" AND ".join(conditions) or "true")

    def select(self, condition: str, most: int | None = None) -> list[ObservedAction]:
        """Return the actions, at most ``most``, for which an SQL condition holds."""
        from actiondbg.recording.query.database import open_database
        from actiondbg.recording.query.interruption import fetch_rows

        limit = "" if most is None else f" LIMIT {most}"
        which = f"SELECT ordinal FROM actions WHERE {condition} ORDER BY ordinal{limit}"
        queries = (
            f"SELECT {_COLUMNS} FROM actions WHERE ordinal IN ({which}) ORDER BY ordinal",
            f"SELECT ordinal, reason FROM reasons WHERE ordinal IN ({which})",
            'SELECT ordinal, kind, op, operation, "by" FROM changes '
            f"WHERE ordinal IN ({which}) AND NOT block ORDER BY ordinal, seq",
        )
        with contextlib.closing(open_database(self.recording())) as database:
            rows, *others = [fetch_rows(database, query) for query in queries]
        reasons, changes = map(_grouped, others)
        return [_action(row, reasons, changes) for row in rows]

    def count(self, condition: str = "true") -> tuple[int, int]:
        """Return the number of actions for which an SQL condition holds, and their operations."""
        ((actions, operations),) = self._rows(
            f"SELECT count(*), count(DISTINCT operation) FROM actions WHERE {condition}"
        )
        return actions, operations

    def attempts(self, condition: str) -> list[EqualAttempts]:
        """Return how the actions ended for which an SQL condition holds, the most common first."""
        rows = self._rows(
            "SELECT outcome, reason, count(*) AS many, min(ordinal) AS earliest FROM actions "
            f"WHERE {condition} GROUP BY outcome, reason ORDER BY many DESC, earliest"
        )
        return [EqualAttempts(*row) for row in rows]

    def names(self, tag: str) -> list[str]:
        """Return the names of the actions with a tag, in the order of their first appearance."""
        rows = self._rows(
            "SELECT name, min(ordinal) AS earliest FROM actions "
            f"WHERE tag = '{tag}' GROUP BY name ORDER BY earliest"
        )
        return [name for name, _ in rows]

    def _rows(self, query: str) -> list[Row]:
        from actiondbg.recording.query.database import open_database
        from actiondbg.recording.query.interruption import fetch_rows

        with contextlib.closing(open_database(self.recording())) as database:
            return fetch_rows(database, query)


def _grouped(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Return the rest of each row by its first column."""
    groups: dict[int, list[Row]] = defaultdict(list)
    for first, *rest in rows:
        groups[first].append(tuple(rest))
    return groups


def _action(
    row: Row, reasons: dict[int, list[Row]], changes: dict[int, list[Row]]
) -> ObservedAction:
    ordinal, thread, depth, tag, name, op, operation, file, line, column, function, outcome = row
    location = None if file is None else f"{file}:{line}:{column}"
    return ObservedAction(
        *(ordinal, thread, depth, tag, name, op, operation, location, function, outcome),
        tuple(reason for (reason,) in reasons.get(ordinal, ())),
        tuple(ObservedChange(*change) for change in changes.get(ordinal, ())),
    )
