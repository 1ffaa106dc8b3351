"""Where a lineage comes from: a recording, an import, or dumps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from actiondbg.errors import UsageError
from actiondbg.lineage.lineage import Lineage
from actiondbg.recording import open_recording
from actiondbg.recording.recording import Recording


class OpenedLineage(NamedTuple):
    """A lineage, and sentences about what could not be used of its source."""

    lineage: Lineage
    notes: tuple[str, ...] = ()


def open_lineage(
    recording: str | os.PathLike[str] | None = None,
    *,
    dumps: Sequence[str] = (),
    remap: Sequence[str] = (),
    partial: bool = False,
) -> OpenedLineage:
    """Open the lineage of a recording or of dumps.

    Args:
        recording: made with ``record --lineage``, or by ``import``; None for dumps.
        dumps: files of IR, in the order of the compilation.
        remap: ``OLD=NEW`` names of source files, for dumps and imports.
        partial: use what can be read of a damaged recording, or of damaged dumps.

    Raises:
        UsageError: the source is missing, or cannot be read; or the locations of dumps overlap
            nowhere.
        NotRecorded: the recording has no lineage.
        BrokenText: the brackets of a dump do not match.
    """
    if recording is not None:
        return OpenedLineage(lineage_of(open_recording(recording, partial=partial), remap))
    if dumps:
        from actiondbg.lineage.dumps.dump_files import read_dumps

        found = read_dumps(dumps, remap=remap, partial=partial)
        found.lineage.check_order()
        return OpenedLineage(found.lineage, found.notes)
    raise UsageError("The source of the lineage is missing: give a recording, or dumps.")


def lineage_of(recording: Recording, remap: Sequence[str] = ()) -> Lineage:
    """Return the lineage of a recording, or of an import.

    Raises:
        NotRecorded: the recording has no lineage.
    """
    if recording.header.imported:
        from actiondbg.lineage.dumps.imported import imported_lineage

        return imported_lineage(recording, remap)
    from actiondbg.lineage.recorded.lineage import RecordedLineage

    return RecordedLineage(recording)
