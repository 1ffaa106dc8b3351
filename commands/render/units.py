"""The text of actions, the stack and IR units."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import fitted, wrapped
from actiondbg.protocol import Action, ActionRef, Cursor, Frame, Unit
from actiondbg.protocol.tags import PASS_TAG


class Backtrace(msgspec.Struct):
    """The stack of actions, innermost first, and the index of the selected one."""

    frames: list[Frame]
    selected: int


class Units(msgspec.Struct):
    """A list of IR units, numbered from 0 for cursor-select-from-context and others."""

    units: list[Unit]


class CursorPlace(msgspec.Struct):
    """The place of the cursor; docs/protocol.md describes its ``path``."""

    cursor: Cursor


_NO_COLOR_KINDS = ("block", "region")  # their text is not IR


def describe(action: ActionRef, argv: Sequence[str] = ()) -> str:
    """Return an action as one line, with its place in short; a nameless one with its operation."""
    return action.title + place_of(action, argv)


def place_of(action: ActionRef, argv: Sequence[str] = ()) -> str:
    """Return the function and the location of an action's operation, each after a word."""
    function = f" in @{action.function.removeprefix('@')}" if action.function else ""
    return function + place_words(action.location, argv)


def place_words(location: str | None, argv: Sequence[str], before: str = " ") -> str:
    """Return `` at FILE:LINE:COL``, with the location in short; nothing for an unknown one."""
    if not location or location.endswith(":0:0"):
        return ""
    return f"{before}at {short_place(location, argv)}"


def short_place(location: str, argv: Sequence[str]) -> str:
    """Return a location without the directory of its file, if that is the tool's only input."""
    file = re.sub(r"(:\d+)*$", "", location)
    inputs = [word for option, word in pairwise(argv) if option != "-o" and os.path.isfile(word)]
    return os.path.basename(file) + location[len(file) :] if inputs == [file] else location


def path_from_here(path: str) -> str:
    """Return a path relative to the working directory, if it is below."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def operation(id: int | None, name: str | None) -> str:
    """Return an operation, such as ``@12 arith.addi``; unknown parts are omitted."""
    number = f"@{id}" if id is not None else ""
    return f"{number} {name or ''}".strip() or "an operation"


def rows(facts: Mapping[str, object]) -> list[str]:
    """Return aligned lines of names and values; None values are omitted."""
    width = max((len(name) for name in facts), default=0)
    return [
        f"{name:<{width}}  {_value(value)}" for name, value in facts.items() if value is not None
    ]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def unit_text(context: RenderContext, unit: Unit) -> str:
    place = place_words(unit.location, context.session.target.argv, "  ")
    lines = (unit.text or unit.name or "").strip().splitlines() or [""]
    number = f" @{unit.id}" if unit.id is not None and unit.kind == "operation" else ""
    if unit.state == "alive" and unit.kind in _NO_COLOR_KINDS:
        return f"{lines[0]}{place}"
    state = "" if unit.state == "alive" else f", {unit.state}"
    dots = " ..." if len(lines) > 1 else ""
    return f"{unit.kind}{number}{state}: {context.paint(lines[0])}{dots}{place}"


def units_text(context: RenderContext, units: Units) -> str:
    if not units.units:
        return "There are no IR units."
    return "\n".join(f"{i}: {unit_text(context, unit)}" for i, unit in enumerate(units.units))


def backtrace_text(context: RenderContext, stack: Backtrace) -> str:
    if not stack.frames:
        return "No action is running."
    marks = ("->" if frame.index == stack.selected else "  " for frame in stack.frames)
    in_pass = next((frame for frame in stack.frames if is_run_of_pass(frame)), None)
    return "\n".join(
        f"{mark} {frame.index}  {_frame_line(context, frame, frame is in_pass)}"
        for mark, frame in zip(marks, stack.frames, strict=True)
    )


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
    pass_run = context.session.stop.pass_run if context.session.stop is not None else None
    is_pass = is_run_of_pass(frame) and pass_run is not None and frame.name == pass_run.name
    lines = [f"{frame.index}  {_frame_line(context, frame, is_pass)}"]
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


def place_text(context: RenderContext, shown: CursorPlace) -> str:
    place = shown.cursor
    kinds = ("region", "block", "operation")
    steps = [f"{kinds[i % 3]} {number}" for i, number in enumerate(place.path)]
    where = [f"@{place.function.removeprefix('@')}"] if place.function else []
    if steps or not where:  # a recording has no path
        where.append(" > ".join(steps) or "the outermost operation")
    return f"{': '.join(where)}\n{unit_text(context, place.unit)}"


def _place_object(shown: CursorPlace) -> object:
    cursor = shown.cursor
    unit = msgspec.to_builtins(cursor.unit)
    id = unit.pop("id", None)
    return {**unit, "function": cursor.function, "path": cursor.path, "id": id}


def cursor_text(context: RenderContext, cursor: Cursor) -> str:
    lines = context.stop_context.around_cursor(context)
    if lines is None:
        return fitted(unit_text(context, cursor.unit), context.width)
    unit = cursor.unit
    number = f" @{unit.id} {unit.name}" if unit.kind == "operation" else f" of {unit.name}"
    function = f" in @{cursor.function.removeprefix('@')}" if cursor.function else ""
    place = place_words(unit.location, context.session.target.argv)
    head = wrapped(f"{unit.kind}{number}{function}{place}", context.width or 80)
    return "\n".join([*head, *lines])


RENDERERS = (
    renders(Action, action_text),
    renders(Frame, frame_text),
    renders(Cursor, cursor_text, fits=True),
    renders(Backtrace, backtrace_text),
    renders(Units, units_text),
    renders(CursorPlace, place_text, _place_object),
)
