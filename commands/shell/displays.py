"""Commands about displays: other commands that are run at each stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter.declaration import Arguments, Command, arg, command
from actiondbg.commands.render.results import Displays
from actiondbg.commands.shell.breakpoints import parse_numbers
from actiondbg.commands.shell.controls import RUNNING
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

DISPLAYS = "Displays"
_REFUSED = ("commands", "display", "py", "quit", "shell", "source", "undisplay")


@command(
    "display",
    DISPLAYS,
    "Run a command at each stop, and now if there is one; without words, list the displays.",
    "display info outcome",
    raw="[COMMAND]",
    complete="line",
)
def display(front: Front, args: Arguments) -> Any:
    if not args.text:
        return Displays(front.displays.all())
    _check(front.interpreter.parse(args.text).command)
    added = front.displays.add(args.text)
    return front.displays.run(front, added) if front.session.state == "stopped" else added


def _check(found: Command) -> None:
    """Refuse what lets the tool run, reads more lines, or changes the displays."""
    if found.category == RUNNING or found.name in _REFUSED:
        raise UsageError(
            f"{found.name!r} cannot be displayed: 'commands' has a breakpoint run any command."
        )


@command(
    "undisplay",
    DISPLAYS,
    "Forget displays.",
    "undisplay 1",
    arg(
        "ids",
        nargs="*",
        metavar="IDS",
        help="numbers, ranges (2-4), or all; nothing means all",
        complete="display",
    ),
)
def undisplay(front: Front, args: Arguments) -> Any:
    existing = [each.id for each in front.displays.all()]
    front.displays.remove(parse_numbers(args.ids, existing, "display"))
