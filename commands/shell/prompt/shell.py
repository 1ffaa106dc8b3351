"""The interactive shell: cmd2's line editing around the interpreter.

Only this module imports cmd2, which costs about 0.4 s, and only interactive sessions import this
module. cmd2 reads lines, completes, and provides history, edit and the Python shell.
The interpreter runs every other line as written: cmd2 would parse the ``>`` of
``break x if depth > 3`` as a redirection.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import cmd2

from actiondbg.commands.interpreter.declaration import Command
from actiondbg.commands.interpreter.interpreter import Interpreter, Lines, split_command
from actiondbg.commands.shell.prompt.history_file import HistoryFile, history_file
from actiondbg.commands.shell.prompt.termination import Termination
from actiondbg.commands.shell.topics import COMMANDS
from actiondbg.support.interrupts import raise_interrupt

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.shell.prompt.full_screen.view import FullScreen

PROMPT = "(actiondbg) "
_HIDDEN = ["_eof", "_relative_run_script", "run_script", "run_pyscript", "shortcuts"]
# Not overridden: run_builtin runs them, and cmd2 adds subcommands to its alias and macro.
_CMD2_COMMANDS = ("alias", "edit", "history", "macro", "py")


class Shell(cmd2.Cmd):
    """The prompt of one console."""

    def __init__(self, console: Console, interpreter: Interpreter) -> None:
        super().__init__(
            allow_cli_args=False,
            allow_clipboard=False,
            allow_redirection=False,
            auto_suggest=False,
            complete_in_thread=False,  # completion shares the connection to the agent
            include_py=True,
            shortcuts={"!": "shell", "?": "help"},
            terminators=(),
        )
        self.console = console
        self.interpreter = interpreter
        self.prompt = PROMPT
        self.continuation_prompt = "> "
        self.hidden_commands = list(_HIDDEN)
        self.py_locals = console.python
        # For completion only, as the interpreter runs all lines.
        self.statement_parser.aliases = interpreter.aliases.lines
        self._full_screen: FullScreen | None = None
        self._termination = Termination()
        self._admits_interrupts = False
        self._history_file = HistoryFile(history_file())
        self._load_history()
        # A line that wraps is no continuation: it is shown without a prompt in its middle.
        self.main_session.prompt_continuation = None
        self.interpreter.lines = Lines(iter(self._block_line, None), typed=True)

    def _load_history(self) -> None:
        for line in self._history_file.load():
            self._remember(line)
            self.main_session.history.append_string(line)
        self.history.start_session()

    def _remember(self, line: str) -> None:
        """Add a line to cmd2's history, for the command ``history``."""
        word, _ = split_command(line)
        self.history.append(cmd2.Statement("", raw=line, command=word))

    def _block_line(self) -> str | None:
        """Read a line of ``commands ... end``; Ctrl-D ends the block, Ctrl-C drops it."""
        if self._full_screen is not None:
            self._full_screen.show_terminal()
        try:
            return self.read_input(self.continuation_prompt)
        except EOFError:
            return "end"

    # --- lines ----------------------------------------------------------------

    def _read_command_line(self, prompt: str) -> str:
        """Read a line; after Ctrl-C, which cmd2 returns as an empty line, repeat no command."""
        self._switch_view()
        try:
            with self._interruptible():
                if self._full_screen is not None:
                    return self._full_screen.read_line()
                return super()._read_command_line(prompt)
        except KeyboardInterrupt:
            self.interpreter.repeat = ""
            raise

    def _read_raw_input(self, prompt: Any, session: PromptSession[str], **options: Any) -> str:
        with self._termination.reading(session.app):
            return super()._read_raw_input(prompt, session, **options)

    def _switch_view(self) -> None:
        """Attach or detach the full-screen view, as ``tui`` asked."""
        if self.console.full_screen and self._full_screen is None:
            # Here, as it imports more of prompt_toolkit than the prompt does.
            from actiondbg.commands.shell.prompt.full_screen.view import FullScreen

            self._full_screen = FullScreen(
                self.console, self.main_session, PROMPT, self._termination
            )
            self._full_screen.attach()
            self.stdout = self.console.out
        elif not self.console.full_screen and self._full_screen is not None:
            self._full_screen.detach()
            self._full_screen = None
            self.stdout = self.console.out

    def onecmd_plus_hooks(self, line: str, **options: bool) -> bool:
        """Run a line of the prompt by the interpreter; the end of the input is ``quit``."""
        if line == "_eof":
            self.poutput("quit")
            return self._run("quit")
        typed = line.strip()
        line = typed or self.interpreter.repeat
        if typed:
            self._history_file.append(typed)
            self._remember(typed)
        return self._run(line)

    def _run(self, line: str) -> bool:
        """Run a line by the interpreter; return whether to leave the prompt."""
        try:
            with self._interruptible():
                self.interpreter.execute(line)
        except KeyboardInterrupt:
            self.interpreter.repeat = ""
            self.console.note("Interrupted.")
        return self.console.quitting

    def ask(self, question: str) -> str:
        if self._full_screen is not None:
            self._full_screen.show_terminal()
        return self.read_input(question)

    def run_builtin(self, line: str) -> None:
        """Run one of cmd2's own commands; only the history does not use the terminal."""
        if self._full_screen is not None and split_command(line)[0] != "history":
            self._full_screen.show_terminal()
            self.stdout = sys.stdout
        try:
            super().onecmd_plus_hooks(line, add_to_history=False)
        finally:
            self.stdout = self.console.out

    def run_statement(self, statement: cmd2.Statement) -> bool:
        """Run ``app("...")`` of the Python shell."""
        self.interpreter.execute(statement.expanded_command_line)
        return self.console.quitting

    def emptyline(self) -> bool:
        """Do nothing: onecmd_plus_hooks repeats commands."""
        return False

    def run(self) -> None:
        """Read and run lines until quit, Ctrl-D or a signal."""
        try:
            with contextlib.suppress(EOFError):
                self.cmdloop()
        finally:
            self.console.full_screen = False
            self._switch_view()
        self.console.quitting = True

    # --- completion -----------------------------------------------------------

    def completedefault(self, *where: object) -> cmd2.Completions:
        """Complete the arguments of a declared command, given by any of its names."""
        text, line, begin, end = cast("tuple[str, str, int, int]", where)
        word, _ = split_command(line)
        names = self.interpreter.complete_line([word, *line[:begin].split()[1:]], text)
        if names is None:
            return self.path_complete(text, line, begin, end)
        is_open = len(names) == 1 and names[0].endswith((":", "="))  # a value follows directly
        return cmd2.Completions(
            items=[cmd2.CompletionItem(name) for name in names], allow_finalization=not is_open
        )

    # For the commands of the interpreter, not those of cmd2 with these names.
    complete_history = complete_alias = complete_macro = completedefault

    # --- signals --------------------------------------------------------------

    @contextlib.contextmanager
    def _interruptible(self) -> Generator[None]:
        """Admit Ctrl-C in the block: elsewhere nobody would handle it, and the shell would end."""
        outer, self._admits_interrupts = self._admits_interrupts, True
        try:
            yield
        finally:
            self._admits_interrupts = outer

    def sigint_handler(self, signum: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt while a line is read or run."""
        if self._admits_interrupts:
            raise_interrupt(signum, frame)

    def termination_signal_handler(self, signum: int, _: FrameType | None) -> None:
        """Exit; the session is closed while the stack unwinds."""
        self._termination.handle(signum)


def _add_commands() -> None:
    """Define a do_* method on the shell for each declared command that cmd2 does not have."""

    def method(command: Command) -> Callable[[Shell, cmd2.Statement], bool]:
        def do(self: Shell, statement: cmd2.Statement) -> bool:
            return self.run_statement(statement)

        do.__name__ = f"do_{command.name}"
        do.__doc__ = command.summary
        cmd2.categorize(do, command.category)
        return do

    for command in COMMANDS:
        if command.name not in _CMD2_COMMANDS:
            setattr(Shell, f"do_{command.name}", method(command))


_add_commands()
