"""The text of actions: one, the stack, lists, and the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from actiondbg.analysis.actions import ActionList, ListedAction
from actiondbg.analysis.pipeline import PipelinePass, is_adaptor
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import rows
from actiondbg.commands.render.units import operation, place_words, unit_text
from actiondbg.protocol import Action, ActionRef, Frame
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.support.counts import counted


class Backtrace(msgspec.Struct):
    """The stack of actions, innermost first, and the index of the selected one."""

    frames: list[Frame]
    selected: int


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


def describe(action: ActionRef, argv: Sequence[str] = ()) -> str:
    """Return an action as one line, with its place in short; a nameless one with its operation."""
    return action.title + action_place_words(action, argv)


def action_place_words(action: ActionRef, argv: Sequence[str] = ()) -> str:
    """Return the function and the location of an action's operation, each after a word."""
    function = f" in @{action.function.removeprefix('@')}" if action.function else ""
    return function + place_words(action.location, argv)


def backtrace_text(context: RenderContext, stack: Backtrace) -> str:
    if not stack.frames:
        return "No action is running."
    marks = ("->" if frame.index == stack.selected else "  " for frame in stack.frames)
    in_pass = _innermost_pass(stack.frames)
    return "\n".join(
        f"{mark} {frame.index}  {_frame_line(context, frame, frame.index == in_pass)}"
        for mark, frame in zip(marks, stack.frames, strict=True)
    )


def _innermost_pass(frames: Sequence[Frame]) -> int | None:
    """Return the index of the frame of the innermost pass, whose run the stop has."""
    return next((frame.index for frame in frames if is_run_of_pass(frame)), None)


def is_run_of_pass(action: ActionRef) -> bool:
    """Return whether an action is a run of a pass that is no adaptor."""
    return action.tag == PASS_TAG and not is_adaptor(action.name)


def _frame_line(context: RenderContext, frame: Frame, is_innermost_pass: bool) -> str:
    line = describe(frame, context.session.target.argv)
    stop = context.session.stop
    if is_innermost_pass and stop is not None and stop.pass_run is not None:
        line = line.replace(f"({frame.name})", f"({stop.pass_run})", 1)
    return line + (f" on @{frame.id}" if frame.id is not None else "")


def frame_text(context: RenderContext, frame: Frame) -> str:
    in_pass = _innermost_pass(context.session.stack.frames(units=False))
    lines = [f"{frame.index}  {_frame_line(context, frame, frame.index == in_pass)}"]
    lines += ["   " + unit_text(context, unit) for unit in frame.units]
    return "\n".join(lines)


def action_text(context: RenderContext, action: Action) -> str:
    facts = {
        "action": f"#{action.ordinal}, {'inside' if action.when == 'during' else action.when} it",
        "tag": action.tag,
        "name": action.full_name or action.name or "(none)",
        "labels": ", ".join(action.labels) or None,
        "iteration": action.iteration,
        "depth": action.depth,
        "operation": operation(action.id, action.op) if action.op else None,
        "function": action.function,
        "location": action.full_location or action.location,
        "text": action.text or None,
    }
    units = [unit_text(context, unit) for unit in action.units]
    return "\n".join([*rows(facts), *(f"unit {i}: {text}" for i, text in enumerate(units))])


# --- lists of actions -------------------------------------------------------------


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


renders(Action, action_text)
renders(Frame, frame_text)
renders(Backtrace, backtrace_text)
renders(ActionsShown, actions_text, _actions_object)
renders(PipelineShown, pipeline_text)
