"""Commands about what is over: the IR before and after an action, its attempts, a life."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from actiondbg.commands.interpreter.declaration import (
    Arguments,
    arg,
    command,
    flag,
    index,
    operation_id,
    ordinal,
)
from actiondbg.commands.render.results import AttemptsShown, DiffShown, HistoryShown
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.session.session import Stop

PAST = "What actions did"
_OPERATION = re.compile(r"cursor|@\d+|%\S+")


@command(
    "diff",
    PAST,
    "Show the IR before and after the action of this stop, or after action N, with the function "
    "around it; values keep their names.",
    "diff #17 --module",
    arg("ordinal", type=ordinal, nargs="?", metavar="#N", help="an action that is over"),
    flag("--module", "the whole module"),
    flag("--side-by-side", "before on the left, after on the right"),
    flag("--unified", "one below the other, which is the default"),
    arg("--context", type=index, default=3, metavar="N", help="unchanged lines around a change"),
    shows_ir=True,
)
def diff(front: Front, args: Arguments) -> Any:
    if args.side_by_side and args.unified:
        raise UsageError("A diff is either --unified or --side-by-side: give one of them.")
    found = front.session.diff(args.ordinal, module=args.module)
    return DiffShown(found, args.side_by_side, args.context)


@command(
    "why-not",
    PAST,
    "Tell of every attempt of a pattern so far, with the reasons why it did not match; if there "
    "are none, go on to the next.",
    "why-not AddIAddConstant cursor",
    arg("name", metavar="NAME", help="the pattern's, or a glob", complete="pattern"),
    arg(
        "where",
        nargs="?",
        metavar="FILE:LINE|cursor|@ID",
        help="only on operations of a location, or on one",
        complete="where",
    ),
    flag("--all", "each attempt in a line"),
    flag("--next", "go on to the next attempt, and stop after it"),
)
def why_not(front: Front, args: Arguments) -> Any:
    if args.next:
        return _next_attempt(front, args)
    found = front.session.why_not(args.name, **_place(front, args.where))
    stop = front.session.stop
    if found.attempts or stop is None or stop.when in ("exit", "during"):  # or a crash would go on
        return AttemptsShown(found, args.all)
    front.note(f"There was no attempt of {args.name} so far: going on to the next.")
    return _next_attempt(front, args)


def _place(front: Front, where: str | None) -> dict[str, Any]:
    """Return the keyword arguments that say where attempts are looked for."""
    if where is None:
        return {}
    if where == "cursor":
        return {"op_id": _cursor_id(front)}
    if where.startswith("@"):
        return {"op_id": operation_id(where)}
    return {"location": where}


def _cursor_id(front: Front) -> int:
    id = front.session.cursor().unit.id
    if id is None:
        raise UsageError("The cursor is not on an operation: move it with 'cursor-parent'.")
    return id


def _next_attempt(front: Front, args: Arguments) -> Stop:
    where: str | None = args.where
    if where == "cursor":
        where = front.session.cursor().unit.location
    if where is not None and re.fullmatch(r"@\d+", where):
        raise UsageError(
            f"An attempt to come is found by its location, not by {where}: give FILE:LINE."
        )
    return front.resume(lambda: front.session.next_attempt(args.name, where))


@command(
    "history",
    PAST,
    "Tell the life of an operation so far: what made, changed, moved, replaced and erased it; of "
    "the cursor's without words. With other words, or if the tool is not stopped, list, run or "
    "edit earlier lines.",
    "history @12",
    raw="[cursor | @ID | %SSA | LINES]",
    complete="where",
    redirects=True,
)
def history(front: Front, args: Arguments) -> Any:
    stopped = front.session.state == "stopped"
    if _OPERATION.fullmatch(args.text) or (not args.text and (stopped or front.shell is None)):
        return HistoryShown(front.session.history(args.text or "cursor"))
    front.in_shell(f"history {args.text}")
    return None
