"""Stages of texts that no recording describes: dumps, and the modules of a log."""

from __future__ import annotations

from typing import NamedTuple

from actiondbg.ir.tree.scanner import scan
from actiondbg.lineage.locations.location_table import LocationTable, OwnLines
from actiondbg.lineage.stage import Stage


class ScannedStage(NamedTuple):
    """A stage, and a sentence about what could not be read of its text; empty if all was."""

    stage: Stage
    note: str


def scanned_stage(
    text: str,
    name: str,
    *,
    file: str | None = None,
    first_node: int = 0,
    partial: bool = False,
) -> ScannedStage:
    """Return the stage of a text.

    Args:
        text: the IR; several modules too.
        name: what users call it.
        file: its path, if users know it as a file: an operation without a location then has its
            own line and column in that file, as MLIR's parser gives it.
        first_node: the number of its first operation; the numbers of the others follow.
        partial: use what can be read of a text whose brackets do not match.

    Raises:
        BrokenText: the brackets do not match.
    """
    scanned = scan(text, name, partial=partial)
    own_lines = None if file is None else OwnLines(file, text, scanned.locations.offsets)
    stage = Stage(
        **vars(scanned.tree),
        name=name,
        nodes=range(first_node, first_node + len(scanned.tree)),
        locations=LocationTable(scanned.locations, own_lines),
    )
    return ScannedStage(stage, scanned.note)
