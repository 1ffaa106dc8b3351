"""Diffs of IR as text, unified and side by side, with changed words marked."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.render.ir_text.ir_view import IRView
from actiondbg.commands.render.ir_text.marks import Words, compare_words
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.terminal.output import color_allowed

if TYPE_CHECKING:
    from actiondbg.ir.diff import Diff, Row

_OFF = "\x1b[39m"
_MARK, _UNMARK = "\x1b[7m", "\x1b[27m"  # reversed
_COLORS = {"-": "\x1b[31m", "+": "\x1b[32m", "!": "\x1b[33m", "@": "\x1b[36m"}


def diff_title(diff: Diff) -> str:
    return diff.title or f"#{diff.ordinal}"


def unified_lines(view: IRView, diff: Diff, around: int) -> list[str]:
    """Return a unified diff with lines ``around`` changes; unchanged lines are coloured as IR."""
    head = (f"--- before {diff_title(diff)}", "+++ after")
    lines = [f"{line[:1]}{view.fit(line[1:])}" for line in diff.unified(around)]
    if not view.colored:
        return [*head, *lines]
    return [*map(colored_line, head), *_with_marks(view, lines)]


def _with_marks(view: IRView, lines: list[str]) -> Iterator[str]:
    """Colour the lines of hunks; mark what differs between a line and its new version."""
    from actiondbg.ir.diff import pair_lines

    for is_change, block in groupby(lines, lambda line: line[:1] in ("-", "+")):
        if not is_change:
            yield from (_painted(view, line) for line in block)
            continue
        changed = list(block)
        before = [line[1:] for line in changed if line[0] == "-"]
        after = [line[1:] for line in changed if line[0] == "+"]
        pairs = list(pair_lines(before, after))
        yield from (_marked("-", old, new) for old, new in pairs if old is not None)
        yield from (_marked("+", new, old) for old, new in pairs if new is not None)


def _marked(sign: str, line: str, other: str | None, side: str = "") -> str:
    """Colour one version of a line; what is not in the other one is reversed."""
    words = [Words(line, False)] if other is None else compare_words(other, line)[1]
    text = "".join(
        f"{_MARK}{each.text}{_UNMARK}" if each.is_changed else each.text for each in words
    )
    return _in_color(side or sign, f"{sign}{text}")


def unified_line(view: IRView, line: str) -> str:
    """Return a line of a unified diff as it is shown, without marks of changed words."""
    return _painted(view, f"{line[:1]}{view.fit(line[1:])}")


def _painted(view: IRView, line: str) -> str:
    if line[:1] == " ":
        return f" {view.paint(line[1:])}"
    return colored_line(line) if view.colored else line


def colored_line(line: str) -> str:
    """Return a line of a unified diff in colour, except an unchanged one."""
    return _in_color(line[:1], line)


def _in_color(kind: str, text: str) -> str:
    on = _COLORS.get(kind)
    return f"{on}{text}{_OFF}" if on else text


def stdout_paint(no_color: bool) -> Callable[[str], str]:
    """Return what colours a line of a unified diff on standard output, if that shows colours."""
    return colored_line if not no_color and color_allowed() and sys.stdout.isatty() else str


def side_by_side(view: IRView, diff: Diff, width: int, context: int) -> str:
    rows = diff.side_by_side(width, context)
    side = max((len(row.left or "") for row in rows), default=0)
    head = f"{f'before {diff_title(diff)}':<{side}} | after"
    return "\n".join([head, *(_row_text(view, row, side) for row in rows)])


def _row_text(view: IRView, row: Row, side: int) -> str:
    if row.left is None and row.right is None:
        return "..."
    left, right = view.fit(row.left or ""), view.fit(row.right or "")
    blanks = " " * (side - len(left))
    if row.kind == " ":
        return f"{view.paint(left)}{blanks}   {view.paint(right)}".rstrip()
    sign = {"-": "<", "+": ">", "!": "|"}[row.kind]
    if view.colored and row.kind == "!":
        return f"{_marked('', left, right, '-')}{blanks} {sign} {_marked('', right, left, '+')}"
    if view.colored:
        left, right = left and _in_color("-", left), right and _in_color("+", right)
    return f"{left}{blanks} {sign} {right}".rstrip()


# --- the result of a command ---

_WIDTH = 160  # columns of a side-by-side diff in a file


class DiffShown(msgspec.Struct):
    """The diff of an action, with ``context`` unchanged lines around a change."""

    diff: Diff
    side_by_side: bool
    context: int


def _diff_text(context: RenderContext, shown: DiffShown) -> str:
    if shown.diff.is_empty:
        return f"{diff_title(shown.diff)} did not change the IR."
    if not shown.side_by_side:
        return "\n".join(unified_lines(context.ir_view, shown.diff, shown.context))
    width = shutil.get_terminal_size().columns if context.out.isatty() else _WIDTH
    return side_by_side(context.ir_view, shown.diff, width, shown.context)


def diff_object(diff: Diff, context: int) -> object:
    return {
        "ordinal": diff.ordinal,
        "title": diff.title,
        "empty": diff.is_empty,
        "unified": diff.unified(context),
    }


renders(DiffShown, _diff_text, lambda shown: diff_object(shown.diff, shown.context), fits=True)
