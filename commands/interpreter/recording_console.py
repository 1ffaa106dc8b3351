"""What the front end says over a recording, where there is no tool."""

from __future__ import annotations

import datetime
import shlex
from typing import TYPE_CHECKING, Protocol

from actiondbg.commands.render.info import Fact
from actiondbg.recording.errors import needs_tool

if TYPE_CHECKING:
    from actiondbg.recording.session.session import RecordedSession


class Declared(Protocol):
    """A declared command, as far as the commands about commands need it."""

    @property
    def name(self) -> str:
        """Return the name."""
        ...

    @property
    def category(self) -> str:
        """Return the heading that help lists it under."""
        ...

    @property
    def needs_tool(self) -> str:
        """Return what cannot be done in a recording, in words, or nothing."""
        ...

    @property
    def shows_ir(self) -> bool:
        """Return whether a recording has to hold IR for it."""
        ...


class RecordingConsole:
    """Refuses what a recording does not hold, and says what would give it.

    Args:
        session: over the recording.
    """

    def __init__(self, session: RecordedSession) -> None:
        self._session = session

    def greeting(self) -> str:
        """Return what a person is told at the beginning."""
        recording = self._session.recording
        count = f"{recording.count:,} action{'s'[: recording.count != 1]}"
        lines = [f"{recording.path}: {count} of {shlex.join(self._session.target.argv)}"]
        if recording.cut:
            lines.append(recording.cut)
        return "\n".join(lines)

    def needs_tool(self, what: str) -> str:
        """Return the sentence that refuses something; ``what`` says what, in words."""
        return needs_tool(self._session.recording.header.argv, what)

    def refusal(self, command: Declared) -> str | None:
        """Return why a command cannot be used, in a sentence; None if it can."""
        if command.needs_tool:
            return self.needs_tool(command.needs_tool)
        if command.shows_ir and not self._session.holds_ir:
            return f"{self._session.recording.path} holds no IR: record it with --ir function."
        return None

    def facts(self) -> dict[str, Fact]:
        """Return what is known of the recorded run, for ``info program``."""
        recording = self._session.recording
        header = recording.header
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
