"""The IR around the cursor, which a stop shows on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from actiondbg.commands.render.ir.excerpt import (
    MarkedLine,
    compare,
    definitions_text,
    excerpt_text,
    key_of,
    lines_text,
    names_text,
    style_of,
)
from actiondbg.commands.render.units import operation
from actiondbg.errors import ActiondbgError
from actiondbg.ir.tokens import STRING
from actiondbg.protocol import GetExcerpt
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG

if TYPE_CHECKING:
    from actiondbg.commands.render.renderer import RenderContext
    from actiondbg.process.stop import Stop
    from actiondbg.protocol import Change, Excerpt, Line
    from actiondbg.session.debug_session import DebugSession

_MOST_CHANGES = 1000  # read to mark lines
_MOST_ERASED = 6  # lines that are gone, shown among those that are there
_CONTAINERS = frozenset({"block", "region"})
_SMALL = frozenset({PATTERN_TAG, FOLD_TAG})  # actions on one operation, beside it
NOWHERE = -1  # no operation
# `affine_map<`, or an attribute of a dialect, such as `#ttg.blocked<`.
_BEGIN = re.compile(r"affine_(?P<affine>map|set)<|(?<![\w.])#\w+\.(?P<attribute>[\w.]+)<")
_NAME = re.compile(rf"{STRING}|(#\w+)(?![\w.<])")
_LEAST = 24  # characters of an attribute that is given a name


class StopContext:
    """Shows the IR at each stop, compared with what was shown before.

    Attributes:
        in_pane: whether a pane of the full-screen view shows the IR instead.
    """

    def __init__(self) -> None:
        self.aliases = ShortNames()
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

    def text(self, context: RenderContext, stop: Stop) -> list[str]:
        """Return the lines around the cursor; none if they were shown last."""
        count = int(context.settings["context"])
        width = context.width
        if not count or width is None or stop.when == "exit" or self.in_pane:
            return []
        changes = changes_at(context, stop)
        try:
            place = place_at(context, stop, changes)
            if place == NOWHERE:
                return []
            excerpt = read_excerpt(context, place, count)
        except ActiondbgError as error:  # such as an erased operation
            self._shown, self._current = [], None
            return [f"  {stop.op or 'operation'}: {error}"]
        is_at_cursor = place is None or (stop.cursor is not None and place == stop.cursor.id)
        return self._compared(context, stop, excerpt, changes, is_at_cursor=is_at_cursor)

    def around_cursor(self, context: RenderContext) -> list[str] | None:
        """Return the lines around the cursor, after a move; None where none are shown."""
        count, width = int(context.settings["context"]), context.width
        if not count or width is None or self.in_pane:
            return None
        try:
            excerpt = read_excerpt(context, None, count)
        except ActiondbgError:
            return None
        self._shown, self._current, self._ordinal = [], None, 0
        cursor = context.session.cursor.get().unit
        return [
            *hidden_lines(cursor.id, cursor.name, excerpt),
            *excerpt_text(excerpt, style_of(context)),
        ]

    def _compared(
        self,
        context: RenderContext,
        stop: Stop,
        excerpt: Excerpt,
        changes: list[Change],
        *,
        is_at_cursor: bool,
    ) -> list[str]:
        before, was = self._shown, self._current
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
                before = _lines_before(context, stop, changes)
            marked = mark_changes(before, excerpt, changes)
        else:
            marked = [MarkedLine(line) for line in excerpt.lines]
        style = style_of(context)
        return [
            *hidden,
            *definitions_text(excerpt.definitions, style),
            *names_text(
                [each for each in marked if each.sign != " " or each.line is current], style
            ),
            *lines_text(marked, current, style, "-->" if is_at_cursor else "  >"),
        ]


def read_excerpt(context: RenderContext, place: int | None, count: int) -> Excerpt:
    """Return lines around an operation, by default the cursor, as the settings ask for them."""
    return context.session.ir.excerpt(
        place,
        before=count,
        after=count,
        elide=context.settings.limit("elide"),
        definitions=context.settings.on("context-defs"),
    )


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


def _lines_before(context: RenderContext, stop: Stop, changes: list[Change]) -> list[Line]:
    """Return the lines before an action where lines are missing after it."""
    is_gone = any(change.kind in ("erased", "replaced") for change in changes)
    if stop.tag not in _SMALL or not is_gone:
        return []
    count, elide = int(context.settings["context"]), context.settings.limit("elide")
    return lines_before(context.session, stop, count, elide)


def lines_before(session: DebugSession, stop: Stop, count: int, elide: int | None) -> list[Line]:
    """Return the lines around the operation of an action as they were before it.

    There are none in a recording, or of a tool that is not replayed.
    """
    if stop.id is None:
        return []
    message = GetExcerpt(id=stop.id, before=count, after=count)
    if elide is not None:
        message.elide = elide
    try:
        return session.past.excerpt_before(stop, message).lines
    except ActiondbgError:
        return []


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


def mark_changes(
    before: Sequence[Line], excerpt: Excerpt, changes: Sequence[Change]
) -> list[MarkedLine]:
    """Return lines marked with the changes of an action, and the first lines that it erased.

    There are no lines ``before`` it if others were shown then.
    """
    marked = mark_all_changes(before, excerpt, changes)
    current = excerpt.lines[excerpt.current]
    return _shorten(marked, current, len(excerpt.lines) + 2)


def mark_all_changes(
    before: Sequence[Line], excerpt: Excerpt, changes: Sequence[Change]
) -> list[MarkedLine]:
    """Return lines marked as by ``mark_changes``, and all lines that the action erased."""
    inserted = {change.id for change in changes if change.kind == "inserted"}
    erased = {change.id for change in changes if change.kind in ("erased", "replaced")}
    modified = {change.id for change in changes if change.kind == "modified"}
    marked = compare(
        before,
        excerpt.lines,
        {id for id in inserted - erased if id is not None},
        {id for id in erased if id is not None},
    )
    # The old text of an operation that was modified may be unknown.
    return [
        MarkedLine(each.line, "~", each.line.text)
        if each.sign == " " and each.line.kind == "operation" and each.line.id in modified
        else each
        for each in marked
    ]


def _shorten(marked: list[MarkedLine], current: Line, most: int) -> list[MarkedLine]:
    """Leave out all but the first erased lines, and then lines at the ends."""
    erased = [at for at, each in enumerate(marked) if each.sign == "-"]
    hidden = set(erased[_MOST_ERASED:])
    kept = [each for at, each in enumerate(marked) if at not in hidden]
    while len(kept) > most:
        above = next((at for at, each in enumerate(kept) if each.line is current), 0)
        if kept[0].sign == " " and above and (kept[-1].sign != " " or 2 * above >= len(kept)):
            kept.pop(0)
        else:
            kept.pop()
    return kept


class ShortNames:
    """Short names of affine maps, affine sets and long attributes of dialects.

    They are numbered in the order in which they were first shown, and stay the same from stop to
    stop; MLIR's printer numbers them anew in each module that it prints. An attribute around others
    keeps its own text: ``#ttg.slice<{dim = 1, parent = #blocked}>``.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._undefined: dict[str, str] = {}

    def shorten(self, text: str) -> str:
        """Return a line of IR with short names."""
        return "".join(self._parts(text))

    def new_in(self, text: str) -> list[tuple[str, str]]:
        """Return the names in a line with what they stand for, each of them once for all calls."""
        names = _names_in(self.shorten(text))
        return [(name, self._undefined.pop(name)) for name in names if name in self._undefined]

    def _parts(self, text: str) -> Iterator[str]:
        end = 0
        for match in _BEGIN.finditer(text):
            close = _end_of_brackets(text, match.end())
            if match.start() < end or close is None or _is_in_string(text, end, match.start()):
                continue
            yield text[end : match.start()]
            yield self._short(text[match.start() : close], match)
            end = close
        yield text[end:]

    def _short(self, text: str, match: re.Match[str]) -> str:
        attribute = match["attribute"]
        if attribute is None:
            return self._name(text, match["affine"])
        inner = self.shorten(text[len(match[0]) :])
        if not _names_in(inner) and _BEGIN.search(inner) is None and len(text) >= _LEAST:
            return self._name(text, attribute.replace(".", "_"))
        return match[0] + inner

    def _name(self, text: str, stem: str) -> str:
        if text not in self._names:
            count = self._counts.get(stem, 0)
            self._counts[stem] = count + 1
            name = f"#{stem}{count or ''}"
            self._names[text] = name
            self._undefined[name] = text
        return self._names[text]


def _names_in(text: str) -> list[str]:
    """Return the short names in a line, but not those in strings."""
    return list(dict.fromkeys(match[1] for match in _NAME.finditer(text) if match[1]))


def _end_of_brackets(text: str, start: int) -> int | None:
    """Return the place after the bracket that closes the one before ``start``, or None."""
    depth = 1
    at = start
    while at < len(text):
        if text[at] == '"':
            at = _end_of_string(text, at)
            continue
        if text[at] == "<":
            depth += 1
        elif text[at] == ">" and text[at - 1] != "-" and text[at + 1 : at + 2] != "=":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return None


def _end_of_string(text: str, start: int) -> int:
    at = start + 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _is_in_string(text: str, start: int, place: int) -> bool:
    """Whether a place is in a string, where the text from ``start`` on begins outside of one."""
    while (start := text.find('"', start, place)) >= 0:
        if (start := _end_of_string(text, start)) > place:
            return True
    return False
