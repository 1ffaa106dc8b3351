"""The actions that changed the IR, with their changes and diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.ir.value_names import ValueNames
from actiondbg.recording.report.diffs import PaintedDiffs, recorded_diff
from actiondbg.recording.report.queries import Shared, ask, ask_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from actiondbg.recording.recording import Recording

_LONGEST = 400_000  # characters of a compared text: longer ones take seconds
_WITH_IR = "SELECT DISTINCT ordinal FROM ir JOIN actions USING (ordinal) WHERE changed"


def changing_ordinals(database: DuckDBPyConnection, most: int) -> list[int]:
    """Choose actions that changed the IR: the first of each name, then the second ..."""
    return _in_rounds(database, "FROM actions a WHERE a.changed", most)


def changes(
    database: DuckDBPyConnection, shared: Shared, ordinals: list[int], most: int
) -> dict[str, object]:
    """Return the first changes of actions, and the number of further ones."""
    found = ask_columns(
        database,
        """
        WITH numbered AS (
            SELECT c.*, row_number() OVER (PARTITION BY ordinal ORDER BY seq) AS nth,
                   count(*) OVER (PARTITION BY ordinal) AS count
            FROM changes c WHERE ordinal IN (SELECT unnest($ordinals::BIGINT[]))
        )
        SELECT c.ordinal, c.kind::VARCHAR AS kind, c.operation, c.op::VARCHAR AS op,
               c.file::VARCHAR AS file, coalesce(c.line, 0) AS line, coalesce(c.col, 0) AS col,
               coalesce(c."by", 0) AS "by", o.op::VARCHAR AS by_op, c.block, c.guess, c.count
        FROM numbered c LEFT JOIN operations o ON o.operation = c."by"
        WHERE c.nth <= $most ORDER BY c.ordinal, c.seq
        """,
        ordinals=ordinals,
        most=most,
    )
    numbered = shared.number(found, "kind", "op", "file", "by_op")
    rows = zip(*(numbered[name] for name in CHANGE_COLUMNS), strict=True)
    listed: dict[int, list[Any]] = {}
    left_out: dict[int, int] = {}
    for ordinal, count, row in zip(numbered["ordinal"], numbered["count"], rows, strict=True):
        listed.setdefault(ordinal, []).append([int(each) for each in row])
        if count > most:
            left_out[ordinal] = count - most
    return {"columns": CHANGE_COLUMNS, "of": listed, "left_out": left_out}


CHANGE_COLUMNS = ("kind", "operation", "op", "file", "line", "col", "by", "by_op", "block", "guess")


def add_diffs(
    recording: Recording, diffs: PaintedDiffs, ordinals: Sequence[int], compared: int
) -> None:
    """Add the diffs of actions until the size or the characters to compare are used up."""
    names = ValueNames()
    for ordinal in ordinals:
        diff = recorded_diff(recording, ordinal, names, _LONGEST)
        diffs.add(ordinal, diff)
        compared -= len(diff.before) + len(diff.after) if diff else 0
        if diffs.is_full or compared <= 0:
            break


def ordinals_with_ir(database: DuckDBPyConnection, most: int) -> list[int]:
    """Choose actions with recorded IR, like ``changing_ordinals``."""
    return _in_rounds(database, f"FROM actions a SEMI JOIN ({_WITH_IR}) USING (ordinal)", most)


def count_with_ir(database: DuckDBPyConnection) -> int:
    """Count the actions with recorded IR."""
    [(count,)] = ask(database, f"SELECT count(*) FROM ({_WITH_IR})")
    return count


def _in_rounds(database: DuckDBPyConnection, source: str, most: int) -> list[int]:
    """Return ordinals of actions: the first of each name, then the second of each ..."""
    rows = ask(
        database,
        f"""
        WITH chosen AS (
            SELECT a.ordinal,
                   row_number() OVER (PARTITION BY a.tag, a.name ORDER BY a.ordinal) AS round
            {source}
        )
        SELECT ordinal FROM chosen ORDER BY round, ordinal LIMIT $most
        """,
        most=most,
    )
    return [ordinal for (ordinal,) in rows]
