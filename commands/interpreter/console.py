"""What a command sees of the front end: the session, the settings, where text goes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any, TextIO, cast

from actiondbg.commands.interpreter.display_list import Displays
from actiondbg.commands.interpreter.settings import Settings
from actiondbg.commands.interpreter.words import Redirect
from actiondbg.errors import NotStopped, ToolGone, UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command
    from actiondbg.commands.interpreter.interpreter import Interpreter
    from actiondbg.commands.interpreter.recording_console import Recorded
    from actiondbg.commands.shell.shell import Shell
    from actiondbg.recording.session.old_names import OldRecordedSession
    from actiondbg.session.session import Session, Stop


_LATE_SECONDS = 1.0  # from Ctrl-C to the advice
_ADVICE = (
    "The tool is still inside an action: press Ctrl-C again to stop there.",
    "The tool does not stop there either: press Ctrl-C again to kill it.",
)


class Front:
    """One front end over one session: the shell, a batch, or a reader of JSON.

    Args:
        session: what the commands act on.
        json: print one JSON object a command, and no words for people.
        interactive: a person is at the prompt; Ctrl-C stops the tool, not us.
        color: whether colour is wanted where the output allows it.
        after_resume: called after every control, before its result is shown.
        out: where results go, instead of stdout.
        err: where errors and notes go, instead of stderr.
        recorded: what is said where the tool is needed; None: the session is one of a tool.
    """

    interpreter: Interpreter

    def __init__(
        self,
        session: Session | OldRecordedSession,
        *,
        json: bool = False,
        interactive: bool = False,
        color: bool = True,
        after_resume: Callable[[], None] | None = None,
        out: TextIO | None = None,
        err: TextIO | None = None,
        recorded: Recorded | None = None,
    ) -> None:
        self.session = session
        self.recorded = recorded
        self.json = json
        self.interactive = interactive
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.settings = Settings(self.tool, has_tool=recorded is None)
        self.displays = Displays()
        self.quitting = False
        self.quiet = False  # the init files' results are not a JSON reader's
        self.redirected = False
        self.python: dict[str, Any] = {"session": session, "__name__": "__console__"}
        self.shell: Callable[[], Shell] | None = None
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
            what: needs the tool, in words, unless the command declares it.

        Raises:
            UsageError: it is one of a recording; says how to start the tool.
        """
        if self.recorded is not None:
            raise UsageError(self.recorded.needs_tool(what))
        return cast("Session", self.session)

    def refusal(self, command: Command) -> str | None:
        """Return why a command cannot be used with this session, in a sentence; None if it can."""
        return None if self.recorded is None else self.recorded.refusal(command)

    def check(self, command: Command) -> None:
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


def color_allowed() -> bool:
    """Return whether the environment allows colour (https://no-color.org, TERM=dumb)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def open_redirect(
    redirect: Redirect, out: TextIO, command_out: TextIO | None
) -> Generator[TextIO, None, None]:
    """Open what a redirection names; a command inherits ``out`` or gets ``command_out``."""
    if redirect.operator != "|":
        path = os.path.expanduser(redirect.target)
        mode = "w" if redirect.operator == ">" else "a"
        try:
            with open(path, mode, encoding="utf-8") as file:
                yield file
        except OSError as error:
            # A failed write, as on a full disk, names no file; any other file is not ours.
            if error.filename not in (None, path):
                raise
            raise UsageError(f"{path!r} cannot be written: {error.strerror}.") from None
        return
    out.flush()
    with piped(redirect.target, command_out) as stdin:
        yield stdin


@contextmanager
def piped(command: str, stdout: TextIO | None = None) -> Generator[TextIO, None, None]:
    """Run a shell command, and give the file that it reads; it may end before we do."""
    process = subprocess.Popen(
        command, shell=True, stdin=subprocess.PIPE, stdout=stdout, encoding="utf-8"
    )
    stdin = cast("TextIO", process.stdin)
    try:
        yield stdin
    except BrokenPipeError:
        pass
    finally:
        with suppress(BrokenPipeError):
            stdin.close()
        _wait(process)


def _wait(process: subprocess.Popen[str]) -> None:
    """Wait for a command of the user's; Ctrl-C is for it, not for us."""
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return
