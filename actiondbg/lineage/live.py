"""The lineage at a stop of a session, live or over a recording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from actiondbg.errors import NoSuchUnit, UsageError
from actiondbg.lineage.recorded.lineage import RecordedLineage
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.recording import open_recording

if TYPE_CHECKING:
    from actiondbg.session.debug_session import DebugSession
    from actiondbg.session.past.lineage_replay import End

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


class SessionLineage:
    """The lineage of a session's run, from its beginning over the stop to some end.

    Args:
        session: a live session, whose run is replayed, or a recorded one.
        end: where the lineage ends: after an action, at this stop, or at the end of the run.

    Raises:
        NotStopped: the tool was not started.
        NoAnswer: the run cannot be replayed.
        NotRecorded: the recording has no lineage.
        UsageError: the action is before the stop.
    """

    def __init__(self, session: DebugSession, end: End) -> None:
        self._session = session
        # A mapped recording can be read after its file was removed.
        with session.past.recorded(end) as path:
            self.lineage = RecordedLineage(open_recording(path))
        stages = self.lineage.stages
        if not stages:
            raise UsageError("The tool has not begun an action: there is no IR to track.")
        self.first, self.last = stages[0], stages[-1]

    @property
    def here(self) -> Stage:
        """The stage of the stop: over a recording, which has none, the input."""
        between = [stage for stage in self.lineage.stages if stage.name.startswith("after #")]
        return between[0] if between else self.first

    def operations(self, target: str, stage: Stage) -> list[Operation]:
        """Return the operations that a user means.

        Args:
            target: "cursor", an id such as "@12", an SSA name at the stop such as "%3", a symbol
                such as "@main", or FILE:LINE.
            stage: where symbols and lines are looked up.

        Raises:
            NoSuchUnit: there is no such operation.
        """
        if target == "cursor" or target.startswith("%") or re.fullmatch(r"@\d+", target):
            return [self._by_id(target, stage)]
        if target.startswith("@"):
            found = stage.with_symbol(target[1:])
            if not found:
                raise NoSuchUnit(f"No operation defines {target} in the IR {stage.name}.")
            return found
        return operations_at(stage, target)

    def _by_id(self, target: str, stage: Stage) -> Operation:
        digits = target[1:]
        id = int(digits) if digits.isdecimal() else self._session.cursor.operation_id(target)
        for one in (stage, *self.lineage.stages):
            if found := one.of_node(id):
                return found
        raise NoSuchUnit(
            f"@{id} is in none of the IR {', '.join(one.name for one in self.lineage.stages)}: "
            "stop where it exists, and track it there."
        )


def operations_at(stage: Stage, place: str) -> list[Operation]:
    """Return the operations with a source location.

    Args:
        stage: the operations.
        place: FILE:LINE or FILE:LINE:COLUMN; of the file, the last components are enough.

    Raises:
        UsageError: the text is no place.
        NoSuchUnit: there is no such operation.
    """
    parsed = _PLACE.fullmatch(place)
    if parsed is None:
        raise UsageError(
            f"{place!r} is no operation: give cursor, an id such as @12, an SSA name such as %3, a "
            "symbol such as @main, or FILE:LINE."
        )
    end, line, column = parsed["file"], int(parsed["line"]), parsed["column"]
    found = [
        Operation(stage, index)
        for index, location in enumerate(stage.locations)
        if any(
            (one.file == end or one.file.endswith("/" + end))
            and one.line <= line <= one.end_line
            and column in (None, str(one.column))
            for one in location.ranges
        )
    ]
    if not found:
        raise NoSuchUnit(f"No operation of the IR {stage.name} has a location at {place}.")
    return found
