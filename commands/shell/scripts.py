"""Commands about scripts, help, other programs and the shell itself."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter import help as manual
from actiondbg.commands.interpreter import trusted_files as trust
from actiondbg.commands.interpreter.declaration import Arguments, arg, command
from actiondbg.commands.render.results import Text
from actiondbg.errors import ActiondbgError, UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

SCRIPTS = "Scripts and the shell"
_MAX_DEPTH = 50  # of scripts that source scripts


@command(
    "source",
    SCRIPTS,
    "Run the commands of a file.",
    "source steps.adbg",
    arg("file", metavar="FILE", help="one command a line", complete="file"),
)
def source(front: Front, args: Arguments) -> Any:
    front.interpreter.source(args.file, _MAX_DEPTH)


@command("echo", SCRIPTS, "Print a text.", "echo The pattern was skipped.", raw="TEXT")
def echo(_: Front, args: Arguments) -> Any:
    return Text(args.text)


@command(
    "help",
    SCRIPTS,
    "Tell about all commands, about one, about spec (SPEC) or expr (EXPR).",
    "help break",
    arg("words", nargs="*", metavar="COMMAND", help="or spec or expr", complete="command"),
    aliases=("h",),
)
def help_(front: Front, args: Arguments) -> Any:
    if not args.words:
        return Text(manual.overview(front.refusal))
    word, *subject = args.words
    if word in manual.TOPICS:
        return Text(manual.TOPICS[word])
    found = front.interpreter.find(word)
    found = found.resolve(subject[0])[0] if subject else found
    return Text(manual.page(found, front.refusal))


@command(
    "shell", SCRIPTS, "Run a command of the system's; '!' is short for it.", "!ls", raw="COMMAND"
)
def shell(front: Front, args: Arguments) -> Any:
    front.out.flush()
    command_line = args.text or os.environ.get("SHELL", "sh")
    result = subprocess.run(command_line, shell=True, stdout=front.err if front.json else None)
    if result.returncode:
        raise ActiondbgError(f"The command ended with status {result.returncode}.")


@command(
    "py",
    SCRIPTS,
    "Run Python, with 'session' in it: one line, or without CODE the lines up to 'end' "
    "(at the prompt: a Python shell).",
    "py print(session.stop.ordinal)",
    raw="[CODE]",
)
def py(front: Front, args: Arguments) -> Any:
    if not args.text and front.shell is not None and not front.interpreter.scripted:
        front.shell().builtin("py")
        return
    run_python(front, args.text or "\n".join(front.interpreter.block(strip=False)))


def run_python(front: Front, code: str) -> None:
    """Run Python code in the namespace of ``py``; what it prints goes to the front's out."""
    from contextlib import redirect_stdout

    try:
        with redirect_stdout(front.err if front.json else front.out):
            exec(compile(code, "<py>", "exec"), front.python)
    except ActiondbgError:
        raise
    except Exception as error:
        raise UsageError(f"py: {type(error).__name__}: {error}") from error


@command(
    "trust",
    SCRIPTS,
    "Trust the .actiondbginit of this directory: it is run when actiondbg starts here.",
    "trust",
)
def trust_(_: Front, __: Arguments) -> Any:
    return Text(f"Trusted: {trust.add(trust.project_file())}")


@command("alias", SCRIPTS, "Name a command line.", "alias create bf break fold:*", raw="...")
def alias(front: Front, args: Arguments) -> Any:
    front.in_shell(f"alias {args.text}")


@command(
    "macro",
    SCRIPTS,
    "Name a command line with arguments.",
    "macro create bp break pattern:{1}",
    raw="...",
)
def macro(front: Front, args: Arguments) -> Any:
    front.in_shell(f"macro {args.text}")


@command("edit", SCRIPTS, "Open a file in $EDITOR.", "edit in.mlir", raw="[FILE]", complete="file")
def edit(front: Front, args: Arguments) -> Any:
    front.in_shell(f"edit {args.text}")


@command("quit", SCRIPTS, "End the tool and leave.", "quit", aliases=("q", "exit"))
def quit_(front: Front, _: Arguments) -> Any:
    front.quitting = True
