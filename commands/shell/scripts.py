"""Commands for scripts, help, Python, other programs and the shell itself; trusted init scripts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, positional, rest
from actiondbg.commands.render.status import Alias, Aliases, Text
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.support.output_file import writing
from actiondbg.support.user_directories import config_directory, home_directory

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console

NAME = ".actiondbginit"


def user_file() -> Path:
    return home_directory() / NAME


def project_file() -> Path:
    return Path.cwd() / NAME


class InitScript:
    """The init script of a directory as it is now; one that has changed is not trusted any more.

    Attributes:
        text: its content, which is what is trusted and run.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        # Imported here: few directories have such a script.
        from hashlib import sha256

        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"{str(path)!r} cannot be read ({error.strerror}): change to the directory of the "
                f"{NAME} to trust."
            ) from error
        self.text = content.decode(errors="replace")
        digest = sha256(bytes(path) + b"\0" + content).hexdigest()
        self._mark = config_directory() / "trusted-scripts" / digest
        self._path = path

    def is_trusted(self) -> bool:
        """Whether the user has trusted this script with this content."""
        return self._mark.is_file()

    def trust(self) -> None:
        """Trust the script, now and later.

        Raises:
            FileNotWritten: the user's configuration cannot be written.
        """
        with writing(self._mark):
            self._mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._mark.write_bytes(bytes(self._path) + b"\n")


SCRIPTS = Topic("Scripts and the shell")


class SourceOptions(Options):
    file: str = positional("FILE", help="a script, one command a line", complete=completers.files)


@SCRIPTS.command("source", example="source steps.adbg")
def source(console: Console, options: SourceOptions) -> None:
    """Run the commands of a file."""
    with open(os.path.expanduser(options.file), encoding="utf-8-sig", errors="replace") as file:
        text = file.read()
    console.interpreter.run_script(text, options.file)


class EchoOptions(Options):
    text: str = rest("TEXT")


@SCRIPTS.command("echo", example="echo The pattern was skipped.", reads=True, contained=True)
def echo(_: Console, options: EchoOptions) -> Text:
    """Print TEXT."""
    return Text(options.text)


class HelpOptions(Options):
    words: tuple[str, ...] = positional(
        "COMMAND",
        help="a command, the first word of a heading, all, tasks, spec or expr",
        complete=completers.command_names,
    )


@SCRIPTS.command("help", example="help break", aliases=("h",), reads=True, contained=True)
def help_(console: Console, options: HelpOptions) -> Text:
    """List the commands, or describe one; 'help all' lists all with examples."""
    return Text(console.interpreter.help(options.words))


class ShellOptions(Options):
    text: str = rest("COMMAND")


@SCRIPTS.command("shell", example="!ls", permission="shell")
def shell(console: Console, options: ShellOptions) -> None:
    """Run a command of the system shell; '!' is short for it."""
    console.out.flush()
    console.terminal_written = True
    command_line = options.text or os.environ.get("SHELL", "sh")
    result = subprocess.run(command_line, shell=True, stdout=console.err if console.json else None)
    if result.returncode:
        raise ActiondbgError(f"The command exited with status {result.returncode}.")


class PyOptions(Options):
    text: str = rest("[CODE]")


@SCRIPTS.command("py", example="py print(session.stop.ordinal)", permission="py")
def py(console: Console, options: PyOptions) -> None:
    """Run Python code, in which 'session' is the session; without CODE, run the lines up to 'end',
    or start a Python shell at the prompt.
    """
    if not options.text and console.shell is not None and not console.interpreter.scripted:
        console.shell().run_builtin("py")
        return
    run_python(console, options.text or "\n".join(console.interpreter.block(strip=False)))


def run_python(console: Console, code: str) -> None:
    """Run Python code in the namespace of ``py``; its stdout goes to the console."""
    from contextlib import redirect_stdout

    try:
        with redirect_stdout(console.err if console.json else console.out):
            exec(compile(code, "<py>", "exec"), console.python)
    except ActiondbgError:
        raise
    except Exception as error:
        raise UsageError(f"py: {type(error).__name__}: {error}") from error


@SCRIPTS.command("trust")
def trust_(console: Console, _: NoOptions) -> Text:
    """Trust the .actiondbginit of this directory as it is: run it, now and at each start."""
    path = project_file()
    script = InitScript(path)
    if not script.is_trusted():
        script.trust()
        console.interpreter.run_script(script.text, str(path))
    return Text(f"Trusted: {path}")


class AliasLineOptions(Options):
    text: str = rest("NAME COMMAND", required=True)


class MacroLineOptions(Options):
    text: str = rest("NAME COMMAND with {1} {2} ...", required=True)


class AliasNamesOptions(Options):
    names: tuple[str, ...] = positional(
        "NAME", required=True, help="the names", complete=completers.aliases
    )


SCRIPTS.group("alias", "Define a name for a command line.", example="alias create bf break fold:*")


@SCRIPTS.command("alias create", example="alias create bf break fold:*")
def alias_create(console: Console, options: AliasLineOptions) -> Alias:
    """Define NAME as short for a command line; arguments of NAME follow the line."""
    return console.interpreter.aliases.define("alias", options.text)


@SCRIPTS.command("alias list", reads=True)
def alias_list(console: Console, _: NoOptions) -> Aliases:
    """List the aliases as commands that define them."""
    return Aliases("alias", console.interpreter.aliases.all("alias"))


@SCRIPTS.command("alias delete", example="alias delete bf")
def alias_delete(console: Console, options: AliasNamesOptions) -> None:
    """Delete aliases."""
    console.interpreter.aliases.delete("alias", options.names)


SCRIPTS.group(
    "macro",
    "Define a name for a command line with arguments.",
    example="macro create bp break pattern:{1}",
)


@SCRIPTS.command("macro create", example="macro create bp break pattern:{1}")
def macro_create(console: Console, options: MacroLineOptions) -> Alias:
    """Define NAME as short for a command line, in which {1} is the first argument of NAME."""
    return console.interpreter.aliases.define("macro", options.text)


@SCRIPTS.command("macro list", reads=True)
def macro_list(console: Console, _: NoOptions) -> Aliases:
    """List the macros as commands that define them."""
    return Aliases("macro", console.interpreter.aliases.all("macro"))


@SCRIPTS.command("macro delete", example="macro delete bp")
def macro_delete(console: Console, options: AliasNamesOptions) -> None:
    """Delete macros."""
    console.interpreter.aliases.delete("macro", options.names)


class EditOptions(Options):
    text: str = rest("[FILE]", complete=completers.files)


@SCRIPTS.command("edit", example="edit in.mlir")
def edit(console: Console, options: EditOptions) -> None:
    """Open a file in $EDITOR."""
    console.run_builtin(f"edit {options.text}")


class LayoutOptions(Options):
    name: Literal["ir"] = positional("ir", default="ir", help="IR, stack, changes and output")


@SCRIPTS.command("layout", example="layout ir")
def layout(console: Console, _: LayoutOptions) -> None:
    """Show the IR around the cursor, the stack, changes and output in panes above the prompt."""
    _enter_full_screen(console)


SCRIPTS.group("tui", "Switch the full-screen view on or off.", example="tui enable")


@SCRIPTS.command("tui enable")
def tui_enable(console: Console, _: NoOptions) -> None:
    """Show the IR around the cursor, the stack, changes and output in panes above the prompt."""
    _enter_full_screen(console)


@SCRIPTS.command("tui disable")
def tui_disable(console: Console, _: NoOptions) -> None:
    """Leave the full-screen view; the terminal is as it was before."""
    console.full_screen = False


def _enter_full_screen(console: Console) -> None:
    """Switch the full-screen view on.

    Raises:
        UsageError: no user is at a terminal that has one.
    """
    if not console.interactive or console.json or not sys.stdout.isatty():
        raise UsageError(
            "The full-screen view needs a terminal: start actiondbg in one, without --batch "
            "and --json."
        )
    if os.environ.get("TERM", "dumb") in ("", "dumb", "unknown"):
        raise UsageError(
            "The full-screen view needs a terminal that moves the cursor: set TERM, which is "
            f"{os.environ.get('TERM', '')!r}."
        )
    console.full_screen = True


@SCRIPTS.command("quit", aliases=("q", "exit"))
def quit_(console: Console, _: NoOptions) -> None:
    """Kill the tool and exit; at the prompt, ask if the tool is alive."""
    console.quitting = console.confirms_end("Quit anyway?")
