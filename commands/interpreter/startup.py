"""Feeding a front end: the options -x and -ex, the init files, standard input, the shell."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from actiondbg.commands import FAILED, NOT_STARTED
from actiondbg.errors import LaunchError

if TYPE_CHECKING:
    from actiondbg.commands.cli.line_parser import LineParser
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.commands.interpreter.interpreter import Interpreter


class _Script(argparse.Action):
    """Collect -x and -ex in one list: they are run in the order in which they stand."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        namespace.scripts = [*namespace.scripts, (option_string, values)]


def add_options(parser: LineParser) -> None:
    """Add the options that say what is executed, and how it is shown."""
    add = parser.add_argument
    parser.set_defaults(scripts=[])
    add("-x", action=_Script, metavar="FILE", help="run the commands of a file")
    add("-ex", action=_Script, metavar="CMD", help="run a command")
    add("--batch", action="store_true", help="leave after the -x and -ex, at the first failure")
    add("--json", action="store_true", help="print one JSON object a command")
    add("--keep-going", action="store_true", help="a failing command does not end a batch")
    add("-nx", action="store_true", help="do not run .actiondbginit")
    add("--trust", action="store_true", help="trust ./.actiondbginit from now on")
    parser.add_shared("--no-color")


def is_interactive(options: argparse.Namespace) -> bool:
    """Tell whether a person is at the prompt."""
    return not options.batch and not options.json and sys.stdin.isatty()


def reads_stdin(options: argparse.Namespace) -> bool:
    """Tell whether the commands come from standard input, which is no person's."""
    return not options.batch and not is_interactive(options)


def drive(front: Front, options: argparse.Namespace) -> int:
    """Run the init files, -x and -ex, then what follows; return the exit code.

    Args:
        front: what the commands act on.
        options: parsed by what ``add_options`` added.
    """
    from actiondbg.commands.interpreter.interpreter import Interpreter, Lines

    is_fed = reads_stdin(options)
    keep_going = options.keep_going or front.interactive or (options.json and is_fed)
    interpreter = Interpreter(front, keep_going=keep_going)
    loader = _ShellLoader(front) if front.interactive else None
    succeeded = _run_init(front, interpreter, options) or keep_going
    succeeded = succeeded and (interpreter.run(Lines(_script_lines(options.scripts))) or keep_going)
    if loader is not None:
        return _run_shell(front, loader)
    if succeeded and is_fed and not front.quitting:
        lines = (line.rstrip("\n") for line in iter(sys.stdin.readline, ""))
        interpreter.run(Lines(lines, None if front.json else "<stdin>"))
    return _exit_code(interpreter)


def _exit_code(interpreter: Interpreter) -> int:
    if interpreter.failure is None:
        return 0
    return NOT_STARTED if isinstance(interpreter.failure, LaunchError) else FAILED


def _script_lines(scripts: list[tuple[str, str]]) -> Iterator[str]:
    for option, text in scripts:
        yield f"source {_quoted(text)}" if option == "-x" else text


def _quoted(text: str) -> str:
    """Return a word as the interpreter reads it back."""
    return "'" + text.replace("'", "'\\''") + "'"


def _run_init(front: Front, interpreter: Interpreter, options: argparse.Namespace) -> bool:
    """Run the init files that are there and trusted."""
    from actiondbg.commands.interpreter import trusted_files as trust

    project = trust.project_file()
    if options.trust:
        trust.add(project)
    if options.nx:
        return True
    files = [trust.user_file()]
    if project.is_file() and project != files[0]:
        if trust.is_trusted(project):
            files.append(project)
        else:
            front.note(f"{project} was not run: say 'trust' or use --trust if you trust it.")
    front.quiet = True
    try:
        return all([interpreter.execute(f"source {_quoted(str(f))}") for f in files if f.is_file()])
    finally:
        front.quiet = False


# --- the shell ----------------------------------------------------------------


class _ShellLoader:
    """Imports the shell while the first commands run: cmd2 takes as long as they do."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._shell: Any = None
        self._thread = threading.Thread(target=self._import, daemon=True)
        self._thread.start()
        front.shell = self.get

    @staticmethod
    def _import() -> None:
        import_module("actiondbg.commands.shell.shell")

    def get(self) -> Any:
        """Return the shell; it is made the first time."""
        if self._shell is None:
            self._thread.join()
            self._shell = import_module("actiondbg.commands.shell.shell").Shell(self._front)
        return self._shell


def _run_shell(front: Front, loader: _ShellLoader) -> int:
    if not front.quitting:
        shell = loader.get()
        import_module("actiondbg.commands.shell.shell").run(shell)
    return 0
