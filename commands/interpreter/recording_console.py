"""Messages and facts about a recording; refusal of the commands that need a tool."""

from __future__ import annotations

import datetime
import shlex
from typing import TYPE_CHECKING

from actiondbg.commands.render.status import Fact
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command
    from actiondbg.recording.session.session import RecordedSession


class RecordingConsole:
    """Describes a recording, and refuses commands that it cannot run."""

    def __init__(self, session: RecordedSession) -> None:
        self._session = session

    def greeting(self) -> str:
        """Return the message at the start of an interactive session."""
        recording = self._session.recording
        count = counted(recording.count, "action")
        origin = f"of {shlex.join(self._session.target.argv)}"
        if recording.header.imported:
            count = counted(recording.count, "pass")
            origin = f"imported from {recording.header.imported}"
        lines = [f"{recording.path}: {count} {origin}"]
        if recording.cut:
            lines.append(recording.cut)
        return "\n".join(lines)

    def needs_tool(self, what: str) -> str:
        """Return the error message for a feature that needs a running tool."""
        return str(self._session.recording.needs_tool(what))

    def refusal(self, command: Command) -> str | None:
        """Return why a command is refused, in a sentence; None if it is not."""
        if command.needs_tool:
            return self.needs_tool(command.needs_tool)
        if command.shows_ir and not self._session.holds_ir:
            return str(self._session.recording.needs_ir)
        return None

    def facts(self) -> dict[str, Fact]:
        """Return the facts of the recorded run, for ``info program``."""
        recording = self._session.recording
        header = recording.header
        if header.imported:
            facts = {"recording": recording.path, "imported": header.imported}
            return {**facts, "actions": recording.count, "llvm": None}
        started = datetime.datetime.fromtimestamp(header.started // 10**9).astimezone()
        return {
            "recording": recording.path,
            "actions": recording.count,
            "directory": header.cwd,
            "started": started.isoformat(" "),
            "llvm": header.llvm,
            "threading": header.threads,
            "ir": header.ir,
            "counters": ", ".join(header.events) or None,
            "cut": recording.cut,
        }
