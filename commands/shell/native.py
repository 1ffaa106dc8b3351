"""The command that hands the stopped tool over to a native debugger."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import Options, option, positional
from actiondbg.commands.render.native import start_text
from actiondbg.commands.shell.stack import STACK
from actiondbg.errors import UsageError
from actiondbg.session.inspection.native_debugger import Debugger, NativeRun

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console

NATIVE = Topic(STACK.category)


class NativeOptions(Options):
    debugger: Debugger | None = positional(
        "gdb|lldb", help="the debugger; by default the installed one"
    )
    execute: tuple[str, ...] = option(
        "CMD", help="run a command of the debugger, and end it after the last"
    )


@NATIVE.command(
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
