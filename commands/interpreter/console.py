"""What a command sees: the session, the settings, where its result goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Protocol, TextIO

from actiondbg.commands.interpreter.settings import Settings
from actiondbg.commands.render.info import Display
from actiondbg.commands.render.output import Redirect, color_allowed, open_redirect
from actiondbg.errors import NotStopped, ToolGone, UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.recording_console import Declared, RecordingConsole
    from actiondbg.process.stop import Stop
    from actiondbg.session.debug_session import DebugSession
    from actiondbg.session.session import Session

_LATE_SECONDS = 1.0  # from Ctrl-C to the advice
_ADVICE = (
    "The tool is still inside an action: press Ctrl-C again to stop there.",
    "The tool does not stop there either: press Ctrl-C again to kill it.",
)


class CommandLines(Protocol):
    """The interpreter, as commands see it."""

    @property
    def scripted(self) -> bool:
        """Return whether the line that is executed came from a script."""
        ...

    def block(self, *, strip: bool = True) -> list[str]:
        """Read lines up to ``end``; see Interpreter."""
        ...

    def source(self, path: str) -> None:
        """Execute a script; see Interpreter."""
        ...

    def check(self, line: str) -> Declared:
        """Parse a line; return its command; see Interpreter."""
        ...

    def display(self, line: str) -> object:
        """Run a line beside a stop, and show it; see Interpreter."""
        ...

    def help(self, words: Sequence[str]) -> str:
        """Return the help of all commands, or of one; see Interpreter."""
        ...

    def offer_names(self, before: list[str], word: str) -> list[str]:
        """Return what the name of a command, after ``help``, can become."""
        ...

    def offer_line(self, before: list[str], word: str) -> list[str] | None:
        """Return what a word of a command line can become; None: the name of a file."""
        ...


class Prompt(Protocol):
    """The line editor that a person types into."""

    def builtin(self, line: str) -> None:
        """Run a line of the editor's own commands."""
        ...


class DisplayList:
    """Displays, under numbers from 1 that are never given out again.

    Attributes:
        running: whether one is run now; the tool must not go on meanwhile.
    """

    def __init__(self) -> None:
        self.running = False
        self._all: dict[int, Display] = {}
        self._newest = 0

    def all(self) -> list[Display]:
        """Return all, in the order of their numbers."""
        return list(self._all.values())

    def add(self, line: str) -> Display:
        """Add a command line."""
        self._newest += 1
        added = self._all[self._newest] = Display(self._newest, line)
        return added

    def remove(self, ids: list[int]) -> None:
        """Forget displays."""
        for number in ids:
            del self._all[number]


class Console:
    """One front end over one session: the shell, a batch, or a reader of JSON.

    Args:
        session: what the commands act on.
        live: the same, where it is one of a tool; None over a recording.
        json: print one JSON object a command, and no words for people.
        interactive: a person is at the prompt; Ctrl-C stops the tool, not us.
        color: whether colour is wanted where the output allows it.
        after_resume: called after every control, before its result is shown.
        out: where results go, instead of stdout.
        err: where errors and notes go, instead of stderr.
        recorded: what is said where the tool is needed; None: the session is one of a tool.
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
        after_resume: Callable[[], None] | None = None,
        out: TextIO | None = None,
        err: TextIO | None = None,
        recorded: RecordingConsole | None = None,
    ) -> None:
        self.session = session
        self.recorded = recorded
        self._live = live
        self.json = json
        self.interactive = interactive
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.settings = Settings(self.tool, has_tool=live is not None)
        self.displays = DisplayList()
        self.quitting = False
        self.quiet = False  # the init files' results are not a JSON reader's
        self.redirected = False
        self.python: dict[str, object] = {"session": session, "__name__": "__console__"}
        self.shell: Callable[[], Prompt] | None = None
        self._color = color and color_allowed()
        self._threading_told = recorded is not None
        self._after_resume = after_resume or (lambda: None)

    # --- text ---------------------------------------------------------------

    @property
    def colored(self) -> bool:
        """Whether what is written to ``out`` now is coloured."""
        return self._color and self.settings.on("style") and self.out.isatty()

    def paint(self, ir: str) -> str:
        """Colour IR if ``out`` takes colour."""
        if not self.colored:
            return ir
        from actiondbg.ir.lexer import colorize

        return colorize(ir, self.settings["style"])

    def note(self, text: str) -> None:
        """Tell a person something beside a command's result."""
        if not self.json:
            self.out.flush()
            print(text, file=self.err, flush=True)

    @property
    def pages(self) -> bool:
        """Whether long text goes through the pager."""
        wanted = self.interactive and self.settings.on("pagination") and not self.redirected
        return wanted and self.out.isatty()

    @contextmanager
    def redirect(self, redirect: Redirect | None) -> Generator[None, None, None]:
        """Send ``out`` into a file or a command for a while.

        Raises:
            UsageError: the file cannot be opened.
        """
        if redirect is None:
            yield
            return
        saved = self.out
        with open_redirect(redirect, saved, self.err if self.json else None) as self.out:
            outer, self.redirected = self.redirected, True
            try:
                yield
            finally:
                self.out = saved
                self.redirected = outer

    # --- the tool -----------------------------------------------------------

    def tool(self, what: str = "") -> Session:
        """Return the session, where it is one of a tool.

        Args:
            what: the feature that needs the tool, unless the command declares it.

        Raises:
            UsageError: it is one of a recording; says how to start the tool.
        """
        if self._live is None:
            raise UsageError(self.recorded.needs_tool(what) if self.recorded else what)
        return self._live

    def refusal(self, command: Declared) -> str | None:
        """Return why a command cannot be used with this session, in a sentence; None if it can."""
        return None if self.recorded is None else self.recorded.refusal(command)

    def check(self, command: Declared) -> None:
        """Raise UsageError if a command cannot be used with this session."""
        why = self.refusal(command)
        if why is not None:
            raise UsageError(why)

    # --- control ------------------------------------------------------------

    def resume(self, control: Callable[[], Stop]) -> Stop:
        """Let the tool run until a stop; at a prompt Ctrl-C stops it before an action."""
        if self.displays.running:
            raise UsageError("A display cannot let the tool run.")
        self.out.flush()
        try:
            stop = control()
        except KeyboardInterrupt:
            if not self.interactive or self.session.state != "running":
                raise
            stop = self._interrupt()
        finally:
            self._after_resume()
        if not self._threading_told:
            self._threading_told = True
            self.note("Threading of the tool is switched off while it is debugged.")
        return stop

    def _interrupt(self) -> Stop:
        """Wait for the stop that Ctrl-C asks for; another asks for it inside the action."""
        for advice in _ADVICE:
            late = Timer(_LATE_SECONDS, self.note, [advice])
            late.daemon = True
            late.start()
            try:
                self.tool().interrupt()
                return self.tool().wait()
            except KeyboardInterrupt:
                continue
            finally:
                late.cancel()
        self.tool().kill()
        raise ToolGone("The tool did not stop at the interrupts, and was killed.")

    def in_shell(self, line: str) -> None:
        """Run a line of cmd2's own commands.

        Raises:
            UsageError: nobody is at a prompt.
        """
        if self.shell is None:
            raise UsageError(f"{line.split()[0]!r} works at the prompt only.")
        self.shell().builtin(line)

    def need_stop(self) -> None:
        """Raise NotStopped, with the way out, if the tool is not at a stop."""
        if self.session.state != "stopped":
            raise NotStopped("The tool is not stopped: start it with 'start' or 'run'.")
