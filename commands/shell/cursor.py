"""Commands that move and print the cursor, the IR unit in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, positional, rest
from actiondbg.commands.render.units import Units
from actiondbg.commands.shell.ir import place_of, print_ir

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.ir.printed import PrintedText
    from actiondbg.protocol import Cursor

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
    cursor = session.cursor.goto(place_of(console, options.text))
    if cursor.function is not None and cursor.function != before and console.width is None:
        console.note(f"Found in @{cursor.function.removeprefix('@')}.")
    return cursor
