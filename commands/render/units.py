"""The text of IR units, of the cursor, and of places."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import fitted, wrapped
from actiondbg.protocol import Cursor, Unit
from actiondbg.support.source_file import known_place


class Units(msgspec.Struct):
    """A list of IR units, numbered from 0 for cursor-select-from-context and others."""

    units: list[Unit]


class CursorPlace(msgspec.Struct):
    """The place of the cursor; docs/protocol.md describes its ``path``."""

    cursor: Cursor


_NO_COLOR_KINDS = ("block", "region")  # their text is not IR


def place_words(location: str | None, argv: Sequence[str] = (), before: str = " ") -> str:
    """Return `` at FILE:LINE:COL``, in short with the tool's ``argv``; "" for an unknown one."""
    known = known_place(location)
    return "" if known is None else f"{before}at {short_place(known, argv)}"


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


def unit_text(context: RenderContext, unit: Unit) -> str:
    place = place_words(unit.location, context.session.target.argv, "  ")
    lines = (unit.text or unit.name or "").strip().splitlines() or [""]
    number = f" @{unit.id}" if unit.id is not None and unit.kind == "operation" else ""
    if unit.state == "alive" and unit.kind in _NO_COLOR_KINDS:
        return f"{lines[0]}{place}"
    state = "" if unit.state == "alive" else f", {unit.state}"
    dots = " ..." if len(lines) > 1 else ""
    return f"{unit.kind}{number}{state}: {context.ir_view.shown(lines[0])}{dots}{place}"


def units_text(context: RenderContext, units: Units) -> str:
    if not units.units:
        return "There are no IR units."
    return "\n".join(f"{i}: {unit_text(context, unit)}" for i, unit in enumerate(units.units))


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
    lines = context.stop_context.around_cursor()
    if lines is None:
        return fitted(unit_text(context, cursor.unit), context.width)
    unit = cursor.unit
    number = f" @{unit.id} {unit.name}" if unit.kind == "operation" else f" of {unit.name}"
    function = f" in @{cursor.function.removeprefix('@')}" if cursor.function else ""
    place = place_words(unit.location, context.session.target.argv)
    head = wrapped(f"{unit.kind}{number}{function}{place}", context.width or 80)
    return "\n".join([*head, *lines])


renders(Cursor, cursor_text, fits=True)
renders(Units, units_text)
renders(CursorPlace, place_text, _place_object)
