"""What ``info`` tells of the actions: what one did, what all of a name came to."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from actiondbg.commands.interpreter.declaration import (
    Arguments,
    arg,
    choice,
    flag,
    positive,
    subject,
)
from actiondbg.commands.render.results import (
    ChangesShown,
    CycleShown,
    OutcomeShown,
    StatisticsShown,
)
from actiondbg.commands.shell import info as _status  # declares info before its subjects
from actiondbg.errors import UsageError
from actiondbg.protocol import Statistic

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

_MOST_CHANGES = 100  # that are told of without --count
_SORTS = ("attempts", "succeeded", "failed", "unchanged", "changes", "time", "name")
_SORT = choice(
    "--sort",
    _SORTS,
    f"sorted by {', '.join(_SORTS)}; else by attempts",
    default="attempts",
    metavar="COLUMN",
)
_PATTERN = arg("glob", nargs="?", metavar="GLOB", help="only such names", complete="pattern")
_PASS = arg("glob", nargs="?", metavar="GLOB", help="only such names", complete="pass")
_FOLD = arg("glob", nargs="?", metavar="GLOB", help="only such operations", complete="op")


@subject(
    _status.INFO,
    "outcome",
    "Tell what the action of this stop came to, and why.",
    "info outcome",
)
def outcome(front: Front, _: Arguments) -> Any:
    front.need_stop()
    stop = front.session.stop
    if stop is None or stop.outcome is None:
        raise UsageError("The action is not over, and has no outcome yet: 'next' goes to its end.")
    found = stop.outcome
    return OutcomeShown(
        ordinal=stop.ordinal,
        tag=stop.tag,
        name=stop.name,
        result=found.result,
        reasons=found.reasons,
        how=found.how,
        values=found.values,
        changes=stop.change_count,
    )


@subject(
    _status.INFO,
    "changes",
    "List what the selected action has changed so far, oldest first.",
    "info changes --own",
    flag("--own", "without what nested actions changed"),
    arg("--count", type=positive, default=_MOST_CHANGES, metavar="N", help="at most so many"),
)
def changes(front: Front, args: Arguments) -> Any:
    found = front.session.changes(nested=not args.own, limit=args.count)
    return ChangesShown(front.session.action().ordinal, found)


@subject(
    _status.INFO,
    "patterns",
    "Tell how often each pattern was attempted, with what outcome, and what it cost.",
    "info patterns --sort time Fold*",
    _SORT,
    _PATTERN,
)
def patterns(front: Front, args: Arguments) -> Any:
    return _statistics(front, "pattern", args)


@subject(
    _status.INFO,
    "passes",
    "Tell how often each pass ran, with what outcome, and what it cost.",
    "info passes --sort time",
    _SORT,
    _PASS,
)
def passes(front: Front, args: Arguments) -> Any:
    return _statistics(front, "pass", args)


@subject(
    _status.INFO,
    "folds",
    "Tell how often operations of each name were folded, with what outcome.",
    "info folds arith.*",
    _SORT,
    _FOLD,
)
def folds(front: Front, args: Arguments) -> Any:
    return _statistics(front, "fold", args)


@subject(
    _status.INFO,
    "cycles",
    "Tell which actions undo each other over and over, with one round of them as diffs.",
    "info cycles",
)
def cycles(front: Front, _: Arguments) -> Any:
    return CycleShown(front.session.cycles())


def _statistics(
    front: Front, kind: Literal["pattern", "pass", "fold"], args: Arguments
) -> StatisticsShown:
    rows = [
        row
        for row in front.session.statistics(kind)
        if args.glob is None or fnmatchcase(row.name, args.glob)
    ]
    rows.sort(key=lambda row: _sort_key(row, args.sort))
    return StatisticsShown(kind, args.glob, rows, _total(kind, rows))


def _sort_key(row: Statistic, column: str) -> Any:
    """Return what rows are sorted by: a number from the largest, then the name."""
    if column == "name":
        return row.name
    return -getattr(row, "seconds" if column == "time" else column), row.name


def _total(kind: str, rows: list[Statistic]) -> Statistic:
    columns = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes", "seconds")
    sums = {column: sum(getattr(row, column) for row in rows) for column in columns}
    return Statistic(tag=kind, name="total", **sums)
