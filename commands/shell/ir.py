"""Commands about the stack of actions and the IR at a stop: print it, walk it by the cursor."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    flag,
    option,
    positional,
    rest,
)
from actiondbg.commands.render.actions import Backtrace
from actiondbg.commands.render.ir import Block, Counted
from actiondbg.commands.render.time_travel import start_text
from actiondbg.commands.render.units import Units
from actiondbg.errors import NoSuchUnit, NotStopped, UnitErased, UsageError
from actiondbg.session.inspection.native_debugger import Debugger, NativeRun
from actiondbg.support.source_file import SourceLines, lines_around

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.ir.printed import PrintedText
    from actiondbg.protocol import Cursor, Frame
    from actiondbg.session.inspection.stopped_ir import What

STACK = Topic("Stack of actions")


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


PRINTING = Topic("IR")
AROUND = 10  # lines before and after a place
_WHATS: tuple[What, ...] = ("cursor", "action", "function", "module")


class PrintOptions(Options):
    what: str = positional(
        "cursor|action|function|module|PLACE",
        default="cursor",
        help="the IR to print; PLACE is %NAME, @ID, @SYMBOL or [FILE:]LINE",
        complete=completers.ir_places,
    )
    generic: bool = flag(help="print the generic form")
    locations: bool = flag(help="print locations")
    skip_regions: bool = flag(help="leave out the regions of the operation")
    elide: int | None = option(
        "N", help="elide attributes of more than N elements", parse=values.index
    )
    full: bool = flag(help="elide nothing, as is done on a terminal")
    plain: bool = flag(help="do not mark the cursor")


@PRINTING.command(
    "print", example="print function --skip-regions", aliases=("p",), shows_ir=True, reads=True
)
def print_(console: Console, options: PrintOptions) -> PrintedText:
    """Print the IR of the cursor, the action, the function, the module or a place; --> marks the
    cursor, except in a file.
    """
    elide = console.elision(options.elide, options.full)

    def print_what(what: What) -> PrintedText:
        return print_ir(
            console,
            what,
            plain=options.plain,
            generic=options.generic,
            locations=options.locations,
            skip_regions=options.skip_regions,
            elide=elide,
        )

    what: What | None = next((each for each in _WHATS if each.startswith(options.what)), None)
    if what is not None:
        return print_what(what)
    if not re.match(r"[%@\d]|.+:\d", options.what):
        raise UsageError(
            f"There is no IR {options.what!r} to print: give {', '.join(_WHATS)}, %NAME, @ID, "
            "@SYMBOL, FILE:LINE or LINE."
        )
    with console.session.cursor.at(with_input_file(console, options.what)):
        return print_what("cursor")


class AroundOptions(Options):
    count: int = positional(
        "N", default=AROUND, help="the number of lines before and after", parse=values.positive
    )


@PRINTING.command("around", example="around 20", aliases=("ll",), repeats=True, reads=True)
def around(console: Console, options: AroundOptions) -> Block:
    """Show the lines of IR around the cursor; again, or Enter: the lines after them."""
    return console.shown_lines.show("cursor", options.count)


class SourceLinesOptions(Options):
    count: int = positional(
        "N", default=5, help="the number of lines before and after", parse=values.positive
    )


@PRINTING.command("source-lines", example="source-lines 10", aliases=("sl",), reads=True)
def source_lines(console: Console, options: SourceLinesOptions) -> SourceLines:
    """Show the lines of the source file around the cursor's location, as of a Python kernel."""
    stop = console.session.stop
    if stop is None or stop.when == "exit":
        raise NotStopped("The tool is not stopped at an action: source-lines shows its location.")
    location = stop.location
    with contextlib.suppress(NoSuchUnit, UnitErased):
        location = console.session.cursor.get().unit.location or location
    if location is None:
        raise NoSuchUnit("The operation of this action has no location in a file: try 'around'.")
    return lines_around(location, options.count)


class CountOptions(Options):
    glob: str = positional(
        "[op:]GLOB", help="the name of operations", complete=completers.operations
    )
    function: bool = flag(help="count only in the function of the cursor")


@PRINTING.command(
    "count", example="count op:arith.* --function", needs_tool="Counting operations", reads=True
)
def count(console: Console, options: CountOptions) -> Counted:
    """Count the operations of a name in the module, or in the function of the cursor."""
    count = console.session.ir.count(options.glob, function=options.function)
    return Counted(options.glob.removeprefix("op:"), options.function, count)


def with_input_file(console: Console, text: str) -> str:
    """Return a place for the cursor, with the file before a bare LINE[:COL].

    Raises:
        UsageError: there is not one input file.
    """
    if not re.fullmatch(r"\d+(:\d+)?", text):
        return text
    files = console.session.names.inputs()
    if len(files) != 1:
        why = f"there are {len(files)}: {', '.join(files)}" if files else "none is known"
        raise UsageError(f"{text} is a line of the only input file, but {why}: write FILE:{text}.")
    return f"{files[0]}:{text}"


def print_ir(
    console: Console,
    what: What,
    *,
    plain: bool = False,
    generic: bool = False,
    locations: bool = False,
    skip_regions: bool = False,
    elide: int | None = None,
) -> PrintedText:
    """Print IR; mark the cursor in text output, and note a fallback to the generic form."""
    printed = console.session.ir.print(
        what,
        mark=not (plain or console.json or (console.redirected and not console.piped)),
        printer_names=console.redirected and not console.piped,
        generic=generic,
        locations=locations,
        skip_regions=skip_regions,
        elide=elide,
    )
    if printed.generic and not generic:
        console.note("The IR is invalid here: printed in generic form.")
    return printed


CURSOR = Topic("Cursor")
_WALKS = "Walking the IR"


class SelectFromContextOptions(Options):
    index: int = positional("ID", help="the number of the unit in 'context'", parse=values.index)


@CURSOR.command("cursor-select-from-context", example="cursor-select-from-context 0")
def select_from_context(console: Console, options: SelectFromContextOptions) -> Cursor:
    """Move the cursor to an IR unit of the context."""
    return console.session.cursor.move("context", index=options.index)


class SelectIdOptions(Options):
    id: int = positional(
        "@ID", help="an operation id, as shown by stops and 'context'", parse=values.operation_id
    )


@CURSOR.command("cursor-select-id", example="cursor-select-id @12")
def select_id(console: Console, options: SelectIdOptions) -> Cursor:
    """Move the cursor to the operation with an id."""
    return console.session.cursor.move("id", index=options.id)


@CURSOR.command("cursor-print", shows_ir=True, reads=True)
def cursor_print(console: Console, _: NoOptions) -> PrintedText:
    """Print the IR unit at the cursor."""
    return print_ir(console, "cursor")


@CURSOR.command("cursor-parent", needs_tool=_WALKS)
def parent(console: Console, _: NoOptions) -> Cursor:
    """Move to the parent of the cursor."""
    return console.session.cursor.parent()


class ChildOptions(Options):
    index: int = positional("ID", help="the number of the child, from 0", parse=values.index)


@CURSOR.command("cursor-child", example="cursor-child 0", needs_tool=_WALKS)
def child(console: Console, options: ChildOptions) -> Cursor:
    """Move to child ID of the cursor: a region, a block or an operation."""
    return console.session.cursor.child(options.index)


class DistanceOptions(Options):
    count: int = positional("N", default=1, help="the number of units", parse=values.positive)


@CURSOR.command("cursor-previous", example="cursor-previous 2", repeats=True, needs_tool=_WALKS)
def previous(console: Console, options: DistanceOptions) -> Cursor:
    """Move to the previous unit in the same parent."""
    return console.session.cursor.previous(options.count)


@CURSOR.command("cursor-next", repeats=True, needs_tool=_WALKS)
def next_(console: Console, options: DistanceOptions) -> Cursor:
    """Move to the next unit in the same parent."""
    return console.session.cursor.next(options.count)


@CURSOR.command("cursor-function", needs_tool=_WALKS)
def function(console: Console, _: NoOptions) -> Cursor:
    """Move to the function around the cursor."""
    return console.session.cursor.function()


@CURSOR.command("cursor-module", needs_tool=_WALKS)
def module(console: Console, _: NoOptions) -> Cursor:
    """Move to the outermost operation."""
    return console.session.cursor.module()


class LinkOptions(Options):
    index: int | None = positional(
        "N", help="the number of the operation to move to", parse=values.index
    )


@CURSOR.command("cursor-defs", example="cursor-defs 0", needs_tool=_WALKS)
def defs(console: Console, options: LinkOptions) -> Cursor | Units:
    """List the definitions of the cursor's operands, or move to the Nth."""
    if options.index is None:
        return Units(console.session.cursor.defs())
    return console.session.cursor.move("def", index=options.index)


@CURSOR.command("cursor-users", needs_tool=_WALKS)
def users(console: Console, options: LinkOptions) -> Cursor | Units:
    """List the users of the cursor's results, or move to the Nth."""
    if options.index is None:
        return Units(console.session.cursor.users())
    return console.session.cursor.move("user", index=options.index)


class GotoOptions(Options):
    text: str = rest(
        "%NAME | @ID | @SYMBOL | [FILE:]LINE[:COL] | action",
        required=True,
        complete=completers.ir_places,
    )


@CURSOR.command("cursor-goto", example="cursor-goto %arg0")
def goto(console: Console, options: GotoOptions) -> Cursor:
    """Move to an SSA value in scope, an operation id, a symbol, a file location or the action."""
    session = console.session
    before = session.cursor.get().function
    cursor = session.cursor.goto(with_input_file(console, options.text))
    if cursor.function is not None and cursor.function != before and console.width is None:
        console.note(f"Found in @{cursor.function.removeprefix('@')}.")
    return cursor
