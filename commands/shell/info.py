"""Commands that tell about the tool, the program and the settings, and change the latter."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from actiondbg.commands.interpreter.declaration import Arguments, arg, command, subject
from actiondbg.commands.render.results import CursorPlace, Displays, Facts, SettingsShown
from actiondbg.commands.shell.breakpoints import list_breakpoints

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

STATUS = "Status and settings"
INFO = "info"


@command(
    INFO,
    STATUS,
    "Tell about the stop, what the actions did, the program or the tool; by one word more.",
    "info action",
    aliases=("i",),
)
def info(_: Front, __: Arguments) -> Any:
    """Do nothing: a word has to follow, and is a subject."""


@subject(INFO, "action", "Tell about the selected action.", "info action")
def info_action(front: Front, _: Arguments) -> Any:
    return front.session.action()


@subject(INFO, "breakpoints", "List breakpoints, watches and catches.", "info breakpoints")
def info_breakpoints(front: Front, _: Arguments) -> Any:
    return list_breakpoints(front)


@subject(INFO, "cursor", "Tell where the cursor is.", "info cursor")
def info_cursor(front: Front, _: Arguments) -> Any:
    cursor = front.session.cursor()
    unit = msgspec.to_builtins(cursor.unit)
    return CursorPlace(**unit, function=cursor.function, path=cursor.path)


@subject(INFO, "displays", "List the displays.", "info displays")
def info_displays(front: Front, _: Arguments) -> Any:
    return Displays(front.displays.all())


@subject(INFO, "program", "Tell about the debugged program and its run.", "info program")
def info_program(front: Front, _: Arguments) -> Any:
    session = front.session
    facts: dict[str, Any] = {
        "command": shlex.join(session.argv),
        "state": session.state,
        "status": session.exit_status,
    }
    if front.recorded is not None:
        facts.update(front.recorded.facts())
    elif session.state == "stopped":
        status = msgspec.to_builtins(session.status())
        # What travelling in time needs to know tells a user nothing.
        facts.update((key, status[key]) for key in status if key not in ("written", "passed"))
    return Facts("program", facts)


@subject(
    INFO,
    "tool",
    "Tell about the tool, its MLIR, and the agent.",
    "info tool",
    needs_tool="the tool itself is not there, and info program tells of it",
)
def info_tool(front: Front, _: Arguments) -> Any:
    from actiondbg.tool import agent_state

    tool = front.tool().tool
    facts = {
        "path": str(tool.path),
        "llvm": tool.llvm,
        "libmlir": str(tool.libmlir),
        "headers": ":".join(str(path) for path in tool.headers) or None,
        "build": tool.build_id,
        "agent": agent_state(tool),
    }
    return Facts("tool", facts)


@command(
    "set",
    STATUS,
    "Change a setting; 'show' lists them.",
    "set style monokai",
    arg("name", metavar="SETTING", help="its name, or a unique prefix", complete="setting"),
    arg("value", metavar="VALUE", help="its value", complete="value"),
)
def set_(front: Front, args: Arguments) -> Any:
    front.settings.set(args.name, args.value)


@command(
    "show",
    STATUS,
    "Show a setting, or all.",
    "show style",
    arg("name", nargs="?", metavar="SETTING", help="its name", complete="setting"),
)
def show(front: Front, args: Arguments) -> Any:
    return SettingsShown(front.settings.show(args.name))
