"""A recorded session under the names that commands use until they use its collaborators."""

from __future__ import annotations

from typing import Any

from actiondbg.recording.session.session import RecordedSession

_NAMES = {
    "argv": "target.argv",
    "backtrace": "stack.frames",
    "frame_index": "stack.selected",
    "select_frame": "stack.select",
    "action": "stack.action",
    "context": "stack.context",
    "cursor": "cursor.get",
    "move_cursor": "cursor.move",
    "print": "ir.print",
    "module": "ir.module",
    "cursor_op": "ir.cursor_op",
    "count": "ir.count",
    "changes": "outcome.changes",
    "breakpoint": "breakpoints.get",
    "add_breakpoint": "breakpoints.add",
    "watch": "breakpoints.watch",
    "catch": "breakpoints.catch",
    "delete_breakpoints": "breakpoints.delete",
    "enable": "breakpoints.enable",
    "disable": "breakpoints.disable",
    "set_condition": "breakpoints.set_condition",
    "set_ignore": "breakpoints.set_ignore",
    "set_commands": "breakpoints.set_commands",
    "hits": "breakpoints.hits",
    "save_breakpoints": "breakpoints.save",
    "goto": "timeline.goto",
    "reverse_step": "timeline.reverse_step",
    "reverse_next": "timeline.reverse_next",
    "reverse_finish": "timeline.reverse_finish",
    "reverse_continue": "timeline.reverse_continue",
    "timeline": "timeline.branches",
    "checkpoints": "timeline.checkpoints.all",
    "why_not": "past.why_not",
    "history": "past.history",
    "diff": "past.diff",
    "cycles": "past.cycles",
    "statistics": "past.statistics",
    "names": "names.get",
}


class OldRecordedSession:
    """Delegates to a RecordedSession.

    Args:
        session: the session.
    """

    def __init__(self, session: RecordedSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        if name == "breakpoints":
            return self._session.breakpoints.all()
        found: Any = self._session
        for part in _NAMES.get(name, name).split("."):
            found = getattr(found, part)
        return found

    def links(self, direction: str) -> Any:
        """Return what the cursor's operands come from, or what uses its results."""
        cursor = self._session.cursor
        return cursor.defs() if direction == "defs" else cursor.users()
