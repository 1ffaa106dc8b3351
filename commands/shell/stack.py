"""Commands about the stack of actions and its selected frame."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, option, positional
from actiondbg.commands.render.actions import Backtrace
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.units import Units
from actiondbg.errors import UsageError
from actiondbg.session.inspection.native_debugger import Debugger, NativeRun

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.protocol import Frame

STACK = Topic("Stack of actions", contained=True)


class BacktraceOptions(Options):
    count: int | None = positional("N", help="the number of frames", parse=values.positive)


@STACK.command("backtrace", example="backtrace 3", aliases=("bt", "where"), reads=True)
def backtrace(console: Console, options: BacktraceOptions) -> Backtrace:
    """Print the stack of running actions, innermost first; with N, the innermost N."""
    return Backtrace(
        console.session.stack.frames()[: options.count], console.session.stack.selected
    )


def _select(console: Console, number: int) -> Frame:
    depth = len(console.session.stack.frames())
    if number < 0:
        raise UsageError("The innermost action is selected: 'up' selects its parent.")
    if number >= depth:
        raise UsageError(f"There is no frame {number}: the outermost frame is {depth - 1}.")
    return console.session.stack.select(number)


class LevelsOptions(Options):
    count: int = positional("N", default=1, help="the number of frames", parse=values.positive)


@STACK.command("up", repeats=True)
def up(console: Console, options: LevelsOptions) -> Frame:
    """Select the parent of the selected action."""
    outermost = len(console.session.stack.frames()) - 1
    if console.session.stack.selected == outermost:
        raise UsageError("The outermost action is selected: 'down' selects nested ones.")
    return _select(console, min(console.session.stack.selected + options.count, outermost))


@STACK.command("down", repeats=True)
def down(console: Console, options: LevelsOptions) -> Frame:
    """Select the action nested in the selected one."""
    index_now = console.session.stack.selected
    return _select(console, max(index_now - options.count, 0) if index_now else -1)


class FrameOptions(Options):
    index: int | None = positional(
        "N", help="the number of the frame in 'backtrace'", parse=values.index
    )


@STACK.command("frame", example="frame 1", aliases=("f",))
def frame(console: Console, options: FrameOptions) -> Frame:
    """Select frame N of the stack of actions, or print the selected frame."""
    return _select(
        console, console.session.stack.selected if options.index is None else options.index
    )


@STACK.command("context", reads=True)
def context(console: Console, _: NoOptions) -> Units:
    """Print the context of the selected action: its IR units."""
    return Units(console.session.stack.context())


class NativeOptions(Options):
    debugger: Debugger | None = positional(
        "gdb|lldb", help="the debugger; by default the installed one"
    )
    execute: tuple[str, ...] = option(
        "CMD", help="run a command of the debugger, and end it after the last"
    )


@STACK.command(
    "native",
    example="native --execute backtrace",
    needs_tool="A native debugger",
    permission="native",
)
def native(console: Console, options: NativeOptions) -> NativeRun:
    """Attach gdb or lldb to a fork of the tool, stopped in the function of this action: in
    matchAndRewrite of the pattern, or runOnOperation of the pass. The fork ends with the debugger.
    """
    console.need_stop()
    debugger = console.live_session().native
    if options.execute:
        return debugger.attach(options.debugger, options.execute)
    if not console.interactive or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "native needs a terminal: in a script, give the debugger's commands with --execute."
        )

    def announce(run: NativeRun) -> None:
        console.out.write(start_text(run))
        console.out.flush()

    return debugger.attach(
        options.debugger, terminal=os.ttyname(sys.stdout.fileno()), on_start=announce
    )


# --- the text of runs of native debuggers ---


def start_text(run: NativeRun) -> str:
    """Return the text before a debugger gets the terminal."""
    places = [f"{one.name or 'no symbol'} at {one.place}" for one in run.functions]
    lines = [
        f"Attaching {run.debugger} to process {run.pid}, a fork of the tool.",
        *(f"  breakpoint in {place}" for place in places),
    ]
    return "\n".join(lines) + "\n"


def _native_text(_: RenderContext, run: NativeRun) -> str:
    if run.output is not None:
        return run.output
    return f"{run.debugger} and its fork have ended; the tool is still at its stop."


renders(NativeRun, _native_text)
