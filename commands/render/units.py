"""The text of actions, of the stack of them, and of IR units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actiondbg.commands.render import results
from actiondbg.protocol import Action, Cursor, Frame, Unit

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front
    from actiondbg.process.checkpoints import Checkpoint
    from actiondbg.process.stop import Stop

_NO_COLOR_KINDS = ("block", "region")  # their text is words, no IR


def describe(action: Stop | Frame | Checkpoint) -> str:
    """Describe an action in one line; a nameless one by its operation."""
    name = action.name or (f"on {action.op}" if action.op else "nameless")
    text = f"#{action.ordinal} {action.tag} ({name})"
    if action.function:
        text += f" in @{action.function.removeprefix('@')}"
    return text + (f" at {action.location}" if action.location else "")


def operation(id: int | None, name: str | None) -> str:
    """Return ``@12 arith.addi``, or as much of it as is known."""
    number = f"@{id}" if id is not None else ""
    return f"{number} {name or ''}".strip() or "an operation"


def rows(facts: dict[str, Any]) -> list[str]:
    """Return aligned lines of a name and a value; None values are left out."""
    width = max((len(name) for name in facts), default=0)
    return [
        f"{name:<{width}}  {_value(value)}" for name, value in facts.items() if value is not None
    ]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def unit_text(front: Front, unit: Unit) -> str:
    """Return an IR unit in one line."""
    place = f"  at {unit.location}" if unit.location else ""
    lines = (unit.text or unit.name or "").strip().splitlines() or [""]
    number = f" @{unit.id}" if unit.id is not None and unit.kind == "operation" else ""
    if unit.state == "alive" and unit.kind in _NO_COLOR_KINDS:
        return f"{lines[0]}{place}"
    state = "" if unit.state == "alive" else f", {unit.state}"
    dots = " ..." if len(lines) > 1 else ""
    return f"{unit.kind}{number}{state}: {front.paint(lines[0])}{dots}{place}"


def units_text(front: Front, units: results.Units) -> str:
    if not units.units:
        return "There are none."
    return "\n".join(f"{i}: {unit_text(front, unit)}" for i, unit in enumerate(units.units))


def backtrace_text(_: Front, stack: results.Backtrace) -> str:
    if not stack.frames:
        return "No action is running."
    marks = ("->" if frame.index == stack.selected else "  " for frame in stack.frames)
    return "\n".join(
        f"{mark} {frame.index}  {_frame_line(frame)}"
        for mark, frame in zip(marks, stack.frames, strict=True)
    )


def _frame_line(frame: Frame) -> str:
    return describe(frame) + (f" on @{frame.id}" if frame.id is not None else "")


def frame_text(front: Front, frame: Frame) -> str:
    lines = [f"{frame.index}  {_frame_line(frame)}"]
    lines += ["   " + unit_text(front, unit) for unit in frame.units]
    return "\n".join(lines)


def action_text(front: Front, action: Action) -> str:
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
    units = [unit_text(front, unit) for unit in action.units]
    return "\n".join([*rows(facts), *(f"unit {i}: {text}" for i, text in enumerate(units))])


def place_text(front: Front, place: results.CursorPlace) -> str:
    kinds = ("region", "block", "operation")
    steps = [f"{kinds[i % 3]} {number}" for i, number in enumerate(place.path)]
    where = [f"@{place.function.removeprefix('@')}"] if place.function else []
    if steps or not where:  # in a recording it is not known which steps lead there
        where.append(" > ".join(steps) or "the outermost operation")
    unit = Unit(
        kind=place.kind,  # pyright: ignore[reportArgumentType] # it was a Unit's
        name=place.name,
        state=place.state,  # pyright: ignore[reportArgumentType]
        text=place.text,
        location=place.location,
        id=place.id,
    )
    return f"{': '.join(where)}\n{unit_text(front, unit)}"


def cursor_text(front: Front, cursor: Cursor) -> str:
    return unit_text(front, cursor.unit)
