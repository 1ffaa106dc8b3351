"""Status of the stop, the program and the tool, by 'info'; settings."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, positional, rest
from actiondbg.commands.interpreter.settings import SETTINGS
from actiondbg.commands.interpreter.words import split_stdio
from actiondbg.commands.render.breakpoints import Breakpoints
from actiondbg.commands.render.plain_text import Displays, Fact, Facts, SettingsShown, Text
from actiondbg.commands.render.threads import ContextsShown, ProcessesShown, ThreadsShown
from actiondbg.commands.render.units import CursorPlace
from actiondbg.commands.shell.breakpoints import list_breakpoints
from actiondbg.errors import ToolGone, UsageError
from actiondbg.version import VERSION

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.protocol import Action
    from actiondbg.session.session import Session

STATUS = Topic("Status and settings")


STATUS.group(
    "info",
    "Show information about the stop, the actions so far, the program or the tool.",
    example="info action",
    aliases=("i",),
)


@STATUS.command("info action", reads=True)
def info_action(console: Console, _: NoOptions) -> Action:
    """Show the selected action in full."""
    return console.session.stack.action()


@STATUS.command("info frame", reads=True)
def info_frame(console: Console, _: NoOptions) -> Action:
    """Show the selected frame, which is that of an action, in full; like 'info action'."""
    return console.session.stack.action()


@STATUS.command("info breakpoints", reads=True)
def info_breakpoints(console: Console, _: NoOptions) -> Breakpoints:
    """List breakpoints, watches and catches."""
    return list_breakpoints(console)


@STATUS.command("info cursor", reads=True)
def info_cursor(console: Console, _: NoOptions) -> CursorPlace:
    """Show the cursor: its unit, its function and its path."""
    return CursorPlace(console.session.cursor.get())


@STATUS.command(
    "info processes",
    needs_tool="A list of the program's processes",
    reads=True,
)
def info_processes(console: Console, _: NoOptions) -> ProcessesShown:
    """List the processes of the program that were debugged."""
    return ProcessesShown(console.live_session().processes)


@STATUS.command("info contexts", reads=True)
def info_contexts(console: Console, _: NoOptions) -> ContextsShown:
    """List the MLIR contexts of the program, with their threads and actions."""
    return ContextsShown(console.session.contexts)


@STATUS.command(
    "info threads",
    needs_tool="A list of the program's threads",
    reads=True,
)
def info_threads(console: Console, _: NoOptions) -> ThreadsShown:
    """List the threads that ran actions."""
    return ThreadsShown(console.live_session().threads)


@STATUS.command("info displays", reads=True)
def info_displays(console: Console, _: NoOptions) -> Displays:
    """List the displays."""
    return Displays(console.displays.all())


@STATUS.command("info program", reads=True)
def info_program(console: Console, _: NoOptions) -> Facts:
    """Show the command line, the state, the processes and the exit status of the program."""
    session = console.session
    with contextlib.suppress(ToolGone):  # it was killed meanwhile, and is "exited" now
        if session.state == "stopped":
            session.status()
    facts: dict[str, Fact] = {
        "command": shlex.join(session.target.argv) or None,
        "state": session.state,
        "status": session.exit_status,
    }
    if console.recorded is not None:
        facts.update(console.recorded.facts())
    else:
        facts.update(_process_facts(console.live_session()))
    return Facts("program", facts)


def _process_facts(session: Session) -> dict[str, Fact]:
    """Return the facts about the tool's processes, and at a stop about the run."""
    process = session.target.process()
    facts: dict[str, Fact] = {}
    if (way_on := session.way_on) is not None:
        facts["program"] = f"runs on: {way_on}"
    if process is not None:
        facts.update(pid=process.pid, halted=process.halted, threads=process.threads)
    if session.state == "stopped":
        status = msgspec.to_builtins(session.status())
        wanted = status.pop("threading")
        facts["threading"] = "off, on without the debugger" if wanted else "off"
        # The first two are bookkeeping of time travel, of no use to the user.
        hidden = ["written", "passed", "threads"]
        if not status["unfollowed"]:
            hidden.append("unfollowed")
        facts.update((key, status[key]) for key in status if key not in hidden)
    forks = session.target.forks()
    facts["forks"] = ", ".join(map(str, forks)) or None
    return facts


@STATUS.command("info tool", needs_tool="Information about the tool", reads=True)
def info_tool(console: Console, _: NoOptions) -> Facts:
    """Show the tool, its MLIR, the agent, and in a run what the agent can do in it."""
    from actiondbg.protocol.capabilities import CAPABILITIES, missing_reason
    from actiondbg.tool.identification import build_id_of
    from actiondbg.tool.shipped import shipped_agent

    target = console.live_session().target
    tool, hello, loaded = target.tool, target.hello, target.loaded_mlir
    facts: dict[str, Fact] = {
        "path": str(tool.path),
        "llvm": target.llvm() or "unknown",
        "libmlir": None if tool.libmlir is None else str(tool.libmlir),
        "build": tool.build_id,
        "agent": str(shipped_agent()),
    }
    if loaded is not None:
        facts["libmlir"], facts["build"] = str(loaded), build_id_of(loaded)
    if hello is not None:
        has = [name for name in CAPABILITIES if name in hello.capabilities]
        facts["capabilities"] = ", ".join(has)
        for name in CAPABILITIES:
            if name not in hello.capabilities:
                facts[f"no {name}"] = missing_reason(hello, name)
    return Facts("tool", facts)


class SetOptions(Options):
    name: str = positional(
        "SETTING", help="a setting, or a unique prefix", complete=completers.settings
    )
    value: str = positional("VALUE", help="the new value", complete=completers.setting_values)


@STATUS.command("set", example="set style monokai")
def set_(console: Console, options: SetOptions) -> None:
    """Change a setting; 'show' lists them."""
    name = console.settings.set(options.name, options.value)
    if SETTINGS[name].is_late and console.session.state != "not-running":
        console.note(f"{name} applies from the next run on.")


class ShowOptions(Options):
    name: str | None = positional(
        "SETTING", help="a setting, or a unique prefix", complete=completers.settings
    )


@STATUS.command("show", example="show style", reads=True)
def show(console: Console, options: ShowOptions) -> SettingsShown:
    """Show one setting, or all."""
    return SettingsShown(console.settings.show(options.name))


class ArgumentsOptions(Options):
    text: str = rest("[ARGS]", complete=completers.tool_arguments)


@STATUS.command(
    "set args",
    example="set args in.mlir --cse",
    needs_tool="Changing the arguments of the tool",
    abbreviates=False,
)
def set_args(console: Console, options: ArgumentsOptions) -> None:
    """Set the arguments of the tool for the next run; without ARGS, none."""
    stdio = split_stdio(options.text)
    if stdio.stdin or stdio.stdout or stdio.stderr:
        raise UsageError("A redirection applies to one run: give it to 'run'.")
    console.live_session().target.argv[1:] = stdio.arguments or []


@STATUS.command("show args", abbreviates=False, reads=True)
def show_args(console: Console, _: NoOptions) -> Text:
    """Show the arguments of the tool."""
    return Text(shlex.join(console.session.target.argv[1:]) or "There are no arguments.")


@STATUS.command("show version", abbreviates=False, reads=True)
def show_version(console: Console, _: NoOptions) -> Facts:
    """Show the version of actiondbg, and of the tool's LLVM."""
    facts: dict[str, Fact] = {"actiondbg": VERSION}
    if console.recorded is not None:
        facts["llvm"] = console.recorded.facts()["llvm"]
    else:
        facts["llvm"] = console.live_session().target.llvm()
    return Facts("version", facts)
