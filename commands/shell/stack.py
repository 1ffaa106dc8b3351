"""Commands about the stack of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter.declaration import (
    Arguments,
    arg,
    command,
    count_argument,
    index,
    positive,
)
from actiondbg.commands.render.results import Backtrace, Units
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

STACK = "Stack of actions"


@command(
    "backtrace",
    STACK,
    "Print the actions that are running, innermost first; with N, the innermost N.",
    "backtrace 3",
    arg("count", nargs="?", type=positive, metavar="N", help="how many"),
    aliases=("bt", "where"),
)
def backtrace(front: Front, args: Arguments) -> Any:
    return Backtrace(front.session.backtrace()[: args.count], front.session.frame_index)


def _select(front: Front, number: int) -> Any:
    depth = len(front.session.backtrace())
    if number < 0:
        raise UsageError("This is the innermost action: 'up' goes outwards.")
    if number >= depth:
        raise UsageError(f"There is no frame {number}: the outermost is {depth - 1}.")
    return front.session.select_frame(number)


@command(
    "up",
    STACK,
    "Select the action around the selected one.",
    "up",
    count_argument("how many frames"),
    repeats=True,
)
def up(front: Front, args: Arguments) -> Any:
    outermost = len(front.session.backtrace()) - 1
    if front.session.frame_index == outermost:
        raise UsageError("This is the outermost action: 'down' goes inwards.")
    return _select(front, min(front.session.frame_index + args.count, outermost))


@command(
    "down",
    STACK,
    "Select the action inside the selected one.",
    "down",
    count_argument("how many frames"),
    repeats=True,
)
def down(front: Front, args: Arguments) -> Any:
    index_now = front.session.frame_index
    return _select(front, max(index_now - args.count, 0) if index_now else -1)


@command(
    "frame",
    STACK,
    "Select frame N of the stack of actions; without N, print the selected one.",
    "frame 1",
    arg("index", nargs="?", type=index, metavar="N", help="its number in 'backtrace'"),
    aliases=("f",),
)
def frame(front: Front, args: Arguments) -> Any:
    return _select(front, front.session.frame_index if args.index is None else args.index)


@command(
    "context",
    STACK,
    "Print the IR units of the selected action.",
    "context",
)
def context(front: Front, _: Arguments) -> Any:
    return Units(front.session.context())
