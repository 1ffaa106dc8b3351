"""Where a lineage comes from: a recording, an import, or dumps."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from actiondbg.errors import UsageError
from actiondbg.lineage.lineage import Lineage
from actiondbg.recording import open_recording
from actiondbg.recording.recording import Recording

if TYPE_CHECKING:
    from actiondbg.lineage.recorded.lineage import RecordedLineage


class OpenedLineage(NamedTuple):
    """A lineage, and sentences about what could not be used of its source."""

    lineage: Lineage
    notes: tuple[str, ...] = ()


def open_lineage(
    recording: str | os.PathLike[str] | None = None,
    *,
    dumps: Sequence[str] = (),
    then: Sequence[str | os.PathLike[str]] = (),
    remap: Sequence[str] = (),
    partial: bool = False,
) -> OpenedLineage:
    """Open the lineage of a recording, of a chain of recordings, or of dumps.

    Args:
        recording: made with ``record --lineage``, or by ``import``; None for dumps.
        then: recordings of tools of which each read what the one before it printed.
        dumps: files of IR, in the order of the compilation.
        remap: ``OLD=NEW`` names of source files, for dumps and imports.
        partial: use what can be read of a damaged recording, or of damaged dumps.

    Raises:
        UsageError: the source is missing, or cannot be read; or the locations of dumps overlap
            nowhere.
        NotRecorded: the recording has no lineage.
        BrokenText: the brackets of a dump do not match.
    """
    if recording is not None and then:
        runs = [open_recording(path, partial=partial) for path in (recording, *then)]
        return OpenedLineage(chain_of(runs, [os.path.basename(run.path) for run in runs]))
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


def chain_of(
    recordings: Sequence[Recording], names: Sequence[str], after: str | None = None
) -> Lineage:
    """Return the lineage of a chain of tools, in which each tool reads the output of the last.

    Args:
        recordings: their runs, in order.
        names: of the tools.
        after: a pass of any of them, or ``#N``, counted through: the lineage ends after it.

    Raises:
        UsageError: a run is an import, there is no such pass, or a tool read another IR.
        NotRecorded: a recording has no lineage.
    """
    from actiondbg.lineage.chain import ChainLineage
    from actiondbg.lineage.recorded.lineage import RecordedLineage

    for one in recordings:
        if one.header.imported:
            raise UsageError(
                f"{one.path} is an import, and a chain joins recordings: give the dumps of all "
                "stages with --input A.mlir --then B.mlir."
            )
    runs = [RecordedLineage(one) for one in recordings]
    if after is not None:
        at, last = _up_to(recordings, [run.action_count for run in runs], after)
        runs[at:] = [last]
    return ChainLineage(runs, names[: len(runs)])


def _up_to(
    recordings: Sequence[Recording], counts: Sequence[int], after: str
) -> tuple[int, RecordedLineage]:
    """Return the run of a chain in which an action is, and its lineage up to the action's end."""
    from actiondbg.analysis.pipeline import find_pass_end
    from actiondbg.lineage.live import SessionLineage
    from actiondbg.recording.session.session import RecordedSession

    with ExitStack() as stack:
        sessions = [stack.enter_context(RecordedSession(one)) for one in recordings]
        firsts = [0, *accumulate(counts)]
        digits = after.removeprefix("#")
        passes = [
            msgspec.structs.replace(one, ordinal=one.ordinal + first)
            for session, first in zip(sessions, firsts, strict=False)
            for one in session.past.passes()
        ]
        ordinal = int(digits) if digits.isdecimal() else find_pass_end(passes, after)
        if not 0 < ordinal <= firsts[-1]:
            raise UsageError(f"There is no action #{ordinal}: the chain has {firsts[-1]}.")
        at = bisect_left(firsts, ordinal) - 1
        return at, SessionLineage(sessions[at], ordinal - firsts[at]).lineage
