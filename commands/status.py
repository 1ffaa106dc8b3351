"""Commands that tell about the tool, the program and the settings, and change the latter."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from actiondbg.commands.breakpoints import list_breakpoints
from actiondbg.commands.command import Arguments, arg, choice, command
from actiondbg.commands.results import CursorPlace, Facts, SettingsShown

if TYPE_CHECKING:
    from actiondbg.commands.front import Front

STATUS = "Status and settings"


def _action(front: Front) -> Any:
    return front.session.action()


def _cursor(front: Front) -> Any:
    cursor = front.session.cursor()
    unit = msgspec.to_builtins(cursor.unit)
    return CursorPlace(**unit, function=cursor.function, path=cursor.path)


def _tool(front: Front) -> Any:
    from actiondbg import toolchain

    tool = front.session.tool
    return Facts(
        "tool",
        {
            "path": str(tool.path),
            "llvm": tool.llvm,
            "libmlir": str(tool.libmlir),
            "headers": ":".join(str(path) for path in tool.headers) or None,
            "build": tool.build_id,
            "agent": toolchain.agent_state(tool),
        },
    )


def _program(front: Front) -> Any:
    session = front.session
    facts: dict[str, Any] = {
        "command": shlex.join(session.argv),
        "state": session.state,
        "status": session.exit_status,
    }
    if session.state == "stopped":
        facts.update(msgspec.to_builtins(session.status()))
    return Facts("program", facts)


_SUBJECTS: dict[str, Callable[[Front], Any]] = {
    "action": _action,
    "breakpoints": list_breakpoints,
    "cursor": _cursor,
    "program": _program,
    "tool": _tool,
}


@command(
    "info",
    STATUS,
    "Tell about the action, the breakpoints, the cursor, the program or the tool.",
    "info action",
    choice("subject", tuple(_SUBJECTS), "what it tells about"),
    aliases=("i",),
)
def info(front: Front, args: Arguments) -> Any:
    return _SUBJECTS[args.subject](front)


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
