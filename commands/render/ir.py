"""The IR at a stop: printed, and as lines around a place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TextIO, cast

import msgspec

from actiondbg.commands.render.ir_text.ir_view import IRView
from actiondbg.commands.render.ir_text.lines import (
    definitions_text,
    excerpt_text,
    lines_text,
    names_text,
)
from actiondbg.commands.render.ir_text.marks import MarkedLine, key_of, mark_changes
from actiondbg.commands.render.renderer import RenderContext, page, renders, renders_by
from actiondbg.commands.render.terminal.output import Redirect, fills_screen
from actiondbg.commands.render.units import operation
from actiondbg.errors import ActiondbgError, NoSuchUnit
from actiondbg.ir.printed import PrintedText
from actiondbg.protocol import Excerpt, Line
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG

if TYPE_CHECKING:
    from actiondbg.process.stop import Stop
    from actiondbg.protocol import Change
    from actiondbg.recording.session.recorded_session import DebugSession

_MOST_CHANGES = 1000  # read to mark lines
_CONTAINERS = frozenset({"block", "region"})
_SMALL = frozenset({PATTERN_TAG, FOLD_TAG})  # actions on one operation, beside it
NOWHERE = -1  # no operation


class StopContext:
    """Shows the IR at each stop, compared with what was shown before.

    Attributes:
        in_pane: whether a pane of the full-screen view shows the IR instead.
    """

    def __init__(self, context: RenderContext) -> None:
        self._context = context
        self.in_pane = False
        self._shown: list[Line] = []
        self._current: tuple[object, ...] | None = None
        self._ordinal = 0  # of the action that the lines were shown before
        self._hints = set[str]()

    def new_hint(self, hint: str) -> list[str]:
        """Return a line that is shown once; none if it was shown before."""
        if hint in self._hints:
            return []
        self._hints.add(hint)
        return [hint]

    def text(self, stop: Stop) -> list[str]:
        """Return the lines around the cursor; none if they were shown last."""
        view = self._context.ir_view
        if not view.context or stop.when == "exit" or self.in_pane:
            return []
        changes = changes_at(self._context, stop)
        try:
            place = place_at(self._context, stop, changes)
            if place == NOWHERE:
                return []
            excerpt = view.excerpt(place, before=view.context, after=view.context, definitions=True)
        except ActiondbgError as error:  # such as an erased operation
            self._shown, self._current = [], None
            return [f"  {stop.op or 'operation'}: {error}"]
        is_at_cursor = place is None or (stop.cursor is not None and place == stop.cursor.id)
        return self._compared(stop, excerpt, changes, is_at_cursor=is_at_cursor)

    def around_cursor(self) -> list[str] | None:
        """Return the lines around the cursor, after a move; None where none are shown."""
        view = self._context.ir_view
        if not view.context or self.in_pane:
            return None
        try:
            excerpt = view.excerpt(before=view.context, after=view.context, definitions=True)
        except ActiondbgError:
            return None
        self._shown, self._current, self._ordinal = [], None, 0
        cursor = self._context.session.cursor.get().unit
        return [*hidden_lines(cursor.id, cursor.name, excerpt), *excerpt_text(view, excerpt)]

    def _compared(
        self, stop: Stop, excerpt: Excerpt, changes: list[Change], *, is_at_cursor: bool
    ) -> list[str]:
        view, before, was = self._context.ir_view, self._shown, self._current
        current = excerpt.lines[excerpt.current]
        self._shown, self._current = excerpt.lines, key_of(current)
        is_after = stop.when == "after"
        cursor = stop.cursor if is_at_cursor else None
        hidden = hidden_lines(cursor.id, cursor.op, excerpt) if cursor else []
        if before == excerpt.lines and was == self._current and not (is_after and changes):
            self._ordinal = stop.ordinal
            return hidden
        followed = is_after and self._ordinal == stop.ordinal
        self._ordinal = stop.ordinal if stop.when == "before" else 0
        if is_after:
            if not followed:
                before = _lines_before(view, stop, changes)
            marked = mark_changes(before, excerpt, changes)
        else:
            marked = [MarkedLine(line) for line in excerpt.lines]
        named = [each for each in marked if each.sign != " " or each.line is current]
        return [
            *hidden,
            *definitions_text(view, excerpt.definitions),
            *names_text(view, named),
            *lines_text(view, marked, current, "-->" if is_at_cursor else "  >"),
        ]


def changes_at(context: RenderContext, stop: Stop) -> list[Change]:
    """Return the changes of a stop, so many that the lines around the cursor can be marked."""
    if stop.when != "after" or stop.change_count <= len(stop.changes):
        return stop.changes
    return context.session.outcome.changes(limit=_MOST_CHANGES).changes


def place_at(context: RenderContext, stop: Stop, changes: list[Change]) -> int | None:
    """Return the operation around which a stop shows lines.

    Returns:
        None for the cursor; after an action on a function or a module the first operation that it
        changed, or NOWHERE.
    """
    if (
        stop.when != "after"
        or stop.tag == FOLD_TAG
        or (stop.cursor and stop.cursor.by == "failing")
    ):
        return None
    unit = context.session.cursor.get().unit
    if unit.kind not in _CONTAINERS and "{...}" not in (unit.text or ""):
        return None
    return _first_changed(changes)


def hidden_lines(id: int | None, name: str | None, excerpt: Excerpt) -> list[str]:
    """Return a line about a cursor on an operation that is not printed: the arrow is around it."""
    line = excerpt.lines[excerpt.current]
    if id is None or line.id in (id, None):
        return []
    return [f"  {operation(id, name)} is inside @{line.id}, whose form leaves it out."]


def _lines_before(view: IRView, stop: Stop, changes: list[Change]) -> list[Line]:
    """Return the lines before an action where lines are missing after it."""
    is_gone = any(change.kind in ("erased", "replaced") for change in changes)
    return view.lines_before(stop, view.context) if stop.tag in _SMALL and is_gone else []


def _first_changed(changes: list[Change]) -> int:
    """Return the first operation that was changed and exists; NOWHERE if there is none."""
    gone = {change.id for change in changes if change.kind in ("erased", "replaced")}
    for change in changes:
        if change.id is not None and change.id not in gone and change.what == "operation":
            return change.id
    for change in changes:
        for value in change.by or []:
            if value.id is not None and value.id not in gone:
                return value.id
    return NOWHERE


# --- lines around a place ---------------------------------------------------------


class Block(msgspec.Struct):
    """Consecutive lines of IR, the result of ``around`` and ``list PLACE``.

    Attributes:
        cursor: the operation id of the cursor, or None.
    """

    excerpt: Excerpt
    cursor: int | None = None


class ShownLines:
    """Shows lines around a place; asked for the same place again, those after them."""

    def __init__(self, session: DebugSession, view: IRView) -> None:
        self._session = session
        self._view = view
        self._last: Line | None = None
        self._asked: object = None

    def show(self, place: str, count: int) -> Block:
        """Return the lines around a place.

        Args:
            place: "cursor", or a place of ``Cursor.goto``.
            count: lines before it and after it.

        Raises:
            NoSuchUnit: there is no such place, or all lines up to the end have been shown.
        """
        cursor = self._session.cursor.get().unit.id
        stop = self._session.stop
        asked = (place, cursor, stop.event if stop else None)
        if asked != self._asked:
            excerpt = self._around(place, count)
        elif self._last is None or self._last.id is None:
            self._asked = None
            raise NoSuchUnit("All lines have been shown: the next command begins again.")
        else:
            excerpt = self._after(self._last, 2 * count)
        self._asked = asked
        self._last = excerpt.lines[-1] if excerpt.more_after else None
        return Block(excerpt, cursor)

    def _around(self, place: str, count: int) -> Excerpt:
        if place == "cursor":
            return self._view.excerpt(before=count, after=count)
        with self._session.cursor.at(place):
            return self._view.excerpt(before=count, after=count)

    def _after(self, last: Line, count: int) -> Excerpt:
        excerpt = self._view.excerpt(last.id, part=last.part, before=0, after=count)
        return msgspec.structs.replace(excerpt, lines=excerpt.lines[1:], current=-1)


def block_text(context: RenderContext, block: Block) -> str:
    excerpt, at = block.excerpt, block.excerpt.current
    is_cursor = at >= 0 and excerpt.lines[at].id == block.cursor
    arrow = "-->" if is_cursor else "  >"
    return "\n".join(excerpt_text(context.ir_view, excerpt, arrow))


# --- printed IR -------------------------------------------------------------------

_CHUNK = 1 << 16  # characters to colour at once
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # not splitlines, which splits at further characters
_LONGEST = 1 << 20  # characters to buffer of a line without end
_GUTTER = 4  # columns
_READ_WHOLE = 1 << 20  # bytes of IR to read for counting lines


class IRWriter:
    """A file-like object that writes IR with gutter and colours.

    Args:
        mark: first and last line of the cursor's operation, from 1; None: no gutter.
    """

    def __init__(self, out: TextIO, mark: tuple[int, int] | None, view: IRView) -> None:
        self._out = out
        self._mark = mark
        self._view = view
        self._line = 1
        self._at_start = True  # of a line
        self._parts: list[str] = []  # the buffered text of the incomplete line
        self._size = 0

    def write(self, text: str) -> int:
        """Write a chunk of IR, which may end within a line."""
        self._parts.append(text)
        self._size += len(text)
        if self._size >= _CHUNK:
            buffered = "".join(self._parts)
            cut = buffered.rfind("\n") + 1
            if not cut and self._size >= _LONGEST:
                cut = self._size
            self._flush(buffered[:cut], buffered[cut:])
        return len(text)

    def finish(self) -> None:
        """Write the buffered text, and end the last line."""
        self._flush("".join(self._parts), "")
        if not self._at_start:
            self._out.write("\n")

    def _flush(self, text: str, rest: str) -> None:
        self._parts = [rest]
        self._size = len(rest)
        if not text:
            return
        painted = self._view.shown(text)
        if self._mark is None:
            self._out.write(painted)
        else:
            self._write_lines(painted)
        self._at_start = text.endswith("\n")

    def _write_lines(self, text: str) -> None:
        for line in _LINE.findall(text):
            self._out.write((self._gutter() if self._at_start else "") + line)
            self._at_start = line.endswith("\n")
            self._line += self._at_start

    def _gutter(self) -> str:
        first, last = self._mark or (0, 0)
        if self._line == first:
            return "--> "
        return "  | " if first < self._line <= last else "    "


def _show_ir(context: RenderContext, result: object) -> None:
    """Write printed IR: plain into a file, else marked, coloured and paged."""
    with cast("PrintedText", result) as printed:
        if context.to_file:
            printed.copy_to(context.out)
            return

        def write(out: TextIO) -> None:
            writer = IRWriter(out, printed.mark, context.ir_view)
            printed.copy_to(cast("TextIO", writer))
            writer.finish()

        if context.pages and _is_long(printed):
            page(context, write, printed.mark[0] if printed.mark else None)
        else:
            write(context.out)


def _is_long(printed: PrintedText) -> bool:
    gutter = _GUTTER if printed.mark is not None else 0
    return printed.bytes > _READ_WHOLE or fills_screen(printed.text, gutter)


def _ir_object(result: object, redirect: Redirect | None) -> object:
    printed = cast("PrintedText", result)
    if redirect is not None:  # redirected IR is not repeated
        operator, target = redirect.operator, redirect.target
        return {"target": target, "operator": operator, "bytes": printed.bytes}
    return {"text": printed.text, "generic": printed.generic}


class Counted(msgspec.Struct):
    """The number of operations of a name, in the module or in the function of the cursor."""

    glob: str
    function: bool
    count: int


def count_text(_: RenderContext, counted: Counted) -> str:
    where = "the function of the cursor" if counted.function else "the module"
    return f"{counted.count} {counted.glob} in {where}"


renders_by(PrintedText, _show_ir, _ir_object)
renders(Counted, count_text)
renders(Block, block_text, fits=True)
