"""Lists of actions, the pipeline, outcomes and changes of an action, statistics and cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from actiondbg.analysis.actions import ActionList, ListedAction
from actiondbg.analysis.pipeline import PipelinePass
from actiondbg.commands.render.past import diff_object, unified_lines
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.stop import change_line, outcome_lines, result_words
from actiondbg.commands.render.tables import fitted
from actiondbg.commands.render.units import describe, operation
from actiondbg.protocol import Changes, Outcome, Statistic
from actiondbg.support.counts import counted, times

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Applied, Cycle
    from actiondbg.process.stop import Stop

_HEAD = f"{'first':>10} {'runs':>9} {'changes':>9} {'time':>12}  pass"


class ActionsShown(msgspec.Struct):
    """Actions before and after the stop.

    Attributes:
        here: the ordinal of the stop's action, or None.
        options: the SPEC and the options that selected them, for the command that lists more.
    """

    found: ActionList
    here: int | None
    options: str = ""


class PipelineShown(msgspec.Struct):
    """The passes of the run.

    Attributes:
        here: the ordinal of the stop's action, or None.
        crashed: the ordinal of the innermost pass in which the tool crashes at this stop, or None.
    """

    passes: list[PipelinePass]
    here: int | None
    crashed: int | None = None


# --- actions ---------------------------------------------------------------------


def actions_text(_: RenderContext, shown: ActionsShown) -> str:
    found = shown.found
    if not found.actions:
        if found.earlier:
            return f"No action matches from there on; {found.earlier:,} before it do."
        return "No action of this run matches."
    outermost = min(action.depth for action in found.actions)
    lines = [_action_line(action, outermost, shown.here) for action in found.actions]
    if found.earlier:
        lines.insert(0, f"   ... {found.earlier:,} earlier")
    if found.later:
        most = "" if found.is_complete else "more than "
        way_out = f"info actions{shown.options} --from #{found.actions[-1].ordinal + 1}"
        lines.append(f"   ... {most}{found.later:,} later: {way_out}")
    return "\n".join(lines)


def _action_line(action: ListedAction, outermost: int, here: int | None) -> str:
    mark = "->" if action.ordinal == here else "  "
    return f"{mark} {'  ' * (action.depth - outermost)}{describe(action)}: {_result(action)}"


def _result(action: ListedAction) -> str:
    if action.outcome is None:
        return "running" if action.state == "running" else "not ended"
    result = action.outcome.result
    changes = f", {counted(action.change_count, 'change')}" if action.change_count else ""
    return result + changes


def _actions_object(shown: ActionsShown) -> object:
    actions = msgspec.to_builtins(shown.found.actions)
    for action in actions:
        action["changes"] = action.pop("change_count")
    return {
        "actions": actions,
        "earlier": shown.found.earlier,
        "later": shown.found.later,
        "complete": shown.found.is_complete,
        "here": shown.here,
    }


# --- the pipeline ---------------------------------------------------------------


def pipeline_text(_: RenderContext, shown: PipelineShown) -> str:
    if not shown.passes:
        return "No pass runs."
    rows = list(_levels(shown.passes))
    runs: dict[str, list[int]] = {}
    for one, _level in rows:
        runs.setdefault(one.name, []).extend(one.ordinals)
    numbers = {name: {run: at for at, run in enumerate(sorted(runs[name]), 1)} for name in runs}
    lines = [_pass_line(one, shown, level, numbers[one.name]) for one, level in rows]
    return "\n".join([_HEAD, *lines])


def _levels(passes: list[PipelinePass], level: int = 0) -> Iterator[tuple[PipelinePass, int]]:
    """Yield passes, each with its level, before those that it runs."""
    for one in passes:
        yield one, level
        yield from _levels(one.passes, level + 1)


def _pass_line(
    one: PipelinePass, shown: PipelineShown, level: int, numbers: Mapping[int, int]
) -> str:
    """Return a pass as a line; ``numbers`` are those of the runs of its name, by ordinal."""
    mark = "->" if one.state == "running" or shown.here in one.ordinals else "  "
    mark += "!" if one.failed or shown.crashed in one.ordinals else " "
    runs = str(len(one.ordinals))
    if one.state == "running" and len(one.ordinals) > 1:
        runs = f"{one.finished} of {runs}"
    time = "-" if one.seconds is None else f"{one.seconds * 1000:.3f} ms"
    number = numbers[one.ordinals[0]]
    name = f"{one.name}#{number}" if one.name and number > 1 else one.name
    name = name or f"on each {one.passes[0].op if one.passes else 'operation'}:"
    crashes = int(shown.crashed in one.ordinals)
    ends = (
        (one.failed, "failed"),
        (one.skipped, "skipped"),
        (crashes, "crashed"),
        (one.unended - crashes, "not ended"),
    )
    notes = [f"{count} {word}" for count, word in ends if count]
    note = f" ({', '.join(notes)})" if notes else ""
    changes = "-" if one.unended == len(one.ordinals) else one.changes
    cells = f"{f'#{one.ordinals[0]}':>7} {runs:>9} {changes:>9} {time:>12}"
    return f"{mark}{cells}  {'  ' * level}{name}{note}"


_COLUMNS = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes")
_RARE = ("unchanged", "skipped")  # columns that are left out if they count nothing
_TOTALS = ("attempts", "succeeded", "unchanged", "failed", "skipped", "changes", "seconds")


class OutcomeShown(msgspec.Struct):
    stop: Stop
    outcome: Outcome


class ChangesShown(msgspec.Struct):
    ordinal: int
    changes: Changes


class StatisticsShown(msgspec.Struct):
    """The outcomes of patterns, passes or folds by name, and the total.

    Attributes:
        kind: "pattern", "pass" or "fold".
        glob: the selected names; None for all.
    """

    kind: str
    glob: str | None
    rows: list[Statistic]
    total: Statistic


class CycleShown(msgspec.Struct):
    cycle: Cycle | None


# --- one action ---------------------------------------------------------------------


def outcome_text(_: RenderContext, shown: OutcomeShown) -> str:
    stop, count = shown.stop, shown.stop.change_count
    head = f"#{stop.ordinal} {stop.tag} ({stop.name or 'nameless'})"
    lines = [f"{head}: {result_words(shown.outcome, count)}"]
    lines += [f"  {line}" for line in outcome_lines(shown.outcome, stop.tag)]
    changes = counted(count, "change")
    return "\n".join([*lines, f"  {changes}{': info changes' if count else ''}"])


def _outcome_object(shown: OutcomeShown) -> object:
    stop, outcome = shown.stop, shown.outcome
    return {
        "ordinal": stop.ordinal,
        "tag": stop.tag,
        "name": stop.name,
        "result": outcome.result,
        "reasons": outcome.reasons,
        "how": outcome.how,
        "values": outcome.values,
        "changes": stop.change_count,
    }


def changes_text(_: RenderContext, shown: ChangesShown) -> str:
    found: Changes = shown.changes
    if not found.total and not found.undated:
        return f"#{shown.ordinal} has changed nothing so far."
    counts = ", ".join(f"{count} {kind}" for kind, count in found.counts.items() if count)
    lines = [f"#{shown.ordinal} made {counted(found.total, 'change')}{counts and f': {counts}'}"]
    if found.forgotten:
        lines.append(
            f"  ... the first {counted(found.forgotten, 'change')} "
            f"{'is' if found.forgotten == 1 else 'are'} no longer available"
        )
    for change in found.changes:
        place = f"  at {change.location}" if change.location else ""
        lines.append(f"  {change_line(change, shown.ordinal)}{place}")
    rest = found.total - found.forgotten - len(found.changes)
    if rest > 0:
        lines.append(f"  ... and {rest} more: info changes --count {found.total}")
    if found.undated:
        lines.append(
            f"  ... and {counted(found.undated, 'change')} before or after this stop: a recording "
            "does not hold the times of changes"
        )
    return "\n".join(lines)


# --- statistics ------------------------------------------------------------------


def statistics_text(_: RenderContext, shown: StatisticsShown) -> str:
    if not shown.rows:
        named = f" named {shown.glob}" if shown.glob else ""
        return f"No {shown.kind}{named} has ended so far."
    total = shown.total
    columns = [each for each in _COLUMNS if getattr(total, each) or each not in _RARE]
    cells = [
        [*columns, "time", "name"],
        *(_statistic_cells(row, columns, row.name or "(nameless)") for row in shown.rows),
        _statistic_cells(total, columns, f"total of {counted(len(shown.rows), 'name')}"),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        " ".join(f"{cell:>{width}}" for cell, width in zip(row[:-1], widths, strict=False))
        + f"  {row[-1]}"
        for row in cells
    )


def _statistic_cells(row: Statistic, columns: Iterable[str], name: str) -> list[str]:
    counts = [str(getattr(row, column)) for column in columns]
    time = "-" if row.seconds is None else f"{row.seconds * 1000:.3f} ms"
    return [*counts, time, name]


def _statistics_object(shown: StatisticsShown) -> object:
    total = msgspec.to_builtins(shown.total)
    return {
        "rows": msgspec.to_builtins(shown.rows),
        "total": {key: total[key] for key in _TOTALS},
    }


# --- cycles ----------------------------------------------------------------------


def cycle_text(context: RenderContext, shown: CycleShown) -> str:
    cycle = shown.cycle
    if cycle is None:
        return "No cycle was found: the latest actions do not repeat."
    length = counted(len(cycle.round), "action")
    repeats = f"{'more than ' if cycle.more else ''}{times(cycle.times)}"
    lines = [f"A cycle of {length} was repeated {repeats} so far; one round:"]
    lines += [f"  {_applied_words(each)}" for each in cycle.round]
    lines = fitted("\n".join(lines), context.width).split("\n")
    for each in cycle.diffs:
        if not each.is_empty:
            lines += ["", *unified_lines(context, each, 3)]
    return "\n".join(lines)


def _applied_words(applied: Applied) -> str:
    place = f" at {applied.location}" if applied.location else ""
    name = f"{applied.tag} ({applied.name or 'nameless'})"
    return f"#{applied.ordinal} {name} on {operation(applied.id, applied.op)}{place}"


def _cycle_object(shown: CycleShown) -> object:
    if shown.cycle is None:
        return None
    return {
        "times": shown.cycle.times,
        "more": shown.cycle.more,
        "round": msgspec.to_builtins(shown.cycle.round),
        "diffs": [diff_object(each, 3) for each in shown.cycle.diffs],
    }


RENDERERS = (
    renders(ActionsShown, actions_text, _actions_object),
    renders(PipelineShown, pipeline_text),
    renders(OutcomeShown, outcome_text, _outcome_object),
    renders(
        ChangesShown,
        changes_text,
        lambda shown: {"ordinal": shown.ordinal, **msgspec.to_builtins(shown.changes)},
    ),
    renders(StatisticsShown, statistics_text, _statistics_object),
    renders(CycleShown, cycle_text, _cycle_object, fits=True),
)
