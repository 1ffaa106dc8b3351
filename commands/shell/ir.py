"""Commands about the IR at a stop: print it, walk it by the cursor."""

from __future__ import annotations

import contextlib
import re
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
from actiondbg.commands.render.ir import Block, Counted
from actiondbg.commands.render.units import Units
from actiondbg.errors import NoSuchUnit, NotStopped, UnitErased, UsageError
from actiondbg.support.source_file import SourceLines, lines_around

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.ir.printed import PrintedText
    from actiondbg.protocol import Cursor
    from actiondbg.session.inspection.stopped_ir import What

PRINTING = Topic("IR", contained=True)
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
    what: What | None = next((each for each in _WHATS if each.startswith(options.what)), None)
    if what is not None:
        return _printed(console, what, options)
    if not re.match(r"[%@\d]|.+:\d", options.what):
        raise UsageError(
            f"There is no IR {options.what!r} to print: give {', '.join(_WHATS)}, %NAME, @ID, "
            "@SYMBOL, FILE:LINE or LINE."
        )
    with console.session.cursor.at(with_input_file(console, options.what)):
        return _printed(console, "cursor", options)


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


@PRINTING.command(
    "source-lines",
    example="source-lines 10",
    aliases=("sl",),
    reads=True,
    contained=False,  # it reads any file that a location names
)
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
    if options.function and console.session.cursor.get().function is None:
        raise UsageError(
            "The cursor is in no function: leave --function out to count in the module."
        )
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


def _printed(console: Console, what: What, options: PrintOptions) -> PrintedText:
    """Print IR, and note a fallback to the generic form or to what is around the cursor."""
    printed = console.ir_view.print(
        what,
        mark=not (options.plain or console.json),
        generic=options.generic,
        locations=options.locations,
        skip_regions=options.skip_regions,
        elide=options.elide,
        full=options.full,
    )
    if printed.generic and not options.generic:
        console.note("The IR is invalid here: printed in generic form.")
    if what == "function" and console.session.cursor.get().function is None:
        console.note("The cursor is in no function: printed is the outermost operation around it.")
    return printed


CURSOR = Topic("Cursor", contained=True)
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
    return _printed(console, "cursor", PrintOptions(full=True))


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
