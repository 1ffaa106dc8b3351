"""The startup of a console: init scripts, the options -x and -ex, then standard input or shell."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NamedTuple

from actiondbg.commands import FAILED, NOT_STARTED
from actiondbg.commands.cli.line_parser import NoColor
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.errors import LaunchError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.interpreter.interpreter import Interpreter
    from actiondbg.commands.shell.prompt.shell import Shell
    from actiondbg.recording.session.session import RecordedSession
    from actiondbg.session.debug_session import DebugSession
    from actiondbg.session.session import Session


class Script(NamedTuple):
    """A file of commands (-x), or one command (-ex)."""

    text: str
    is_file: bool = False


class StartupOptions(Options):
    """The options of consoles: commands to run, and output."""

    scripts: Annotated[  # in command-line order
        tuple[Script, ...],
        option(
            "-x", "FILE", help="run the commands of a file", parse=partial(Script, is_file=True)
        ),
        option("-ex", "CMD", help="run a command", parse=Script),
    ] = ()
    batch: bool = flag(help="exit after -x and -ex, or at the first failure")
    json: bool = flag(help="print one JSON object a command")
    keep_going: bool = flag(help="continue after failing commands")
    nx: bool = flag("-nx", help="do not run .actiondbginit")
    trust: bool = flag(help="trust ./.actiondbginit, now and later")
    no_color: NoColor = False


def is_interactive(options: StartupOptions) -> bool:
    return not options.batch and not options.json and sys.stdin.isatty()


def reads_stdin(options: StartupOptions) -> bool:
    """Whether commands are read from standard input without a prompt."""
    return not options.batch and not is_interactive(options)


def make_console(
    session: DebugSession,
    options: StartupOptions,
    live: Session | None = None,
    recorded: RecordedSession | None = None,
) -> Console:
    """Return the console of a session for the options of a command line; see Console."""
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.render.terminal.progress import ProgressLine

    return Console(
        session,
        live,
        json=options.json,
        interactive=is_interactive(options),
        color=not options.no_color,
        recorded=recorded,
        progress=ProgressLine(sys.stderr, enabled=not options.json),
    )


def run_console(console: Console, options: StartupOptions) -> int:
    """Run the init scripts, -x and -ex, then the shell or standard input; return the exit code."""
    from actiondbg.commands.interpreter.interpreter import Interpreter, Lines
    from actiondbg.commands.shell.topics import COMMANDS

    from_stdin = reads_stdin(options)
    keep_going = options.keep_going or console.interactive or (options.json and from_stdin)
    interpreter = Interpreter(console, COMMANDS, keep_going=keep_going)
    console.shell = load = _shell_loader(console, interpreter) if console.interactive else None
    succeeded = _run_init(console, interpreter, options) or keep_going
    succeeded = succeeded and (interpreter.run(Lines(_script_lines(options.scripts))) or keep_going)
    if load is not None:
        return _run_shell(console, load)
    if succeeded and from_stdin and not console.quitting:
        lines = (line.rstrip("\n") for line in iter(sys.stdin.readline, ""))
        succeeded = interpreter.run(Lines(lines, None if console.json else "<stdin>"))
    if succeeded and not console.json:
        _run_on(console, interpreter)
    return _exit_code(interpreter)


def _run_on(console: Console, interpreter: Interpreter) -> None:
    """Let a program run on that would be killed because a tool of it has failed."""
    while not console.quitting and console.way_on is not None:
        if not interpreter.execute("continue"):
            return


def _exit_code(interpreter: Interpreter) -> int:
    if interpreter.failure is None:
        return 0
    return NOT_STARTED if isinstance(interpreter.failure, LaunchError) else FAILED


def _script_lines(scripts: Sequence[Script]) -> Iterator[str]:
    for script in scripts:
        yield f"source {_quoted(script.text)}" if script.is_file else script.text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _run_init(console: Console, interpreter: Interpreter, options: StartupOptions) -> bool:
    """Run the init scripts that exist and are trusted."""
    from actiondbg.commands.interpreter import trusted_files as trust
    from actiondbg.commands.interpreter.interpreter import ScriptEnded

    user, project = trust.user_file(), trust.project_file()
    script = trust.InitScript(project) if project.is_file() and project != user else None
    if options.trust and script is not None:
        script.trust()
    if options.nx:
        return True
    console.quiet = True
    try:
        succeeded = not user.is_file() or interpreter.execute(f"source {_quoted(str(user))}")
        if script is not None and script.is_trusted():
            try:
                interpreter.run_script(script.text, str(project))
            except ScriptEnded:
                return False
            return succeeded
    finally:
        console.quiet = False
    if script is not None:
        console.note(f"{project} was not run: if you trust it, use 'trust' or --trust.")
    return succeeded


# --- the shell ----------------------------------------------------------------


def _shell_loader(console: Console, interpreter: Interpreter) -> Callable[[], Shell]:
    """Return a function that makes the shell at its first call.

    cmd2, which is slow to import, is imported while commands run.
    """
    module = "actiondbg.commands.shell.prompt.shell"
    thread = threading.Thread(target=import_module, args=(module,), daemon=True)
    thread.start()

    @cache
    def load() -> Shell:
        thread.join()
        from actiondbg.commands.shell.prompt.shell import Shell

        return Shell(console, interpreter)

    return load


def _run_shell(console: Console, load: Callable[[], Shell]) -> int:
    if not console.quitting:
        shell = load()  # first: Ctrl-C during the import ends without a word
        if console.session.state == "not-running":
            console.note("'help' lists the commands; 'start' stops before the first action.")
        shell.run()
    return 0
