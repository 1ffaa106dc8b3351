"""IR on a terminal: printed, as lines around a place, and marked with what an action changed."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TextIO, cast

import msgspec

from actiondbg.commands.render.renderer import Aliases, RenderContext, Renderer, page, renders
from actiondbg.commands.render.terminal.output import (
    BOLD,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Redirect,
    fills_screen,
    styled,
)
from actiondbg.commands.render.units import operation
from actiondbg.errors import ActiondbgError
from actiondbg.ir.printed import PrintedText
from actiondbg.ir.tokens import STRING
from actiondbg.protocol import Excerpt, GetExcerpt, Line
from actiondbg.protocol.tags import FOLD_TAG, PATTERN_TAG

if TYPE_CHECKING:
    from actiondbg.process.stop import Stop
    from actiondbg.protocol import Change
    from actiondbg.session.debug_session import DebugSession

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
        before = style.aliases.shorten(each.before)
        return "".join(
            _colored(words.text, _CHANGED, style) if words.is_changed else style.paint(words.text)
            for words in compare_words(before, shown)[1]
        )
    return style.paint(shown)


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


_CHUNK = 1 << 16  # characters to colour at once
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # not splitlines, which splits at further characters
_LONGEST = 1 << 20  # characters to buffer of a line without end
_GUTTER = 4  # columns
_READ_WHOLE = 1 << 20  # bytes of IR to read for counting lines


class Counted(msgspec.Struct):
    """The number of operations of a name, in the module or in the function of the cursor."""

    glob: str
    function: bool
    count: int


class IRWriter:
    """A file-like object that writes IR with gutter and colours.

    Args:
        mark: first and last line of the cursor's operation, from 1; None: no gutter.
        style: the name of a style; None: no colours.
    """

    def __init__(self, out: TextIO, mark: tuple[int, int] | None, style: str | None) -> None:
        self._out = out
        self._mark = mark
        self._style = style
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
        painted = self._paint(text)
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

    def _paint(self, lines: str) -> str:
        if self._style is None:
            return lines
        from actiondbg.ir.lexer import colorize

        return colorize(lines, self._style)


def _show_ir(context: RenderContext, result: object) -> None:
    """Write printed IR: plain into a file, else marked, coloured and paged."""
    with cast("PrintedText", result) as printed:
        if context.redirected and not context.piped:
            printed.copy_to(context.out)
            return
        style = context.settings["style"] if context.colored else None

        def write(out: TextIO) -> None:
            writer = IRWriter(out, printed.mark, style)
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
    with printed:
        return {"text": printed.text, "generic": printed.generic}


def count_text(_: RenderContext, counted: Counted) -> str:
    where = "the function of the cursor" if counted.function else "the module"
    return f"{counted.count} {counted.glob} in {where}"


def block_text(context: RenderContext, block: Block) -> str:
    excerpt, at = block.excerpt, block.excerpt.current
    is_cursor = at >= 0 and excerpt.lines[at].id == block.cursor
    arrow = "-->" if is_cursor else "  >"
    return "\n".join(excerpt_text(excerpt, style_of(context), arrow))


RENDERERS = (
    Renderer(PrintedText, _show_ir, _ir_object),
    renders(Counted, count_text),
    renders(Block, block_text, fits=True),
)
