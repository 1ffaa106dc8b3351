"""Lines of IR beside their operation ids, marked with what an action changed."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from actiondbg.commands.render.renderer import Aliases, RenderContext
from actiondbg.commands.render.terminal.output import BOLD, DIM, GREEN, RED, YELLOW, styled
from actiondbg.protocol import Excerpt, Line

Sign = Literal["+", "-", "~", " "]
Paint = Callable[[str], str]

_UNLIMITED = 1 << 20  # columns
_INDENT = "  "
_MOST_INDENT = 24  # columns, so that deeply nested IR stays in view
_ELLIPSIS = "…"
_CHANGED = f"{BOLD};{YELLOW}"
_TOKEN = re.compile(r"[\w$.%#@!^-]+|\s+|.")


class MarkedLine(NamedTuple):
    """A line to show: ``+`` inserted, ``-`` erased, ``~`` modified; ``before`` is its old text."""

    line: Line
    sign: Sign = " "
    before: str = ""


class Block(msgspec.Struct):
    """Consecutive lines of IR, the result of ``around`` and ``list PLACE``.

    Attributes:
        cursor: the operation id of the cursor, or None.
    """

    excerpt: Excerpt
    cursor: int | None = None


def key_of(line: Line) -> tuple[object, ...]:
    """Return the identity of a line, which a change of its operation keeps."""
    return line.kind, line.id, line.part, line.text if line.kind == "label" else ""


def compare(
    before: Sequence[Line],
    after: Sequence[Line],
    inserted: Collection[int],
    erased: Collection[int],
) -> list[MarkedLine]:
    """Return the lines after an action, with the erased lines at their old places.

    The lines before it may be others; ``inserted`` and ``erased`` are ids of operations.
    """
    keys = [[key_of(line) for line in lines] for lines in (before, after)]
    old = {key_of(line): line.text for line in before}
    marked: list[MarkedLine] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag != "equal":
            gone = (line for line in before[i1:i2] if line.id in erased)
            marked += (MarkedLine(line, "-") for line in gone if line.kind != "label")
        for line in after[j1:j2]:
            text = None if line.id is None else old.get(key_of(line))
            if line.kind != "label" and line.id in inserted:
                marked.append(MarkedLine(line, "+"))
            elif text is not None and text != line.text:
                marked.append(MarkedLine(line, "~", text))
            else:
                marked.append(MarkedLine(line))
    return marked


class ExcerptStyle(NamedTuple):
    """How lines are shown: the columns, whether in colour, the colours of IR, and short names."""

    width: int
    colored: bool
    paint: Paint
    aliases: Aliases


def style_of(context: RenderContext) -> ExcerptStyle:
    """Return how lines are shown now; outside of a terminal they are not cut."""
    width = _UNLIMITED if context.width is None else context.width
    return ExcerptStyle(width, context.colored, context.paint, context.stop_context.aliases)


def lines_text(
    lines: Sequence[MarkedLine], current: Line | None, style: ExcerptStyle, arrow: str = "-->"
) -> list[str]:
    """Return a line of text for each line of IR: arrow, sign, id, text cut to the width."""
    ids = [f"@{each.line.id}" if each.line.id is not None else "" for each in lines]
    gutter = max((len(one) for one in ids), default=0)
    least = min((each.line.depth for each in lines), default=0)
    texts: list[str] = []
    for each, id in zip(lines, ids, strict=True):
        is_current = each.line is current
        number = id if each.line.kind == "operation" else ""
        depth = min((each.line.depth - least) * len(_INDENT), _MOST_INDENT)
        for row, text in enumerate(each.line.text.split("\n")):
            start = arrow if is_current and not row else "   "
            head = f"{start}{each.sign} {number if not row else '':>{gutter}} "
            room = style.width - len(head) - depth
            body = _body(each, text, room, style)
            texts.append(f"{_head(head, each.sign, is_current, style)}{' ' * depth}{body}")
    return texts


def excerpt_text(excerpt: Excerpt, style: ExcerptStyle, arrow: str = "-->") -> list[str]:
    """Return the lines of an excerpt as text, its definitions first; see ``lines_text``."""
    lines = [MarkedLine(line) for line in excerpt.lines]
    current = excerpt.lines[excerpt.current] if excerpt.current >= 0 else None
    return [
        *definitions_text(excerpt.definitions, style),
        *names_text(lines, style),
        *lines_text(lines, current, style, arrow),
    ]


def definitions_text(definitions: Sequence[Line], style: ExcerptStyle) -> list[str]:
    texts: list[str] = []
    for line in definitions:
        text = style.aliases.shorten(line.text.split("\n")[0])
        head = f"     @{line.id} "
        texts.append(_colored(head + _cut(text, style.width - len(head)), DIM, style))
    return texts


def names_text(lines: Sequence[MarkedLine], style: ExcerptStyle) -> list[str]:
    """Return what short names in lines stand for; a name is explained once."""
    new = [name for each in lines for name in style.aliases.new_in(each.line.text)]
    indent = " " * 5
    texts: list[str] = []
    for name, text in new:
        rows = textwrap.wrap(
            f"{name} = {text}",
            style.width,
            initial_indent=indent,
            subsequent_indent=indent + _INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        texts += (_colored(row, DIM, style) for row in rows)
    return texts


def _head(head: str, sign: Sign, is_current: bool, style: ExcerptStyle) -> str:
    if is_current:
        return _colored(head, BOLD, style)
    color: Mapping[Sign, str] = {"+": GREEN, "-": RED, "~": _CHANGED, " ": DIM}
    return _colored(head, color[sign], style)


def _body(each: MarkedLine, text: str, room: int, style: ExcerptStyle) -> str:
    shown = _cut(style.aliases.shorten(text), room)
    if not style.colored:
        return shown
    if each.sign in "+-":
        return _colored(shown, GREEN if each.sign == "+" else RED, style)
    if each.sign == "~":
        return _changed_words(style.aliases.shorten(each.before), shown, style)
    return style.paint(shown)


def _changed_words(before: str, after: str, style: ExcerptStyle) -> str:
    """Colour the words of a line that are not in it before; the others as IR."""
    return "".join(
        _colored(words.text, _CHANGED, style) if words.is_changed else style.paint(words.text)
        for words in compare_words(before, after)[1]
    )


def _colored(text: str, color: str, style: ExcerptStyle) -> str:
    return styled(text, color) if style.colored else text


def _cut(text: str, room: int) -> str:
    """Cut a line that is too long, between two words if one ends nearby."""
    if len(text) <= room:
        return text
    kept = text[: max(room - 2, 1)]
    blank = kept.rfind(" ")
    if blank > len(kept) // 2:
        kept = kept[:blank]
    return f"{kept.rstrip()} {_ELLIPSIS}"


class Words(NamedTuple):
    """Consecutive words of a line, and whether they are not in the other version."""

    text: str
    is_changed: bool


def compare_words(before: str, after: str) -> tuple[list[Words], list[Words]]:
    """Return the words of two versions of a line."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return (
        list(_words(old, [(tag, i1, i2) for tag, i1, i2, _, _ in codes])),
        list(_words(new, [(tag, j1, j2) for tag, _, _, j1, j2 in codes])),
    )


def _words(tokens: list[str], codes: list[tuple[str, int, int]]) -> Iterator[Words]:
    for tag, start, end in codes:
        if start < end:
            yield Words("".join(tokens[start:end]), tag != "equal")
