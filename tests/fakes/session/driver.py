"""Drive the front end in the tests, and keep what it prints."""

from __future__ import annotations

import io
import json
from typing import Any

from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.interpreter.interpreter import Interpreter, Lines
from actiondbg.commands.shell.topics import COMMANDS
from tests.fakes.session.session import FakeSession


class Driver:
    """A front end that keeps what it prints."""

    def __init__(self, **options: Any) -> None:
        self.session = FakeSession()
        self.out, self.err = io.StringIO(), io.StringIO()
        session: Any = self.session
        live = None if "recorded" in options else session
        self.console = Console(session, live, out=self.out, err=self.err, **options)
        self.interpreter = Interpreter(self.console, COMMANDS)

    def do(self, *lines: str) -> str:
        """Execute lines as a script does; return what they print, errors too."""
        self.interpreter.run(Lines(lines))
        return self.taken()

    def taken(self) -> str:
        text = self.out.getvalue() + self.err.getvalue()
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return text

    def results(self, *lines: str) -> list[Any]:
        return [json.loads(line) for line in self.do(*lines).splitlines()]
