"""The subcommands of ``info`` about outcomes: of one action, and by name."""

from __future__ import annotations

import contextlib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, get_args

from actiondbg.analysis.pipeline import pipeline_of
from actiondbg.breakpoints.spec import split_spec_and_condition
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
from actiondbg.commands.render.actions import ActionsShown, PipelineShown
from actiondbg.commands.render.outcomes import (
    ChangesShown,
    CycleShown,
    OutcomeShown,
    StatisticsShown,
)
from actiondbg.commands.shell.status import STATUS
from actiondbg.errors import NoAnswer, UsageError
from actiondbg.process.stop import not_ended
from actiondbg.protocol import Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actiondbg.analysis.actions import ListedAction
    from actiondbg.commands.interpreter.console import Console

Sort = Literal["attempts", "succeeded", "failed", "unchanged", "changes", "time", "name"]
OUTCOMES = Topic(STATUS.category)


@OUTCOMES.command("info outcome", reads=True)
def outcome(console: Console, _: NoOptions) -> OutcomeShown:
    """Show the outcome of the action of this stop, with the reasons."""
    console.need_stop()
    stop = console.session.stop
    if stop is not None and stop.is_crash and stop.ordinal:
        raise not_ended(stop.ordinal, stop)
    if stop is None or stop.outcome is None:
        raise UsageError("The action has no outcome yet: 'next' runs it to its end.")
    return OutcomeShown(stop, stop.outcome)


class ChangesOptions(Options):
    own: bool = flag(help="leave out the changes of nested actions")
    count: int = option(
        "N", default=100, help="list at most N; 100 by default", parse=values.positive
    )


@OUTCOMES.command("info changes", example="info changes --own", reads=True)
def changes(console: Console, options: ChangesOptions) -> ChangesShown:
    """List the changes of the selected action so far, oldest first."""
    session, nested = console.session, not options.own
    found = session.outcome.changes(nested=nested, limit=options.count)
    if found.forgotten:  # a recording has them all
        with contextlib.suppress(NoAnswer), console.progress.shown():
            past = console.live_session("A replay").past
            found = past.changes(session.stack.selected, nested, options.count)
    return ChangesShown(session.stack.action().ordinal, found)


class NamesOptions(Options):
    sort: Sort = option(
        "COLUMN",
        default="attempts",
        help=f"sort by {', '.join(get_args(Sort))}; by default attempts",
        prefix=True,
    )
    glob: str | None = None


class PatternsOptions(NamesOptions):
    glob: str | None = positional(
        "GLOB", help="only patterns of this name", complete=completers.patterns
    )


@OUTCOMES.command("info patterns", example="info patterns --sort time Fold*", reads=True)
def patterns(console: Console, options: PatternsOptions) -> StatisticsShown:
    """List the attempts of each pattern by outcome, with changes and time."""
    return _statistics(console, "pattern", options)


class PassesOptions(NamesOptions):
    glob: str | None = positional(
        "GLOB", help="only passes of this name", complete=completers.passes
    )


@OUTCOMES.command("info passes", example="info passes --sort time", reads=True)
def passes(console: Console, options: PassesOptions) -> StatisticsShown:
    """List the runs of each pass by outcome, with changes and time."""
    return _statistics(console, "pass", options)


class FoldsOptions(NamesOptions):
    glob: str | None = positional(
        "GLOB", help="only operations of this name", complete=completers.operations
    )


@OUTCOMES.command("info folds", example="info folds arith.*", reads=True)
def folds(console: Console, options: FoldsOptions) -> StatisticsShown:
    """List the folds of each operation by outcome, with changes and time."""
    return _statistics(console, "fold", options)


class ActionsOptions(Options):
    text: str = rest("[SPEC [if EXPR]]", complete=completers.spec)
    changed: bool = flag(help="only actions that changed the IR")
    first: int | None = option(
        "--from",
        "#N",
        help="begin with this ordinal; by default the stop is in the middle",
        parse=values.ordinal,
    )
    count: int = option(
        "N", default=20, help="list at most N; 20 by default", parse=values.positive
    )


@OUTCOMES.command(
    "info actions", example="info actions pattern:Fold* --changed", redirects=True, reads=True
)
def actions(console: Console, options: ActionsOptions) -> ActionsShown:
    """List actions of the run, before and after the stop, with their outcomes."""
    spec, condition = split_spec_and_condition(options.text) if options.text else (None, None)
    with console.progress.shown():
        found = console.session.past.actions(
            spec, condition, changed=options.changed, first=options.first, count=options.count
        )
    selection = f"{' --changed' if options.changed else ''} {options.text}".rstrip()
    return ActionsShown(found, _ordinal_of_stop(console), selection)


@OUTCOMES.command("info pipeline", reads=True)
def pipeline(console: Console, _: NoOptions) -> PipelineShown:
    """List the passes of the run in order, nested; those after the stop too. 'goto' takes their
    ordinals, and names such as canonicalize#2. '!' marks a pass that failed or crashed.
    """
    with console.progress.shown():
        runs = console.session.past.passes()
        found = pipeline_of(runs)
    return PipelineShown(found, _ordinal_of_stop(console), _crashed_pass(console, runs))


def _crashed_pass(console: Console, runs: Iterable[ListedAction]) -> int | None:
    """Return the ordinal of the innermost pass in which the tool crashed."""
    stop = console.session.stop
    if stop is None or not (stop.ordinal and (stop.is_crash or stop.reason == "crashed")):
        return None
    around = [run.ordinal for run in runs if run.outcome is None and run.ordinal <= stop.ordinal]
    return max(around, default=None)


def _ordinal_of_stop(console: Console) -> int | None:
    stop = console.session.stop
    return None if stop is None or stop.when == "exit" else stop.ordinal or None


@OUTCOMES.command("info cycles", reads=True)
def cycles(console: Console, _: NoOptions) -> CycleShown:
    """Find actions that undo each other repeatedly; show one round as diffs."""
    with console.progress.shown():
        return CycleShown(console.session.past.cycles())


def _statistics(
    console: Console, kind: Literal["pattern", "pass", "fold"], options: NamesOptions
) -> StatisticsShown:
    with console.progress.shown():
        found = console.session.past.statistics(kind)
    glob = options.glob
    rows = [row for row in found if glob is None or fnmatchcase(row.name, glob)]
    rows.sort(key=lambda row: _sort_key(row, options.sort))
    return StatisticsShown(kind, options.glob, rows, _total(kind, rows))


def _sort_key(row: Statistic, column: Sort) -> tuple[float, str]:
    """Return the sort key of a row: the column in descending order, then the name."""
    if column == "name":
        return 0, row.name
    return -(getattr(row, "seconds" if column == "time" else column) or 0), row.name


def _total(kind: str, rows: list[Statistic]) -> Statistic:
    columns = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes")
    sums = {column: sum(getattr(row, column) for row in rows) for column in columns}
    times = [row.seconds for row in rows if row.seconds is not None]
    seconds = sum(times) if times or not rows else None
    return Statistic(tag=kind, name="total", seconds=seconds, **sums)
