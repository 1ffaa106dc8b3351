"""Lines of IR around a place, with the ids of operations, marks of changes and short names."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from actiondbg.commands.render.ir_text.ir_view import IRView
from actiondbg.commands.render.ir_text.marks import MarkedLine, Sign, compare_words
from actiondbg.commands.render.terminal.output import BOLD, DIM, GREEN, RED, YELLOW, emphasize

if TYPE_CHECKING:
    from actiondbg.protocol import Excerpt, Line

_INDENT = "  "
_MOST_INDENT = 24  # columns, so that deeply nested IR stays in view
_CHANGED = f"{BOLD};{YELLOW}"


def lines_text(
    view: IRView, lines: Sequence[MarkedLine], current: Line | None, arrow: str = "-->"
) -> list[str]:
    """Return a line of text for each line of IR: arrow, sign, id, text cut to the width."""
    ids = [f"@{each.line.id}" if each.line.id is not None else "" for each in lines]
    gutter = max((len(one) for one in ids), default=0)
    least = min((each.line.depth for each in lines), default=0)
    columns = view.columns  # of all lines, also if the terminal is resized meanwhile
    texts: list[str] = []
    for each, id in zip(lines, ids, strict=True):
        is_current = each.line is current
        number = id if each.line.kind == "operation" else ""
        depth = min((each.line.depth - least) * len(_INDENT), _MOST_INDENT)
        for row, text in enumerate(each.line.text.split("\n")):
            start = arrow if is_current and not row else "   "
            head = f"{start}{each.sign} {number if not row else '':>{gutter}} "
            body = _body(view, each, text, columns - len(head) - depth)
            texts.append(f"{_head(view, head, each.sign, is_current)}{' ' * depth}{body}")
    return texts


def excerpt_text(view: IRView, excerpt: Excerpt, arrow: str = "-->") -> list[str]:
    """Return the lines of an excerpt as text, its definitions first; see ``lines_text``."""
    lines = [MarkedLine(line) for line in excerpt.lines]
    current = excerpt.lines[excerpt.current] if excerpt.current >= 0 else None
    return [
        *definitions_text(view, excerpt.definitions),
        *names_text(view, lines),
        *lines_text(view, lines, current, arrow),
    ]


def definitions_text(view: IRView, definitions: Sequence[Line]) -> list[str]:
    texts: list[str] = []
    for line in definitions:
        text = view.short_names.shorten(line.text.split("\n")[0])
        head = f"     @{line.id} "
        texts.append(emphasize(view, head + view.fit(text, view.columns - len(head)), DIM))
    return texts


def names_text(view: IRView, lines: Sequence[MarkedLine]) -> list[str]:
    """Return what short names in lines stand for; a name is explained once."""
    new = [name for each in lines for name in view.short_names.new_in(each.line.text)]
    indent = " " * 5
    texts: list[str] = []
    for name, text in new:
        rows = textwrap.wrap(
            f"{name} = {view.fit(text)}",
            view.columns,
            initial_indent=indent,
            subsequent_indent=indent + _INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        texts += (emphasize(view, row, DIM) for row in rows)
    return texts


def _head(view: IRView, head: str, sign: Sign, is_current: bool) -> str:
    if is_current:
        return emphasize(view, head, BOLD)
    color: Mapping[Sign, str] = {"+": GREEN, "-": RED, "~": _CHANGED, " ": DIM}
    return emphasize(view, head, color[sign])


def _body(view: IRView, each: MarkedLine, text: str, room: int) -> str:
    shown = view.fit(view.short_names.shorten(text), room)
    if not view.colored:
        return shown
    if each.sign in "+-":
        return emphasize(view, shown, GREEN if each.sign == "+" else RED)
    if each.sign == "~":
        before = view.short_names.shorten(each.before)
        return "".join(
            emphasize(view, words.text, _CHANGED) if words.is_changed else view.paint(words.text)
            for words in compare_words(before, shown)[1]
        )
    return view.paint(shown)
