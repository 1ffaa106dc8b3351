"""Commands that set watches and catches, which are listed and changed like breakpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, get_args

from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    Flag,
    Options,
    Rest,
)
from actiondbg.commands.shell.breakpoints import BREAKPOINTS
from actiondbg.protocol import CatchKind

if TYPE_CHECKING:
    from actiondbg.breakpoints.breakpoint import Breakpoint
    from actiondbg.commands.interpreter.console import Console

EVENTS = get_args(CatchKind)
WATCHES = Topic(BREAKPOINTS.category)


class WatchOptions(Options):
    """The options of ``watch``."""

    text: Annotated[
        str,
        Rest(
            "cursor | @ID | %SSA | op:GLOB count | attribute NAME of cursor [if EXPR]",
            required=True,
            complete=completers.watched,
        ),
    ]
    exact: Annotated[
        bool, Flag("--exact", help="do not go on with what replaces the operation")
    ] = False


@WATCHES.command("watch", example="watch attribute value of cursor")
def watch(console: Console, options: WatchOptions) -> Breakpoint:
    """Stop after the action that changes, moves, replaces or erases an operation, or that changes
    its attribute, or how many operations of a name there are.
    """
    target, condition = split_spec_and_condition(options.text)
    return console.session.breakpoints.watch(target, exact=options.exact, condition=condition)


class CatchOptions(Options):
    """The options of ``catch``."""

    text: Annotated[
        str,
        Rest(f"{'|'.join(EVENTS)} [GLOB]", required=True, complete=completers.caught),
    ]


@WATCHES.command("catch", example="catch diagnostic *operand*")
def catch(console: Console, options: CatchOptions) -> Breakpoint:
    """Stop at an event: a pass that fails (GLOB is its name), the tool about to crash, IR that does
    not verify, a diagnostic before it is printed (GLOB is its text), a greedy driver that does not
    settle.
    """
    word, _, glob = options.text.partition(" ")
    kinds = [kind for kind in EVENTS if kind.startswith(word)]
    glob = re.sub(r"""^(['"])(.*)\1$""", r"\2", glob.strip())
    return console.session.breakpoints.catch(kinds[0] if len(kinds) == 1 else word, glob or None)
