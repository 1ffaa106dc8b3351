"""Commands that manage displays: command lines that run at each stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, positional, rest
from actiondbg.commands.interpreter.stop_display import run_display
from actiondbg.commands.render.plain_text import Display, Displayed, Displays
from actiondbg.commands.shell.breakpoints import parse_numbers
from actiondbg.commands.shell.controls import RUNNING
from actiondbg.commands.shell.ir import PRINTING
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.interpreter.declaration import Command

DISPLAYS = Topic(PRINTING.category)
_REFUSED = ("commands", "display", "py", "quit", "shell", "source", "undisplay")


class DisplayOptions(Options):
    text: str = rest("[COMMAND]", complete=completers.command_line)


@DISPLAYS.command("display", example="display info outcome")
def display(console: Console, options: DisplayOptions) -> Displays | Display | Displayed:
    """Run COMMAND at each stop, including the current one; without COMMAND, list displays."""
    if not options.text:
        return Displays(console.displays.all())
    _check(console.interpreter.parse(options.text).command)
    added = console.displays.add(options.text)
    return run_display(console, added) if console.session.state == "stopped" else added


def _check(found: Command) -> None:
    """Refuse commands that resume the tool, read more lines or change the displays."""
    if found.category == RUNNING.category or found.name in _REFUSED:
        raise UsageError(
            f"{found.name!r} cannot be displayed: attach it to a breakpoint with 'commands'."
        )


class UndisplayOptions(Options):
    ids: tuple[str, ...] = positional(
        "IDS",
        help="numbers, ranges (2-4) or all (the default)",
        complete=completers.display_numbers,
    )


@DISPLAYS.command("undisplay", example="undisplay 1")
def undisplay(console: Console, options: UndisplayOptions) -> None:
    """Delete displays."""
    existing = [each.id for each in console.displays.all()]
    console.displays.remove(parse_numbers(options.ids, existing, "display"))
