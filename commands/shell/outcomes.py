"""What ``info`` tells of the actions: what one did, what all of a name came to."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from actiondbg.commands.interpreter import completers, values
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import (
    Flag,
    NoOptions,
    Option,
    Options,
    Positional,
)
from actiondbg.commands.render.outcomes import (
    ChangesShown,
    CycleShown,
    OutcomeShown,
    StatisticsShown,
)
from actiondbg.commands.shell.info import STATUS
from actiondbg.errors import UsageError
from actiondbg.protocol import Statistic

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console

_MOST_CHANGES = 100  # that are told of without --count
Sort = Literal["attempts", "succeeded", "failed", "unchanged", "changes", "time", "name"]
OUTCOMES = Topic(STATUS.category)


@OUTCOMES.subcommand("info", "outcome", example="info outcome")
def outcome(console: Console, _: NoOptions) -> OutcomeShown:
    """Tell what the action of this stop came to, and why."""
    console.need_stop()
    stop = console.session.stop
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


class ChangesOptions(Options):
    """The options of ``info changes``."""

    own: Annotated[bool, Flag("--own", help="without what nested actions changed")] = False
    count: Annotated[int, Option("--count", "N", help="at most so many", parse=values.positive)] = (
        100
    )


@OUTCOMES.subcommand("info", "changes", example="info changes --own")
def changes(console: Console, options: ChangesOptions) -> ChangesShown:
    """List what the selected action has changed so far, oldest first."""
    found = console.session.outcome.changes(nested=not options.own, limit=options.count)
    return ChangesShown(console.session.stack.action().ordinal, found)


class NamesOptions(Options):
    """The options that ``info patterns``, ``info passes`` and ``info folds`` share."""

    sort: Annotated[
        Sort,
        Option(
            "--sort",
            "COLUMN",
            help=f"sorted by {', '.join(get_args(Sort))}; else by attempts",
            prefix=True,
        ),
    ] = "attempts"
    glob: str | None = None


class PatternsOptions(NamesOptions):
    """The options of ``info patterns``."""

    glob: Annotated[
        str | None, Positional("GLOB", help="only such names", complete=completers.patterns)
    ] = None


@OUTCOMES.subcommand("info", "patterns", example="info patterns --sort time Fold*")
def patterns(console: Console, options: PatternsOptions) -> StatisticsShown:
    """Tell how often each pattern was attempted, with what outcome, and what it cost."""
    return _statistics(console, "pattern", options)


class PassesOptions(NamesOptions):
    """The options of ``info passes``."""

    glob: Annotated[
        str | None, Positional("GLOB", help="only such names", complete=completers.passes)
    ] = None


@OUTCOMES.subcommand("info", "passes", example="info passes --sort time")
def passes(console: Console, options: PassesOptions) -> StatisticsShown:
    """Tell how often each pass ran, with what outcome, and what it cost."""
    return _statistics(console, "pass", options)


class FoldsOptions(NamesOptions):
    """The options of ``info folds``."""

    glob: Annotated[
        str | None, Positional("GLOB", help="only such operations", complete=completers.operations)
    ] = None


@OUTCOMES.subcommand("info", "folds", example="info folds arith.*")
def folds(console: Console, options: FoldsOptions) -> StatisticsShown:
    """Tell how often operations of each name were folded, with what outcome."""
    return _statistics(console, "fold", options)


@OUTCOMES.subcommand("info", "cycles", example="info cycles")
def cycles(console: Console, _: NoOptions) -> CycleShown:
    """Tell which actions undo each other over and over, with one round of them as diffs."""
    return CycleShown(console.session.past.cycles())


def _statistics(
    console: Console, kind: Literal["pattern", "pass", "fold"], options: NamesOptions
) -> StatisticsShown:
    rows = [
        row
        for row in console.session.past.statistics(kind)
        if options.glob is None or fnmatchcase(row.name, options.glob)
    ]
    rows.sort(key=lambda row: _sort_key(row, options.sort))
    return StatisticsShown(kind, options.glob, rows, _total(kind, rows))


def _sort_key(row: Statistic, column: Sort) -> tuple[float, str]:
    """Return what rows are sorted by: a number from the largest, then the name."""
    if column == "name":
        return 0, row.name
    return -getattr(row, "seconds" if column == "time" else column), row.name


def _total(kind: str, rows: list[Statistic]) -> Statistic:
    columns = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes", "seconds")
    sums = {column: sum(getattr(row, column) for row in rows) for column in columns}
    return Statistic(tag=kind, name="total", **sums)
