"""Endless rewriting: whether a recorded tool repeats the same actions, also while it runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.log.tally import Tally
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Applied, Cycle
    from actiondbg.recording.capture.recorder import RecordedRun, RecordingProcess
    from actiondbg.recording.recording import Recording

_READ = 80_000  # newest actions, whose rewrites are searched for rounds
_FEWEST = 1_000  # rewrites that repeat up to the end of a tool that was ended
_SURE = 10_000  # rewrites that repeat in a tool that still runs, and may yet end
FIRST_SECONDS = 10.0  # before the first look at a running tool; each further one is twice as late
_TICK_SECONDS = 1.0
_NAMES = 3  # of a round that a sentence has


class Look(NamedTuple):
    """What is known of a tool that still runs."""

    seconds: float  # since its start
    actions: int  # recorded
    is_large: bool  # whether the recording has the most bytes that it may have
    repeated: Cycle | None = None  # the actions that it repeats; None if it repeats none


def repeated_actions(path: str | os.PathLike[str], fewest: int = _FEWEST) -> Cycle | None:
    """Return the round of rewrites that repeats up to the end of a recording, or None.

    Each rewrite of the round is on an operation of the previous round, or on an operation that was
    made since then. Copies that were made before, as of an unrolled loop, are neither.

    Args:
        path: of the recording, which may still grow.
        fewest: how many rewrites all rounds have together.
    """
    from actiondbg.analysis.cycles import find_cycle

    recording = _read_end(path)
    stream = _newest_rewrites(recording)
    cycle = find_cycle(stream)
    period = len(cycle.round) if cycle else 0
    if cycle is None or cycle.times * period < fewest:
        return None
    at = next(at for at, each in enumerate(stream) if each.ordinal == cycle.round[0].ordinal)
    before = stream[at - period : at]
    known = {each.id for each in before} | _made_from(recording, before[0].ordinal)
    return cycle if all(each.id in known for each in cycle.round) else None


def _newest_rewrites(recording: Recording) -> list[Applied]:
    from actiondbg.analysis.cycles import Applied

    columns = ["ordinal", "tag", "name", "op", "operation", "file", "line", "col", "changed"]
    rows = recording.table("actions", columns)
    rows = rows.slice(max(0, rows.num_rows - _READ)).to_pylist()
    return [
        Applied(
            ordinal=row["ordinal"],
            tag=row["tag"],
            name=row["name"],
            op=row["op"],
            id=row["operation"],
            location=row["file"] and f"{row['file']}:{row['line']}:{row['col']}",
        )
        for row in rows
        if row["changed"] and row["tag"] in (PATTERN_TAG, FOLD_TAG)
    ]


def _made_from(recording: Recording, ordinal: int) -> set[int]:
    """Return the operations that were made in an action or later."""
    from actiondbg.recording.format.arrow import call, pa

    operations = recording.table("operations", ["operation", "created_by"])
    is_new = call("greater_equal", operations["created_by"], pa.scalar(ordinal))
    return set(operations.filter(is_new)["operation"].to_pylist())


def wait_watching(
    running: RecordingProcess, show: Callable[[Look], bool], *, most_bytes: int | None = None
) -> RecordedRun:
    """Wait for the end of a tool, and look at it after some seconds, and again twice as late.

    Ctrl-C interrupts the tool, not the wait.

    Args:
        show: called with each look; it returns whether the tool is to be terminated.
        most_bytes: the size of the recording at which it is called at once; None for none.
    """
    tally = Tally(running.path or Path())
    due, seconds = FIRST_SECONDS, 0.0
    while (done := running.poll(_TICK_SECONDS)) is None:
        seconds += _TICK_SECONDS
        try:
            tally.update()
            is_large = most_bytes is not None and tally.size > most_bytes
            if (seconds >= due or is_large) and tally.actions:
                due = 2 * seconds
                repeated = _seen_to_repeat(running.path)
                if show(Look(seconds, tally.actions, is_large, repeated)):
                    running.close()
        except KeyboardInterrupt:
            running.interrupt()
    return done


def _seen_to_repeat(path: Path | None) -> Cycle | None:
    """Return what a running tool repeats; None if it cannot be read, as without pyarrow."""
    with contextlib.suppress(RecordingError, ImportError):
        return None if path is None else repeated_actions(path, _SURE)
    return None


def _read_end(path: str | os.PathLike[str]) -> Recording:
    """Read the newest actions of a recording; all if there are actions of several threads."""
    from actiondbg.recording.format.file import count_actions, read_file
    from actiondbg.recording.recording import Recording, part_of

    file = read_file(path, partial=True)
    if len({chunk.thread for chunk in file.chunks if count_actions([chunk])}) > 1:
        return Recording(file)
    first, count = len(file.chunks), 0
    while first and count < _READ:
        first -= 1
        count += count_actions([file.chunks[first]])
    return part_of(file, first, len(file.chunks), (), count_actions(file.chunks) + 1)


def look_text(look: Look) -> str:
    """Return a sentence about a tool that still runs."""
    known = f"The tool still runs after {look.seconds:.0f} s: {counted(look.actions, 'action')}"
    if look.repeated is None:
        return f"{known} up to now."
    return f"{known}, and now {repeated_text(look.repeated)} endlessly."


def repeated_text(cycle: Cycle) -> str:
    """Return what repeats, as a clause: ``fold (arith.addi) at in.mlir:3:8 repeats``."""
    names = list(
        dict.fromkeys(
            f"fold ({each.name})" if each.tag == FOLD_TAG else each.name for each in cycle.round
        )
    )
    shown = ", ".join(names[:_NAMES]) + (" ..." if names[_NAMES:] else "")
    place = next((each.location for each in cycle.round if each.location), None)
    where = "" if place is None else f" at {place}"
    return f"{shown}{where} {'repeats' if len(names) == 1 else 'repeat'}"
