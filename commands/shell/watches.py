"""Commands that set watches and catches, which are listed and changed like breakpoints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter.declaration import Arguments, command, flag
from actiondbg.commands.shell.breakpoints import BREAKPOINTS
from actiondbg.protocol import CatchKind

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

EVENTS = get_args(CatchKind)


@command(
    "watch",
    BREAKPOINTS,
    "Stop after the action that changes, moves, replaces or erases an operation, or that changes "
    "its attribute, or how many operations of a name there are.",
    "watch attribute value of cursor",
    flag("--exact", "do not go on with what replaces the operation"),
    raw="cursor | @ID | %SSA | op:GLOB count | attribute NAME of cursor [if EXPR]",
    needs_text=True,
    complete="watch",
)
def watch(front: Front, args: Arguments) -> Any:
    target, condition = split_spec_and_condition(args.text)
    return front.session.watch(target, exact=args.exact, condition=condition)


@command(
    "catch",
    BREAKPOINTS,
    "Stop at an event: a pass that fails (GLOB is its name), the tool about to crash, IR that does "
    "not verify, a diagnostic before it is printed (GLOB is its text), a greedy driver that does "
    "not settle.",
    "catch diagnostic *operand*",
    raw=f"{'|'.join(EVENTS)} [GLOB]",
    needs_text=True,
    complete="catch",
)
def catch(front: Front, args: Arguments) -> Any:
    word, _, glob = args.text.partition(" ")
    kinds = [kind for kind in EVENTS if kind.startswith(word)]
    glob = re.sub(r"""^(['"])(.*)\1$""", r"\2", glob.strip())
    return front.session.catch(kinds[0] if len(kinds) == 1 else word, glob or None)
