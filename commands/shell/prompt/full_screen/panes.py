"""The panes of the full-screen view: the IR around the cursor, the stack and the changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.layout.controls import UIContent, UIControl

from actiondbg.commands.render.actions import describe
from actiondbg.commands.render.ir import NOWHERE, changes_at, place_at
from actiondbg.commands.render.ir_text.lines import lines_text
from actiondbg.commands.render.ir_text.marks import MarkedLine, mark_changes
from actiondbg.commands.render.outcomes import change_line, outcome_lines
from actiondbg.commands.render.tables import wrapped
from actiondbg.commands.render.terminal.output import emphasize
from actiondbg.errors import ActiondbgError

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.process.stop import Stop
    from actiondbg.protocol import Excerpt, Line, Unit

Rows = Sequence[StyleAndTextTuples]
_BOLD = "1"
_NOT_STOPPED = "The tool is not stopped: start it with 'start' or 'run'."


class PaneControl(UIControl):
    """Draws the rows that a function returns for a size.

    Args:
        rows: returns the rows; called again only by ``refresh``, and for another size.
    """

    def __init__(self, rows: Callable[[int, int], Rows]) -> None:
        self._rows = rows
        self._size: tuple[int, int] | None = None
        self._shown: Rows = []

    def refresh(self) -> None:
        """Ask for the rows again, for the size that was drawn last."""
        if self._size is not None:
            self._shown = self._rows(*self._size)

    @property
    def height(self) -> int:
        return self._size[1] if self._size is not None else 1

    def create_content(self, width: int, height: int) -> UIContent:
        # The sizes of the drawing after the line was read are not those of the panes.
        if self._size != (width, height) and not get_app().is_done:
            self._shown = self._rows(width, height)
            self._size = width, height
        rows = self._shown
        return UIContent(lambda at: list(rows[at]) if at < len(rows) else [], len(rows) or 1)

    def is_focusable(self) -> bool:
        return False


def colored_rows(lines: Sequence[str]) -> Rows:
    """Return rows of lines with escape sequences for colours."""
    return [to_formatted_text(ANSI(line)) for line in lines]


def stop_of(console: Console) -> Stop | None:
    """Return the stop whose IR can be read; None without one."""
    stop = console.session.stop
    if console.session.state != "stopped" or stop is None or stop.when == "exit":
        return None
    return stop


def headline(console: Console) -> str:
    """Return the place of the stop in a line."""
    stop = stop_of(console)
    if stop is not None:
        when = "inside" if stop.when == "during" else stop.when
        return f"{when} {describe(stop)}"
    last = console.session.stop
    ended = last is not None and last.when == "exit" and console.session.state != "stopped"
    return (last.message if ended and last else None) or "not started"


class IRPane:
    """The IR around the cursor, marked with what the action of the stop changed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stop: Stop | None = None
        self._unit: Unit | None = None  # of the cursor when the tool stopped
        self._lines: list[Line] = []  # that were drawn last
        self._before: list[Line] = []  # that were drawn before the action of the stop
        self._ordinal = 0  # of the action that self._lines were drawn before
        self._scrolled = 0

    def scroll(self, rows: int) -> None:
        """Move the view down by rows, away from the cursor; up for a negative number."""
        self._scrolled += rows

    def follow(self) -> None:
        self._scrolled = 0

    def rows(self, width: int, height: int) -> Rows:
        stop = stop_of(self._console)
        if stop is None:
            self._stop, self._lines = None, []
            return colored_rows([_NOT_STOPPED])
        try:
            return colored_rows(self._text(stop, width, height))
        except ActiondbgError as error:  # such as an erased operation, or a recording without IR
            self._lines = []
            return colored_rows(wrapped(str(error), width))

    def _text(self, stop: Stop, width: int, height: int) -> list[str]:
        console = self._console
        unit = console.session.cursor.get().unit
        self._enter(stop, unit)
        changes = changes_at(console, stop)
        count = height + abs(self._scrolled)
        place = place_at(console, stop, changes) if unit == self._unit else None
        place = None if place == NOWHERE else place
        excerpt = console.ir_view.excerpt(place, before=count, after=count, definitions=True)
        self._lines = excerpt.lines
        if stop.when == "after":
            marked = mark_changes(self._before, excerpt, changes)
        else:
            marked = [MarkedLine(line) for line in excerpt.lines]
        current = excerpt.lines[excerpt.current]
        starts = [0, *accumulate(each.line.text.count("\n") + 1 for each in marked)]
        at = next((i for i, each in enumerate(marked) if each.line is current), 0)
        first = self._first_row(starts[at], starts[-1], height, excerpt)
        # Only what is in view is coloured, which takes longer than reading it.
        begin = bisect_right(starts, first) - 1
        end = bisect_left(starts, first + height)
        arrow = "-->" if place is None else "  >"
        texts = lines_text(console.ir_view.in_columns(width), marked[begin:end], current, arrow)
        return texts[first - starts[begin] :][:height]

    def _first_row(self, current: int, count: int, height: int, excerpt: Excerpt) -> int:
        """Return the first row in view, of ``count``, and correct a scroll beyond the IR."""
        top = current - height // 2
        last = max(count - height, 0)
        # Beyond the lines that were read there may be more: only the ends of the IR limit.
        first = max(min(top + self._scrolled, last), 0)
        if first != top + self._scrolled and not (excerpt.more_before and excerpt.more_after):
            self._scrolled = first - top if self._scrolled else 0
        return first

    def _enter(self, stop: Stop, unit: Unit) -> None:
        """Keep the lines of the stop before, if they show the IR before the same action."""
        if stop is self._stop:
            return
        followed = stop.when == "after" and self._ordinal == stop.ordinal
        self._before = self._lines if followed else []
        self._ordinal = stop.ordinal if stop.when == "before" else 0
        self._stop, self._unit = stop, unit
        self._scrolled = 0


def stack_rows(console: Console, width: int, height: int) -> Rows:
    """Return the frames of the stack, the innermost first; the selected one is bold."""
    if stop_of(console) is None:
        return []
    try:
        frames = console.session.stack.frames()
    except ActiondbgError as error:
        return colored_rows([str(error)])
    selected = console.session.stack.selected
    lines: list[str] = []
    for frame in frames[max(selected - height + 1, 0) :]:
        is_selected = frame.index == selected
        title = frame.title
        if len(title) + len(f"-> {frame.index} ") > width:
            title = f"#{frame.ordinal} {frame.name or frame.tag}"
        line = f"{'->' if is_selected else '  '} {frame.index} {title}"[:width]
        lines.append(emphasize(console, line, _BOLD) if is_selected else line)
    return colored_rows(lines)


def changes_rows(console: Console, width: int, height: int) -> Rows:
    """Return the outcome of the action and what it changed."""
    stop = stop_of(console)
    if stop is None:
        return []
    try:
        changes = console.session.outcome.changes(limit=height)
    except ActiondbgError as error:
        return colored_rows([str(error)])
    lines = outcome_lines(stop.outcome, stop.tag) if stop.outcome is not None else []
    rows = [row for line in lines for row in wrapped(line, width)]
    rows += [change_line(change, stop.ordinal)[:width] for change in changes.changes]
    if not rows:
        rows = ["no changes" if stop.when == "after" else "no changes yet"]
    unread = changes.total - len(changes.changes)
    if len(rows) + unread > height:
        rows = [*rows[: height - 1], f"... {len(rows) + unread - height + 1} more: info changes"]
    return colored_rows(rows)
