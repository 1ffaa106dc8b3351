"""The lineage at a stop of a session, live or over a recording."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from actiondbg.errors import ActiondbgError, NoSuchUnit
from actiondbg.ir.tokens import VALUE
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.lineage.stage import Operation, Stage, select
from actiondbg.recording import open_recording
from actiondbg.recording.session.operation_changes import OperationChanges
from actiondbg.recording.session.recorded_session import RecordedSession

if TYPE_CHECKING:
    from actiondbg.lineage.track_answer import AnsweredOperation, TrackAnswer
    from actiondbg.recording.session.recorded_session import DebugSession
    from actiondbg.session.runnable_session import End

_ID = re.compile(r"@\d+")
_RESULT = re.compile(rf"({VALUE})(?::\d+)?(?:, .*?)? = ")


def check_target(session: DebugSession, target: str) -> None:
    """Check, without a replay, that a target of ``operations`` can be looked up at this stop.

    Raises:
        NotStopped: it needs a stop, and there is none.
        NoSuchUnit: it is a value that does not exist at this stop.
    """
    if target == "cursor" or target.startswith("%"):
        session.cursor.operation_id(target)


def _ended(session: DebugSession, end: End) -> list[int]:
    """Return the actions that have ended at the stop of a session, and at the end of a lineage."""
    stop = session.stop
    here = stop.ordinal if stop is not None and stop.when == "after" else 0
    return [here, end] if isinstance(end, int) else [here]


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
        moments: list[OperationChanges] = []
        is_over = False
        if isinstance(session, RecordedSession):
            moments = session.past.operation_changes(end)
            is_over = session.state == "exited"
        # A mapped recording can be read after its file was removed.
        with session.past.recorded(end) as path:
            self.lineage = RecordedLineage(
                open_recording(path),
                to_end=end == "end" or is_over,
                moments=moments,
                after=_ended(session, end),
            )
        stages = self.lineage.stages
        self.first, self.last = stages[0], stages[-1]
        between = [stage for stage in stages if stage.name.startswith("after ")]
        has_here = len(between) > isinstance(end, int)
        self._here = self.last if is_over else between[0] if has_here else self.first

    @property
    def here(self) -> Stage:
        """The stage of the stop; before the first action, the input."""
        return self._here

    def operations(self, target: str, stage: Stage) -> list[Operation]:
        """Return the operations that a user means.

        Args:
            target: "cursor", an id such as "@12", an SSA name at the stop such as "%3", a symbol
                such as "@main", FILE:LINE, or the name of operations.
            stage: where symbols, lines and names are looked up.

        Raises:
            NoSuchUnit: there is no such operation.
        """
        if target == "cursor" or target.startswith("%") or _ID.fullmatch(target):
            return [self._by_id(target, stage)]
        return select(stage, target)

    def named(self, answer: TrackAnswer) -> TrackAnswer:
        """Return an answer with the names that values have in the session.

        The text of an operation of this stop is that of the session. The operations of other
        stages but the input have the printer's names.
        """
        if isinstance(self._session, RecordedSession):
            return answer
        for one in (*answer.of, *(trace.operation for trace in answer.operations)):
            text = self._text(one)
            if text is not None:
                one.text = text
                named = _RESULT.match(text)
                one.result = named[1] if named else ""
        return answer

    def _text(self, one: AnsweredOperation) -> str | None:
        if one.stage == self._here.name and self._session.state == "stopped":
            with contextlib.suppress(ActiondbgError):
                excerpt = self._session.ir.excerpt(one.node, before=0, after=0)
                line = excerpt.lines[excerpt.current]
                text = line.text.partition("\n")[0]
                return text if line.id == one.node else f"{one.name} inside {text}"
        return None

    def _by_id(self, target: str, stage: Stage) -> Operation:
        is_id = _ID.fullmatch(target)
        id = int(target[1:]) if is_id else self._session.cursor.operation_id(target)
        for one in (stage, *self.lineage.stages):
            if found := one.of_node(id):
                return found
        names = ", ".join(one.name for one in self.lineage.stages)
        raise NoSuchUnit(
            f"@{id} is in none of the IR {names}: stop where it exists, and track it there."
        )
