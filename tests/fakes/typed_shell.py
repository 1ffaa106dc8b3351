"""A front end over a real session, as at a terminal: it keeps what it prints."""

from __future__ import annotations

import io

import pytest

import actiondbg
from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.interpreter.interpreter import Interpreter, Lines
from actiondbg.commands.shell.topics import COMMANDS


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Screen:
    """Types commands at a terminal without colours.

    Args:
        session: the session.
        monkeypatch: sets the columns.
        columns: of the terminal.
    """

    def __init__(
        self, session: actiondbg.Session, monkeypatch: pytest.MonkeyPatch, columns: int = 240
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(columns))
        self.session = session
        self._out, self._err = _Terminal(), io.StringIO()
        self._interpreter = Interpreter(
            Console(session, session, interactive=True, color=False, out=self._out, err=self._err),
            COMMANDS,
        )

    def type(self, *lines: str) -> str:
        """Execute lines; return what they print, errors too."""
        self._interpreter.run(Lines(lines))
        text = self._out.getvalue() + self._err.getvalue()
        for stream in (self._out, self._err):
            stream.seek(0)
            stream.truncate()
        return text
