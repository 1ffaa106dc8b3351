"""Commands about what is over: the IR before and after an action, its attempts, a life."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    Flag,
    Option,
    Options,
    Positional,
    Rest,
)
from actiondbg.commands.render.past import AttemptsShown, DiffShown, HistoryShown
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.stop import Stop

PAST = Topic("What actions did")
_OPERATION = re.compile(r"cursor|@\d+|%\S+")


class DiffOptions(Options):
    """The options of ``diff``."""

    ordinal: Annotated[
        int | None, Positional("#N", help="an action that is over", parse=values.ordinal)
    ] = None
    module: Annotated[bool, Flag("--module", help="the whole module")] = False
    side_by_side: Annotated[
        bool, Flag("--side-by-side", help="before on the left, after on the right")
    ] = False
    unified: Annotated[
        bool, Flag("--unified", help="one below the other, which is the default")
    ] = False
    context: Annotated[
        int, Option("--context", "N", help="unchanged lines around a change", parse=values.index)
    ] = 3


@PAST.command("diff", example="diff #17 --module", shows_ir=True)
def diff(console: Console, options: DiffOptions) -> DiffShown:
    """Show the IR before and after the action of this stop, or after action N, with the function
    around it; values keep their names.
    """
    if options.side_by_side and options.unified:
        raise UsageError("A diff is either --unified or --side-by-side: give one of them.")
    found = console.session.past.diff(options.ordinal, module=options.module)
    return DiffShown(found, options.side_by_side, options.context)


class WhyNotOptions(Options):
    """The options of ``why-not``."""

    name: Annotated[
        str, Positional("NAME", help="the pattern's, or a glob", complete=completers.patterns)
    ]
    where: Annotated[
        str | None,
        Positional(
            "FILE:LINE|cursor|@ID",
            help="only on operations of a location, or on one",
            complete=completers.places,
        ),
    ] = None
    all: Annotated[bool, Flag("--all", help="each attempt in a line")] = False
    next: Annotated[bool, Flag("--next", help="go on to the next attempt, and stop after it")] = (
        False
    )


@PAST.command("why-not", example="why-not AddIAddConstant cursor")
def why_not(console: Console, options: WhyNotOptions) -> AttemptsShown | Stop:
    """Tell of every attempt of a pattern so far, with the reasons why it did not match; if there
    are none, go on to the next.
    """
    if options.next:
        return _next_attempt(console, options)
    op_id = _operation_id(console, options.where)
    location = options.where if op_id is None else None
    found = console.session.past.why_not(options.name, location=location, op_id=op_id)
    stop = console.session.stop
    if found.attempts or stop is None or stop.when in ("exit", "during"):  # or a crash would go on
        return AttemptsShown(found, options.all)
    console.note(f"There was no attempt of {options.name} so far: going on to the next.")
    return _next_attempt(console, options)


def _operation_id(console: Console, where: str | None) -> int | None:
    """Return the id of the operation that a word means; None if it is a location, or nothing."""
    if where == "cursor":
        return _cursor_id(console)
    return values.operation_id(where) if where is not None and where.startswith("@") else None


def _cursor_id(console: Console) -> int:
    id = console.session.cursor.get().unit.id
    if id is None:
        raise UsageError("The cursor is not on an operation: move it with 'cursor-parent'.")
    return id


def _next_attempt(console: Console, options: WhyNotOptions) -> Stop:
    where = options.where
    if where == "cursor":
        where = console.session.cursor.get().unit.location
    if where is not None and re.fullmatch(r"@\d+", where):
        raise UsageError(
            f"An attempt to come is found by its location, not by {where}: give FILE:LINE."
        )
    return console.resume(lambda: console.session.next_attempt(options.name, where))


class HistoryOptions(Options):
    """The options of ``history``."""

    text: Annotated[str, Rest("[cursor | @ID | %SSA | LINES]", complete=completers.places)]


@PAST.command("history", example="history @12", redirects=True)
def history(console: Console, options: HistoryOptions) -> HistoryShown | None:
    """Tell the life of an operation so far: what made, changed, moved, replaced and erased it; of
    the cursor's without words. With other words, or if the tool is not stopped, list, run or edit
    earlier lines.
    """
    stopped = console.session.state == "stopped"
    if _OPERATION.fullmatch(options.text) or (
        not options.text and (stopped or console.shell is None)
    ):
        return HistoryShown(console.session.past.history(options.text or "cursor"))
    console.in_shell(f"history {options.text}")
    return None
