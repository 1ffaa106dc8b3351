"""Commands that tell about the tool, the program and the settings, and change the latter."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import msgspec

from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    Positional,
)
from actiondbg.commands.render.breakpoints import Breakpoints
from actiondbg.commands.render.info import Displays, Fact, Facts, SettingsShown
from actiondbg.commands.render.units import CursorPlace
from actiondbg.commands.shell.breakpoints import list_breakpoints

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.protocol import Action

STATUS = Topic("Status and settings")


STATUS.group(
    "info",
    "Tell about the stop, what the actions did, the program or the tool; by one word more.",
    example="info action",
    aliases=("i",),
)


@STATUS.subcommand("info", "action", example="info action")
def info_action(console: Console, _: NoOptions) -> Action:
    """Tell about the selected action."""
    return console.session.stack.action()


@STATUS.subcommand("info", "breakpoints", example="info breakpoints")
def info_breakpoints(console: Console, _: NoOptions) -> Breakpoints:
    """List breakpoints, watches and catches."""
    return list_breakpoints(console)


@STATUS.subcommand("info", "cursor", example="info cursor")
def info_cursor(console: Console, _: NoOptions) -> CursorPlace:
    """Tell where the cursor is."""
    cursor = console.session.cursor.get()
    unit = msgspec.to_builtins(cursor.unit)
    return CursorPlace(**unit, function=cursor.function, path=cursor.path)


@STATUS.subcommand("info", "displays", example="info displays")
def info_displays(console: Console, _: NoOptions) -> Displays:
    """List the displays."""
    return Displays(console.displays.all())


@STATUS.subcommand("info", "program", example="info program")
def info_program(console: Console, _: NoOptions) -> Facts:
    """Tell about the debugged program and its run."""
    session = console.session
    facts: dict[str, Fact] = {
        "command": shlex.join(session.target.argv),
        "state": session.state,
        "status": session.exit_status,
    }
    if console.recorded is not None:
        facts.update(console.recorded.facts())
    elif session.state == "stopped":
        status = msgspec.to_builtins(session.status())
        # What travelling in time needs to know tells a user nothing.
        facts.update((key, status[key]) for key in status if key not in ("written", "passed"))
    return Facts("program", facts)


@STATUS.subcommand(
    "info",
    "tool",
    example="info tool",
    needs_tool="Information about the tool",
)
def info_tool(console: Console, _: NoOptions) -> Facts:
    """Tell about the tool, its MLIR, and the agent."""
    from actiondbg.tool import agent_state

    tool = console.tool().target.tool
    facts: dict[str, Fact] = {
        "path": str(tool.path),
        "llvm": tool.llvm,
        "libmlir": str(tool.libmlir),
        "headers": ":".join(str(path) for path in tool.headers) or None,
        "build": tool.build_id,
        "agent": agent_state(tool),
    }
    return Facts("tool", facts)


class SetOptions(Options):
    """The options of ``set``."""

    name: Annotated[
        str,
        Positional("SETTING", help="its name, or a unique prefix", complete=completers.settings),
    ]
    value: Annotated[str, Positional("VALUE", help="its value", complete=completers.setting_values)]


@STATUS.command("set", example="set style monokai")
def set_(console: Console, options: SetOptions) -> None:
    """Change a setting; 'show' lists them."""
    console.settings.set(options.name, options.value)


class ShowOptions(Options):
    """The options of ``show``."""

    name: Annotated[
        str | None, Positional("SETTING", help="its name", complete=completers.settings)
    ] = None


@STATUS.command("show", example="show style")
def show(console: Console, options: ShowOptions) -> SettingsShown:
    """Show a setting, or all."""
    return SettingsShown(console.settings.show(options.name))
