"""The text of lists of actions, and of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from actiondbg.analysis.actions import ActionList, ListedAction
from actiondbg.analysis.pipeline import PipelinePass
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.units import describe
from actiondbg.support.counts import counted

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
        return _none_text(found)
    outermost = min(action.depth for action in found.actions)
    lines = [_action_line(action, outermost, shown.here) for action in found.actions]
    if found.earlier:
        lines.insert(0, f"   ... {found.earlier:,} earlier")
    if found.later:
        most = "" if found.is_complete else "more than "
        way_out = f"info actions{shown.options} --from #{found.actions[-1].ordinal + 1}"
        lines.append(f"   ... {most}{found.later:,} later: {way_out}")
    return "\n".join(lines)


def _none_text(found: ActionList) -> str:
    if found.earlier:
        return f"No action matches from there on; {found.earlier:,} before it do."
    return "No action of this run matches."


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
    return {
        "actions": [_action_object(action) for action in shown.found.actions],
        "earlier": shown.found.earlier,
        "later": shown.found.later,
        "complete": shown.found.is_complete,
        "here": shown.here,
    }


def _action_object(action: ListedAction) -> object:
    found = msgspec.to_builtins(action)
    found["changes"] = found.pop("change_count")
    return found


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


RENDERERS = (
    renders(ActionsShown, actions_text, _actions_object),
    renders(PipelineShown, pipeline_text),
)
