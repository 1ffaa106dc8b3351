"""Command lines of the shell that a client may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.declaration import Command
    from actiondbg.commands.interpreter.options import Options
    from actiondbg.commands.mcp.desk import Desk

# Commands that only use the session. Each other one is refused: it runs programs, reads or writes
# files, needs a terminal, or is a tool.
PERMITTED = frozenset(
    [
        *("restart", "kill", "continue", "step", "next", "next-change", "next-success", "finish"),
        *("skip", "apply", "until", "advance", "goto", "run", "start"),
        *("reverse-step", "reverse-next", "reverse-finish", "reverse-continue"),
        *("checkpoint", "delete checkpoint", "undo-edit", "apply-pass"),
        *("break", "tbreak", "break-on-tag", "break-on-file", "watch", "catch"),
        *("condition", "ignore", "enable", "disable", "delete", "list"),
        *("set skip", "show skip", "delete skip"),
        *("backtrace", "up", "down", "frame", "context"),
        *("print", "around", "count", "diff"),
        *("cursor-select-from-context", "cursor-select-id", "cursor-print", "cursor-parent"),
        *("cursor-child", "cursor-previous", "cursor-next", "cursor-function", "cursor-module"),
        *("cursor-defs", "cursor-users", "cursor-goto"),
        *("why-not", "explain", "history", "track", "track-back", "related"),
        *("info action", "info frame", "info breakpoints", "info cursor", "info processes"),
        *("info contexts", "info threads", "info program", "info tool", "info outcome"),
        *("info changes", "info patterns", "info passes", "info folds", "info actions"),
        *("info pipeline", "info cycles", "info checkpoints", "info timeline", "info edits"),
        *("info applicable", "show", "show args", "show version", "whatif diff", "help", "echo"),
    ]
)
TOOLS = {"bisect": "bisect", "whatif": "whatif", "edit-ir": "edit", "quit": "close"}
_TEXTS = ("run", "start")  # whose text is arguments of the tool and redirections


def run_line(desk: Desk, line: str) -> object:
    """Run a command line; return its result.

    Raises:
        UsageError: it is wrong, or not permitted.
    """
    if "\n" in line.strip():
        raise UsageError("A command is one line: call command once for each.")
    if not line.strip():
        raise UsageError("The command line is empty: 'help' lists the commands.")
    console = desk.console
    parsed = console.interpreter.parse(line.strip())
    _check(desk, parsed.command, parsed.options)
    if parsed.redirect is None:
        return parsed.command.call(console, parsed.options)
    from actiondbg.commands.render.registry import show

    target = parsed.redirect.target
    if parsed.redirect.operator != "|":
        desk.restrictions.path(target)
    with console.redirect(parsed.redirect):
        show(console, parsed.command.call(console, parsed.options))
    return f"Wrote to {target}."


def _check(desk: Desk, command: Command, options: Options) -> None:
    """Raise UsageError unless a client may run a command."""
    name = command.name
    if command.permission is not None:
        return  # which was checked
    if name not in PERMITTED:
        way = f"use the tool {TOOLS[name]}" if name in TOOLS else "type it in actiondbg's shell"
        raise UsageError(
            f"The command {name!r} is not for clients: it runs programs, uses files or a terminal. "
            f"If you need it, {way}."
        )
    if name in _TEXTS and getattr(options, "text", ""):
        raise UsageError(
            f"{name} takes no arguments here: open a session with the other arguments."
        )
    desk.restrictions.check_arguments([getattr(options, "pipeline", "")])  # of apply-pass
