"""Where a lineage comes from: dumps; a recording or a run of a tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actiondbg.errors import UsageError
from actiondbg.lineage.lineage import Lineage


class OpenedLineage(NamedTuple):
    """A lineage, and sentences about what could not be used of its source."""

    lineage: Lineage
    notes: tuple[str, ...] = ()


def open_lineage(
    *,
    dumps: Sequence[str] = (),
    remap: Sequence[str] = (),
    partial: bool = False,
) -> OpenedLineage:
    """Open the lineage of a source.

    Args:
        dumps: files of IR, in the order of the compilation.
        remap: ``OLD=NEW`` names of source files, for dumps.
        partial: use what can be read of damaged dumps.

    Raises:
        UsageError: the source is missing, or cannot be read; or the locations of dumps overlap
            nowhere.
        BrokenText: the brackets of a dump do not match.
    """
    if dumps:
        from actiondbg.lineage.dumps.dump_files import read_dumps

        found = read_dumps(dumps, remap=remap, partial=partial)
        found.lineage.check_order()
        return OpenedLineage(found.lineage, found.notes)
    raise UsageError("The source of the lineage is missing: give --input A.mlir --then B.mlir.")
