"""The text of statistics of patterns, passes and folds, and of cycles of patterns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from actiondbg.commands.render.history import diff_object, unified_lines
from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.commands.render.tables import fitted
from actiondbg.commands.render.units import operation, place_words
from actiondbg.protocol import RESULTS, Statistic
from actiondbg.support.counts import counted, times

if TYPE_CHECKING:
    from actiondbg.analysis.cycles import Applied, Cycle

COLUMNS = ("attempts", *RESULTS, "changes")
_RARE = ("unchanged", "skipped")  # columns that are left out if they count nothing
_TOTALS = (*COLUMNS, "seconds")


class StatisticsShown(msgspec.Struct):
    """The outcomes of patterns, passes or folds by name, and the total.

    Attributes:
        kind: "pattern", "pass" or "fold".
        glob: the selected names; None for all.
    """

    kind: str
    glob: str | None
    rows: list[Statistic]
    total: Statistic


class CycleShown(msgspec.Struct):
    cycle: Cycle | None


def statistics_text(_: RenderContext, shown: StatisticsShown) -> str:
    if not shown.rows:
        named = f" named {shown.glob}" if shown.glob else ""
        return f"No {shown.kind}{named} has ended so far."
    total = shown.total
    columns = [each for each in COLUMNS if getattr(total, each) or each not in _RARE]
    cells = [
        [*columns, "time", "name"],
        *(_statistic_cells(row, columns, row.name or "(nameless)") for row in shown.rows),
        _statistic_cells(total, columns, f"total of {counted(len(shown.rows), 'name')}"),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        " ".join(f"{cell:>{width}}" for cell, width in zip(row[:-1], widths, strict=False))
        + f"  {row[-1]}"
        for row in cells
    )


def _statistic_cells(row: Statistic, columns: Iterable[str], name: str) -> list[str]:
    counts = [str(getattr(row, column)) for column in columns]
    time = "-" if row.seconds is None else f"{row.seconds * 1000:.3f} ms"
    return [*counts, time, name]


def _statistics_object(shown: StatisticsShown) -> object:
    total = msgspec.to_builtins(shown.total)
    return {
        "rows": msgspec.to_builtins(shown.rows),
        "total": {key: total[key] for key in _TOTALS},
    }


# --- cycles ----------------------------------------------------------------------


def cycle_text(context: RenderContext, shown: CycleShown) -> str:
    cycle = shown.cycle
    if cycle is None:
        return "No cycle was found: the latest actions do not repeat."
    length = counted(len(cycle.round), "action")
    repeats = f"{'more than ' if cycle.more else ''}{times(cycle.times)}"
    lines = [f"A cycle of {length} was repeated {repeats} so far; one round:"]
    lines += [f"  {_applied_words(each)}" for each in cycle.round]
    lines = fitted("\n".join(lines), context.width).split("\n")
    for each in cycle.diffs:
        if not each.is_empty:
            lines += ["", *unified_lines(context, each, 3)]
    return "\n".join(lines)


def _applied_words(applied: Applied) -> str:
    place = place_words(applied.location)
    name = f"{applied.tag} ({applied.name or 'nameless'})"
    return f"#{applied.ordinal} {name} on {operation(applied.id, applied.op)}{place}"


def _cycle_object(shown: CycleShown) -> object:
    if shown.cycle is None:
        return None
    return {
        "times": shown.cycle.times,
        "more": shown.cycle.more,
        "round": msgspec.to_builtins(shown.cycle.round),
        "diffs": [diff_object(each, 3) for each in shown.cycle.diffs],
    }


RENDERERS = (
    renders(StatisticsShown, statistics_text, _statistics_object),
    renders(CycleShown, cycle_text, _cycle_object, fits=True),
)
