"""Show results: as text for people, as plain objects for JSON."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec

from actiondbg.breakpoints import Breakpoint
from actiondbg.commands import results
from actiondbg.commands.front import piped
from actiondbg.commands.irtext import IRWriter
from actiondbg.commands.words import Redirect
from actiondbg.errors import ActiondbgError
from actiondbg.printed import PrintedText
from actiondbg.protocol import Action, Cursor, Frame, Unit
from actiondbg.stop import Stop

if TYPE_CHECKING:
    from actiondbg.commands.front import Front

# Exactly these, whatever the API tells beside: scripts rely on it.
_STOP_KEYS = (
    *("when", "reason", "ordinal", "tag", "name", "op", "location", "function", "depth"),
    *("breakpoints", "status"),
)
PAGER = "less -R -F -X"
_READ_WHOLE = 1 << 20  # bytes of IR up to which it is read to count its lines


def as_json(result: Any, redirect: Redirect | None) -> Any:
    """Return a result as JSON has it: the keys that docs/commands.md documents.

    Args:
        result: what a command returned.
        redirect: where its text has gone; IR is not repeated then.
    """
    if isinstance(result, Stop):
        stop = result.as_json()
        return {key: stop[key] for key in _STOP_KEYS if key in stop}
    if isinstance(result, PrintedText):
        return _ir_as_json(result, redirect)
    if isinstance(result, Breakpoint):
        return _breakpoint_as_json(result)
    if isinstance(result, results.Breakpoints):
        return {"breakpoints": [_breakpoint_as_json(each) for each in result.breakpoints]}
    if isinstance(result, results.Facts):
        return result.facts
    return msgspec.to_builtins(result)


def _breakpoint_as_json(breakpoint: Breakpoint) -> dict[str, Any]:
    public = (field.name for field in fields(breakpoint) if not field.name.startswith("_"))
    return {name: getattr(breakpoint, name) for name in public}


def _ir_as_json(printed: PrintedText, redirect: Redirect | None) -> Any:
    if redirect is not None:
        written = results.Written(redirect.target, redirect.operator, printed.bytes)
        return msgspec.to_builtins(written)
    with printed:
        return msgspec.to_builtins(results.Printed(printed.text, printed.generic))


def show(front: Front, result: Any) -> None:
    """Write a result for people to the front's ``out``."""
    if isinstance(result, PrintedText):
        _show_ir(front, result)
        return
    for kind, text_of in _TEXTS.items():
        if isinstance(result, kind):
            write_paged(front, text_of(front, result))
            return
    if result is not None:
        raise TypeError(f"no text is known for {type(result).__name__}")


def write_paged(front: Front, text: str) -> None:
    """Write lines; through the pager where they do not fit the terminal."""
    if not text:
        return
    text = text if text.endswith("\n") else text + "\n"
    if front.pages and text.count("\n") >= shutil.get_terminal_size().lines:
        _page(front, lambda out: out.write(text))
    else:
        front.out.write(text)


def _page(front: Front, write: Callable[[TextIO], Any]) -> None:
    front.out.flush()
    with piped(os.environ.get("PAGER") or PAGER) as pager:
        write(pager)


# --- IR ----------------------------------------------------------------------


def _show_ir(front: Front, printed: PrintedText) -> None:
    """Write printed IR: whole and plain into a file, else marked, coloured and paged."""
    with printed:
        if front.redirected:
            printed.copy_to(front.out)
            return
        style = front.settings["style"] if front.colored else None

        def write(out: TextIO) -> None:
            writer = IRWriter(out, printed.mark, style)
            printed.copy_to(cast("TextIO", writer))
            writer.finish()

        if front.pages and _is_long(printed):
            _page(front, write)
        else:
            write(front.out)


def _is_long(printed: PrintedText) -> bool:
    rows = shutil.get_terminal_size().lines
    return printed.bytes > _READ_WHOLE or printed.text.count("\n") >= rows


# --- stops -------------------------------------------------------------------


def _stop_text(front: Front, stop: Stop) -> str:
    if stop.when == "exit":
        return stop.message or f"The tool exited with status {stop.status}."
    head = f"{_reason(stop)} {stop.when} {_what(stop)}"
    head += ", which was skipped" if stop.skipped else ""
    if not front.settings.on("print-stop"):
        return head
    return f"{head}\n{_operation_line(front, stop)}".rstrip()


def _reason(stop: Stop) -> str:
    if stop.reason == "interrupt":
        return "Interrupted, stopped"
    if not stop.breakpoints:
        return "Stopped"
    numbers = ", ".join(str(number) for number in stop.breakpoints)
    return f"Breakpoint{'s' if len(stop.breakpoints) > 1 else ''} {numbers}, stopped"


def _what(action: Stop | Frame) -> str:
    """Describe an action in one line; a nameless one by its operation."""
    name = action.name or (f"on {action.op}" if action.op else "nameless")
    text = f"#{action.ordinal} {action.tag} ({name})"
    if action.function:
        text += f" in @{action.function.removeprefix('@')}"
    return text + (f" at {action.location}" if action.location else "")


def _operation_line(front: Front, stop: Stop) -> str:
    """Return the cursor's operation in one line, without its regions."""
    limit = front.settings["elide"]
    elide = int(limit) if limit != "off" else None
    try:
        with front.session.print("cursor", skip_regions=True, elide=elide) as printed:
            text = printed.text.strip()
    except ActiondbgError as error:  # such as an operation that the action erased
        return f"  {stop.op or 'operation'}: {error}"
    first, newline, _ = text.partition("\n")
    return "  " + front.paint(first) + (" ..." if newline else "")


# --- other results -----------------------------------------------------------


def _unit_text(front: Front, unit: Unit) -> str:
    place = f"  at {unit.location}" if unit.location else ""
    lines = (unit.text or unit.name or "").strip().splitlines() or [""]
    if unit.state == "alive" and unit.kind in ("block", "region"):
        return f"{lines[0]}{place}"  # it is words, no IR
    head = unit.kind if unit.state == "alive" else f"{unit.kind}, {unit.state}"
    return f"{head}: {front.paint(lines[0])}{' ...' if len(lines) > 1 else ''}{place}"


def _units_text(front: Front, units: results.Units) -> str:
    if not units.units:
        return "There are none."
    return "\n".join(f"{i}: {_unit_text(front, unit)}" for i, unit in enumerate(units.units))


def _backtrace_text(_: Front, stack: results.Backtrace) -> str:
    if not stack.frames:
        return "No action is running."
    marks = ("->" if frame.index == stack.selected else "  " for frame in stack.frames)
    return "\n".join(
        f"{mark} {frame.index}  {_what(frame)}"
        for mark, frame in zip(marks, stack.frames, strict=True)
    )


def _frame_text(front: Front, frame: Frame) -> str:
    lines = [f"{frame.index}  {_what(frame)}"]
    lines += ["   " + _unit_text(front, unit) for unit in frame.units]
    return "\n".join(lines)


def _action_text(front: Front, action: Action) -> str:
    rows = {
        "action": f"#{action.ordinal}, {action.when} it",
        "tag": action.tag,
        "name": action.full_name or action.name or "(none)",
        "labels": ", ".join(action.labels) or None,
        "iteration": action.iteration,
        "depth": action.depth,
        "operation": action.op,
        "function": action.function,
        "location": action.full_location or action.location,
        "text": action.text,
    }
    units = [_unit_text(front, unit) for unit in action.units]
    return "\n".join([*_rows(rows), *(f"unit {i}: {text}" for i, text in enumerate(units))])


def _rows(facts: dict[str, Any]) -> list[str]:
    width = max((len(name) for name in facts), default=0)
    return [
        f"{name:<{width}}  {_value(value)}" for name, value in facts.items() if value is not None
    ]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _place_text(front: Front, place: results.CursorPlace) -> str:
    kinds = ("region", "block", "operation")
    steps = [f"{kinds[i % 3]} {number}" for i, number in enumerate(place.path)]
    root = f"@{place.function.removeprefix('@')}: " if place.function else ""
    unit = Unit(
        kind=place.kind,  # pyright: ignore[reportArgumentType] # it was a Unit's
        name=place.name,
        state=place.state,  # pyright: ignore[reportArgumentType]
        text=place.text,
        location=place.location,
    )
    return f"{root}{' > '.join(steps) or 'the outermost operation'}\n{_unit_text(front, unit)}"


def _cursor_text(front: Front, cursor: Cursor) -> str:
    return _unit_text(front, cursor.unit)


def _breakpoint_text(_: Front, breakpoint: Breakpoint) -> str:
    kind = "Temporary breakpoint" if breakpoint.temporary else "Breakpoint"
    return f"{kind} {breakpoint.id}: {_break_words(breakpoint)}"


def _break_words(breakpoint: Breakpoint) -> str:
    words = (
        f"{breakpoint.spec} if {breakpoint.condition}"
        if breakpoint.condition
        else (breakpoint.spec)
    )
    return words + (", after the action" if breakpoint.after else "")


def _breakpoints_text(_: Front, listed: results.Breakpoints) -> str:
    if not listed.breakpoints:
        return "There are no breakpoints."
    lines = ["id   enabled  hits    what"]
    for each in listed.breakpoints:
        temporary = ", once" if each.temporary else ""
        ignore = f", ignored {each.ignore} times more" if each.ignore else ""
        enabled = "yes" if each.enabled else "no"
        what = f"{_break_words(each)}{temporary}{ignore}"
        lines.append(f"{each.id:<4} {enabled:<8} {each.hits:<7} {what}")
        lines += [f"{'':<22}{line}" for line in each.commands]
    return "\n".join(lines)


def _text(_: Front, text: results.Text) -> str:
    return text.text


def _settings_text(_: Front, shown: results.SettingsShown) -> str:
    return "\n".join(_rows(shown.settings))


def _facts_text(_: Front, facts: results.Facts) -> str:
    return "\n".join(_rows(facts.facts))


_TEXTS: dict[type[Any], Callable[[Front, Any], str]] = {
    Stop: _stop_text,
    Action: _action_text,  # before Frame, which it extends
    Frame: _frame_text,
    Cursor: _cursor_text,
    Breakpoint: _breakpoint_text,
    results.Text: _text,
    results.Backtrace: _backtrace_text,
    results.Units: _units_text,
    results.Breakpoints: _breakpoints_text,
    results.SettingsShown: _settings_text,
    results.Facts: _facts_text,
    results.CursorPlace: _place_text,
}
