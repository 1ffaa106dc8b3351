"""The console of a command: its session, settings, output and errors."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Protocol, TextIO

from actiondbg.commands.interpreter.declaration import UNRESTRICTED, Permissions
from actiondbg.commands.interpreter.settings import Settings
from actiondbg.commands.render.edits import located_text
from actiondbg.commands.render.ir import ShownLines, StopContext
from actiondbg.commands.render.ir_text.ir_view import IRView
from actiondbg.commands.render.status import Display
from actiondbg.commands.render.tables import wrapped
from actiondbg.commands.render.terminal.output import Redirect, color_allowed, open_redirect
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.errors import NotStopped, ToolGone, UsageError
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import AliasTable, Command, Parsed
    from actiondbg.commands.render.bisection import Report
    from actiondbg.process.stop import Stop
    from actiondbg.recording.session.recorded_session import DebugSession, RecordedSession
    from actiondbg.session.session import Session
    from actiondbg.whatif.alternatives_comparison import AlternativesComparison

_LATE_SECONDS = 1.0  # before advice is printed after Ctrl-C
_ADVICE = (
    "The tool has not reached its next action: press Ctrl-C again to stop it where it is.",
    "The tool does not respond: press Ctrl-C again to kill it.",
)


class CommandLines(Protocol):
    """The part of the interpreter that commands use; see ``Interpreter``."""

    @property
    def aliases(self) -> AliasTable: ...
    @property
    def scripted(self) -> bool: ...
    @property
    def typed(self) -> bool: ...
    def block(self, *, strip: bool = True) -> list[str]: ...
    def run_script(self, text: str, path: str) -> None: ...
    def parse(self, line: str) -> Parsed: ...
    def display(self, line: str) -> object: ...
    def reported(self, line: str, error: Exception) -> Exception: ...
    def help(self, words: Sequence[str]) -> str: ...
    def complete_help(self, before: list[str], word: str) -> list[str]: ...
    def complete_line(self, before: list[str], word: str) -> list[str] | None: ...


class Prompt(Protocol):
    """The line editor of an interactive session; see ``Shell``."""

    def run_builtin(self, line: str) -> None: ...
    def ask(self, question: str) -> str: ...


class DisplayList:
    """The displays, numbered from 1; numbers are not reused.

    Attributes:
        running: whether a display runs now, during which the tool must not resume.
    """

    def __init__(self) -> None:
        self.running = False
        self._all: dict[int, Display] = {}
        self._newest = 0

    def all(self) -> list[Display]:
        return list(self._all.values())

    def add(self, line: str) -> Display:
        self._newest += 1
        added = self._all[self._newest] = Display(self._newest, line)
        return added

    def remove(self, ids: list[int]) -> None:
        for number in ids:
            del self._all[number]


class Console:
    """The front end of one session: the shell, a batch or a JSON client.

    Args:
        live: the same session if it runs a tool; None for a recording.
        json: print one JSON object a command instead of text.
        interactive: a user is at the prompt; Ctrl-C stops the tool, not actiondbg.
        color: use colour where the output allows it.
        progress: shows waits; by default none are shown.
        out: the stream of results; by default stdout.
        err: the stream of errors and notes; by default stderr.
        recorded: the same session if it is a recording, which cannot run all commands.
        permissions: what commands may do beside debugging.
    """

    interpreter: CommandLines

    def __init__(
        self,
        session: DebugSession,
        live: Session | None = None,
        *,
        json: bool = False,
        interactive: bool = False,
        color: bool = True,
        progress: ProgressLine | None = None,
        out: TextIO | None = None,
        err: TextIO | None = None,
        recorded: RecordedSession | None = None,
        permissions: Permissions = UNRESTRICTED,
    ) -> None:
        self.session = session
        self.permissions = permissions
        self.recorded = recorded
        self._live = live
        self.json = json
        self.interactive = interactive
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.settings = Settings(self.live_session, has_tool=live is not None)
        self.displays = DisplayList()
        self.ir_view = IRView(self)
        self.stop_context = StopContext(self)
        self.comparison: AlternativesComparison | None = None  # of the latest 'whatif'
        self.report_search: Report | None = None  # shows the progress of a bisection
        self.shown_lines = ShownLines(session, self.ir_view)
        self.quitting = False
        self.full_screen = False  # whether the shell reads lines in its full-screen view
        self.terminal_written = False  # by a program that a command ran, behind that view
        self.quiet = False  # in init files, whose results a JSON client does not expect
        self.redirected = False
        self.piped = False  # redirected to a command
        self.python: dict[str, object] = {"session": session, "__name__": "__console__"}
        self.shell: Callable[[], Prompt] | None = None
        self._color = color and color_allowed()
        self._noted_threading = recorded is not None
        self.progress = progress or ProgressLine(self.err, enabled=False)

    # --- text ---------------------------------------------------------------

    @property
    def colored(self) -> bool:
        """Whether text written to ``out`` is coloured now."""
        return self._color and self.settings.on("style") and self.out.isatty()

    def note(self, text: str) -> None:
        """Print a note on stderr, except in JSON mode."""
        if not self.json:
            self.out.flush()
            print(self.fitted(text), file=self.err, flush=True)

    def fitted(self, text: str) -> str:
        """Break the sentences of a message at words, at the width of the user's terminal."""
        width = self.width
        if width is None:
            return text
        lines = text.splitlines()
        # An indented line is a quotation, such as a condition above the mark of its fault.
        rows = ([line] if line.startswith(" ") else wrapped(line, width) for line in lines)
        return "\n".join(row for line_rows in rows for row in line_rows)

    @property
    def pages(self) -> bool:
        wanted = self.interactive and self.settings.on("pagination") and not self.redirected
        return wanted and self.out.isatty() and not self.stop_context.in_pane

    @property
    def to_file(self) -> bool:
        """Whether output is redirected to a file."""
        return self.redirected and not self.piped

    @property
    def width(self) -> int | None:
        """The columns of the terminal at which a user is; None without one."""
        if not self.interactive or self.json or self.redirected or not self.out.isatty():
            return None
        return shutil.get_terminal_size().columns

    @contextmanager
    def redirect(self, redirect: Redirect | None) -> Generator[None, None, None]:
        """Redirect ``out`` to a file or a command within the block.

        Raises:
            UsageError: the file cannot be opened.
        """
        if redirect is None:
            yield
            return
        saved = self.out
        self.terminal_written |= redirect.operator == "|"
        with open_redirect(redirect, saved, self.err if self.json else None) as self.out:
            outer = self.redirected, self.piped
            self.redirected, self.piped = True, redirect.operator == "|"
            try:
                yield
            finally:
                self.out = saved
                self.redirected, self.piped = outer

    # --- the tool -----------------------------------------------------------

    @property
    def way_on(self) -> str | None:
        """How to go on where a tool has ended and its program runs on, in a clause; or None."""
        return self._live.way_on if self._live is not None else None

    @property
    def greeting(self) -> str:
        """The message at the start of a session over a recording; empty for a tool."""
        if self.recorded is None:
            return ""
        recording = self.recorded.recording
        if recording.header.imported:
            count = counted(recording.count, "pass")
            origin = f"imported from {recording.header.imported}"
        else:
            count = counted(recording.count, "action")
            origin = f"of {shlex.join(self.session.target.argv)}"
        return "\n".join(filter(None, [f"{recording.path}: {count} {origin}", recording.cut]))

    @property
    def can_go_back(self) -> bool:
        """Whether time travel may reach what has run; in a recording it always does."""
        return self._live is None or self._live.can_go_back

    def live_session(self, reason: str = "") -> Session:
        """Return the session of the running tool; ``reason`` is the feature that needs it.

        Raises:
            UsageError: the session is a recording; the message names the way to start the tool.
        """
        if self._live is None:
            needed = self.recorded.recording.needs_tool(reason) if self.recorded else reason
            raise UsageError(str(needed))
        return self._live

    def refusal(self, command: Command) -> str | None:
        """Return a sentence why this session does not support a command; None if it does."""
        if self.recorded is not None and command.needs_tool:
            return str(self.recorded.recording.needs_tool(command.needs_tool))
        if self.recorded is not None and command.shows_ir and not self.recorded.holds_ir:
            return str(self.recorded.recording.needs_ir)
        return self.permissions.refusal(command.permission, repr(command.name))

    def check(self, command: Command) -> None:
        """Raise UsageError if this session does not support a command."""
        why = self.refusal(command)
        if why is not None:
            raise UsageError(why)

    # --- control ------------------------------------------------------------

    def resume(self, control: Callable[[], Stop]) -> Stop:
        """Resume the tool until it stops; in an interactive session, Ctrl-C stops it."""
        if self.displays.running:
            raise UsageError("A display cannot resume the tool.")
        self.out.flush()
        with self.progress.shown():
            stop = self._resume(control)
        hello = self._live.target.hello if self._live else None
        if not self._noted_threading and hello and "threads-off" in hello.capabilities:
            self._noted_threading = True
            self.note("Threading of the tool is switched off while it is debugged.")
        if self._live is not None:
            for edited in self._live.edits.report_located():
                self.note(located_text(edited))
        return stop

    def _resume(self, control: Callable[[], Stop]) -> Stop:
        try:
            return control()
        except KeyboardInterrupt:
            if (way_on := self.way_on) is not None:
                self.note(f"No tool runs now: {way_on}.")
                raise
            if self.interactive and self.session.state == "running":
                return self._interrupt()
            raise

    def _interrupt(self) -> Stop:
        """Stop the tool after Ctrl-C: before an action, at another Ctrl-C inside it, or kill it."""
        for advice in _ADVICE:
            late = Timer(_LATE_SECONDS, self.note, [advice])
            late.daemon = True
            late.start()
            try:
                self.live_session().interrupt()
                return self.live_session().wait()
            except KeyboardInterrupt:
                continue
            finally:
                late.cancel()
        self.live_session().kill()
        raise ToolGone("The tool did not respond to interrupts, and was killed.")

    def run_builtin(self, line: str) -> None:
        """Run one of the commands of the line editor.

        Raises:
            UsageError: the session is not interactive.
        """
        if self.shell is None:
            raise UsageError(f"{line.split()[0]!r} works only at the interactive prompt.")
        self.shell().run_builtin(line)

    def confirms(self, question: str, reason: str | None = None) -> bool:
        """Ask a user at the prompt, unless the setting confirm is off; return whether to go on.

        Scripts, batches and other input are not asked. The end of the input means yes, as in gdb.

        Args:
            question: one sentence.
            reason: a sentence before it, or None.
        """
        if self.shell is None or not self.interpreter.typed or not self.settings.on("confirm"):
            return True
        if reason is not None:
            self.note(reason)
        while True:
            try:
                answer = self.shell().ask(f"{question} (y or n) ").strip().lower()
            except EOFError:
                return True
            if answer in ("y", "yes", "n", "no"):
                return answer.startswith("y")
            self.note("Please answer y or n.")

    def confirms_end(self, question: str) -> bool:
        """Ask, as ``confirms`` does, if the tool is alive; return whether to end it."""
        if self._live is None or self.session.state not in ("stopped", "running"):
            return True
        pid = self._live.target.pid
        return self.confirms(question, f"The tool is alive (process {pid}), and will be killed.")

    def need_stop(self) -> None:
        """Raise NotStopped if the tool is not stopped."""
        if self.session.state != "stopped":
            raise NotStopped("The tool is not stopped: start it with 'start' or 'run'.")
