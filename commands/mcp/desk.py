"""The desk of a worker: one session with its console, what it may do, and its progress."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

from actiondbg.commands.interpreter.console import Console
from actiondbg.commands.interpreter.interpreter import Interpreter
from actiondbg.commands.mcp.answers import Place, Result
from actiondbg.commands.render.renderer import show
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.errors import UsageError
from actiondbg.process.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.mcp.restrictions import Restrictions
    from actiondbg.recording.session.recorded_session import DebugSession, RecordedSession
    from actiondbg.session.session import Session

Report = Callable[[str, int | None, int | None], None]  # a text; how many of how many are done

_OUTPUT = 2_000  # characters of the tool's output that are shown at its end


class WaitReports(ProgressLine):
    """The waits of a console, reported to the client instead of a terminal."""

    def __init__(self, report: Report) -> None:
        super().__init__(io.StringIO(), enabled=False)
        self.shows = True
        self._report = report

    def _write(self, text: str) -> None:
        """Report a line, drawn once a second; a line of a client is not erased."""
        line = text.removeprefix("\x1b7\x1b[?7l").removesuffix("\x1b[K\x1b[?7h\x1b8")
        if line != text:
            self._report(line, None, None)


class Desk:
    """The state of a worker process."""

    def __init__(self, restrictions: Restrictions, report: Report) -> None:
        self.restrictions = restrictions
        self.report = report
        self.is_over = False  # whether the session cannot be used any more
        self._out = io.StringIO()
        self._notes = io.StringIO()
        self._console: Console | None = None
        self._errors_shown = ""
        self._kept = ExitStack()

    # --- the session ---

    def open(self, session: Session) -> Console:
        """Take a session of a tool; it is closed with the desk."""
        return self._take(session, session)

    def open_recording(self, session: RecordedSession) -> Console:
        """Take a session over a recording."""
        console = self._take(session, None, session)
        console.settings.set("print-stop", "on" if session.holds_ir else "off")
        return console

    def _take(
        self,
        session: Session | RecordedSession,
        live: Session | None,
        recorded: RecordedSession | None = None,
    ) -> Console:
        self._kept.enter_context(session)
        self._console = Console(
            session,
            live,
            interactive=True,  # an interrupted request leaves the tool at a stop
            color=False,
            progress=WaitReports(self.report),
            out=self._out,
            err=self._notes,
            recorded=recorded,
            permissions=self.restrictions.permissions,
        )
        Interpreter(self._console, COMMANDS)
        return self._console

    @property
    def console(self) -> Console:
        """The console of the session; raises UsageError if none is open."""
        if self._console is None:
            raise UsageError("No session is open: call open first.")
        return self._console

    @property
    def session(self) -> DebugSession:
        """The session; raises UsageError if none is open."""
        return self.console.session

    def close(self) -> None:
        """End the tool, and remove the files of the session."""
        if self._console is not None and self._console.comparison is not None:
            self._console.comparison.close()
        self._kept.close()

    # --- answers ---

    def answered(self, result: object) -> Result:
        """Return the answer to a request: texts and results of commands as text, with notes."""
        found = cast("list[object]", result) if isinstance(result, list) else [result]
        for each in found:
            if isinstance(each, str):
                self._out.write(f"{each.rstrip()}\n" if each else "")
            elif each is not None:
                show(self.console, each)
                if isinstance(each, Stop):
                    self._write_output(each)
        text = (_taken(self._out) + self._taken_notes()).rstrip()
        return self._result(text or ("" if self._console is None else "Done."))

    def failed(self, message: str) -> Result:
        _taken(self._out)
        return self._result(f"{message}\n{self._taken_notes()}".rstrip(), error=True)

    def _result(self, text: str, error: bool = False) -> Result:
        """Return an answer with the place of the session, if one is open."""
        if self._console is None:
            return Result(text, error=error)
        session = self._console.session
        place = None if session.stop is None else Place.of(session.stop)
        return Result(text, session.state, place, error)

    def _taken_notes(self) -> str:
        lines = _taken(self._notes).splitlines()
        return "".join(f"Note: {line}\n" for line in lines if line.strip())

    def _write_output(self, stop: Stop) -> None:
        """Write what the tool printed: diagnostics at each stop, its output at the end."""
        try:
            target = self.console.live_session().target
        except UsageError:
            return  # of a recording
        errors = target.errors()
        new = errors.removeprefix(self._errors_shown)
        self._errors_shown = errors
        if new.strip():
            self._out.write(f"The tool wrote to its standard error:\n{new.rstrip()}\n")
        if stop.when != "exit":
            return
        output = target.output()
        if 0 < len(output) <= _OUTPUT:
            self._out.write(f"The tool wrote to its standard output:\n{output.rstrip()}\n")
        elif output:
            self._out.write(
                f"The tool wrote {len(output):,} characters to its standard output: show_ir with "
                "what 'output' shows them.\n"
            )


def _taken(stream: io.StringIO) -> str:
    """Return what was written to a stream, and empty it."""
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text
