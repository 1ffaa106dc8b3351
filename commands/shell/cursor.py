"""Commands that move the cursor, the IR unit that the user looks at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter.declaration import (
    Arguments,
    arg,
    command,
    count_argument,
    index,
    operation_id,
)
from actiondbg.commands.render.results import Units
from actiondbg.commands.shell.printing import print_ir
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

CURSOR = "Cursor"
_WALKS = "the IR cannot be walked through in it"
_INDEX = arg("index", nargs="?", type=index, metavar="N", help="move to this one")


@command(
    "cursor-select-from-context",
    CURSOR,
    "Move the cursor to an IR unit of the context.",
    "cursor-select-from-context 0",
    arg("index", type=index, metavar="ID", help="its number in 'context'"),
)
def select_from_context(front: Front, args: Arguments) -> Any:
    return front.session.move_cursor("context", index=args.index)


@command(
    "cursor-select-id",
    CURSOR,
    "Move to the operation of an id, the number of its creation.",
    "cursor-select-id @12",
    arg("id", type=operation_id, metavar="@ID", help="its id, as a stop or 'context' shows it"),
)
def select_id(front: Front, args: Arguments) -> Any:
    return front.session.move_cursor("id", index=args.id)


@command(
    "cursor-print",
    CURSOR,
    "Print the IR unit at the cursor.",
    "cursor-print",
    shows_ir=True,
)
def cursor_print(front: Front, _: Arguments) -> Any:
    return print_ir(front, "cursor")


@command(
    "cursor-parent",
    CURSOR,
    "Move to the unit around the cursor.",
    "cursor-parent",
    needs_tool=_WALKS,
)
def parent(front: Front, _: Arguments) -> Any:
    return front.session.move_cursor("parent")


@command(
    "cursor-child",
    CURSOR,
    "Move to a unit inside the cursor: a region, block or operation, by number.",
    "cursor-child 0",
    arg("index", type=index, metavar="ID", help="its number, from 0"),
    needs_tool=_WALKS,
)
def child(front: Front, args: Arguments) -> Any:
    return front.session.move_cursor("child", index=args.index)


@command(
    "cursor-previous",
    CURSOR,
    "Move to the unit before the cursor, in the same parent.",
    "cursor-previous 2",
    count_argument("how far"),
    repeats=True,
    needs_tool=_WALKS,
)
def previous(front: Front, args: Arguments) -> Any:
    return front.session.move_cursor("previous", count=args.count)


@command(
    "cursor-next",
    CURSOR,
    "Move to the unit after the cursor, in the same parent.",
    "cursor-next",
    count_argument("how far"),
    repeats=True,
    needs_tool=_WALKS,
)
def next_(front: Front, args: Arguments) -> Any:
    return front.session.move_cursor("next", count=args.count)


@command(
    "cursor-function",
    CURSOR,
    "Move to the function that holds the cursor.",
    "cursor-function",
    needs_tool=_WALKS,
)
def function(front: Front, _: Arguments) -> Any:
    return front.session.move_cursor("function")


@command(
    "cursor-module",
    CURSOR,
    "Move to the outermost operation.",
    "cursor-module",
    needs_tool=_WALKS,
)
def module(front: Front, _: Arguments) -> Any:
    return front.session.move_cursor("module")


@command(
    "cursor-defs",
    CURSOR,
    "List what defines the cursor's operands; with N, move to one.",
    "cursor-defs 0",
    _INDEX,
    needs_tool=_WALKS,
)
def defs(front: Front, args: Arguments) -> Any:
    if args.index is None:
        return Units(front.session.links("defs"))
    return front.session.move_cursor("def", index=args.index)


@command(
    "cursor-users",
    CURSOR,
    "List what uses the cursor's results; with N, move to one.",
    "cursor-users",
    _INDEX,
    needs_tool=_WALKS,
)
def users(front: Front, args: Arguments) -> Any:
    if args.index is None:
        return Units(front.session.links("users"))
    return front.session.move_cursor("user", index=args.index)


@command(
    "cursor-goto",
    CURSOR,
    "Move to an SSA name in the cursor's scope, an operation's id, a symbol, a file location or "
    "the action.",
    "cursor-goto %arg0",
    raw="%NAME | @ID | @SYMBOL | FILE:LINE[:COL] | action",
    needs_text=True,
    complete="file",
)
def goto(front: Front, args: Arguments) -> Any:
    where = args.text
    if where == "action":
        return front.session.move_cursor("action")
    if where.startswith("%"):
        return front.session.move_cursor("value", name=where)
    if re.fullmatch(r"@\d+", where):  # no symbol, which would be quoted
        return front.session.move_cursor("id", index=int(where[1:]))
    if where.startswith("@"):
        return front.session.move_cursor("symbol", name=where[1:].strip('"'))
    match = re.fullmatch(r"(.+?):(\d+)(?::(\d+))?", where)
    if match is None:
        raise UsageError(
            f"{where!r} is no place: write %NAME, @ID, @SYMBOL, FILE:LINE[:COL] or action."
        )
    path, line, column = match.groups()
    return front.session.move_cursor(
        "location", path=path, line=int(line), column=int(column) if column else None
    )
