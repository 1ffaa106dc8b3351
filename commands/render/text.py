"""Show results as text for people, paged where they are long."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO, cast

from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.commands.interpreter.pager import paged
from actiondbg.commands.render import outcomes, results
from actiondbg.commands.render import time_travel as travel
from actiondbg.commands.render.breakpoints import breakpoint_text, breakpoints_text
from actiondbg.commands.render.ir_text import IRWriter
from actiondbg.commands.render.stop import changes_text, outcome_text, stop_text
from actiondbg.commands.render.units import (
    action_text,
    backtrace_text,
    cursor_text,
    frame_text,
    place_text,
    rows,
    units_text,
)
from actiondbg.ir.printed import PrintedText
from actiondbg.process.checkpoints import Checkpoint
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Timeline
from actiondbg.protocol import Action, Cursor, Frame

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Front

_READ_WHOLE = 1 << 20  # bytes of IR up to which it is read to count its lines


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
    with paged(front.out) as pager:
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


# --- the rest -----------------------------------------------------------------


def _text(_: Front, text: results.Text) -> str:
    return text.text


def _settings_text(_: Front, shown: results.SettingsShown) -> str:
    return "\n".join(rows(shown.settings))


def _facts_text(_: Front, facts: results.Facts) -> str:
    return "\n".join(rows(facts.facts))


_TEXTS: dict[type[Any], Callable[[Front, Any], str]] = {
    Stop: stop_text,
    Action: action_text,  # before Frame, which it extends
    Frame: frame_text,
    Cursor: cursor_text,
    Breakpoint: breakpoint_text,
    results.Text: _text,
    results.Backtrace: backtrace_text,
    results.Units: units_text,
    results.Breakpoints: breakpoints_text,
    results.SettingsShown: _settings_text,
    results.Facts: _facts_text,
    results.CursorPlace: place_text,
    results.OutcomeShown: outcome_text,
    results.ChangesShown: changes_text,
    results.StatisticsShown: outcomes.statistics_text,
    results.AttemptsShown: outcomes.attempts_text,
    results.HistoryShown: outcomes.history_text,
    results.CycleShown: outcomes.cycle_text,
    results.DiffShown: outcomes.diff_text,
    results.Counted: outcomes.count_text,
    results.Display: outcomes.display_text,
    results.Displays: outcomes.displays_text,
    results.Displayed: outcomes.displayed_text,
    results.Reproduced: outcomes.reproduced_text,
    results.Bisected: outcomes.bisected_text,
    Checkpoint: travel.checkpoint_text,
    Timeline: travel.timeline_text,
    results.CheckpointsShown: travel.checkpoints_text,
}
