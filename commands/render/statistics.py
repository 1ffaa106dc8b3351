"""The cost of actions: totals, and the statistics of a name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actiondbg.commands.render.quantities import quantity_lines
from actiondbg.commands.render.tables import aligned
from actiondbg.statistics.quantities import DURATION, value_text
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.recording.statistics.measurement import Measured, Statistics, Total


def stat_text(measured: Measured, most: int, tables: bool = True) -> str:
    """Return the cost of a run as text, with ``most`` names; 0: all of them."""
    nested = ", without nested actions" if measured.own else ""
    measured_of = f"{measured.samples.size:,} of {counted(measured.count, 'action')}"
    lines = [f"{measured_of}{nested}: {shlex.join(measured.argv)}"]
    lines += [f"Note: {note}" for note in measured.notes]
    if measured.statistics is None:
        lines += ["", *_total_lines(measured.tags, "tag")]
    lines += ["", *_total_lines(measured.names[: most or None], "tag (name)")]
    if most and len(measured.names) > most:
        lines.append(
            f"... and {counted(len(measured.names) - most, 'more name')}; --limit 0 lists all"
        )
    if measured.statistics is not None:
        lines += ["", *_statistic_lines(measured.statistics, tables)]
    return "\n".join(lines)


# --- totals -----------------------------------------------------------------------


def _total_lines(totals: Sequence[Total], title: str) -> list[str]:
    events = list(totals[0].events) if totals else []
    titles = ["calls", DURATION, "/call"]
    for event in events:
        titles += [event, "/call"]
    return aligned([[*titles, title], *(_total_row(total) for total in totals)])


def _total_row(total: Total) -> list[str]:
    mean = total.duration / total.calls
    row = [f"{total.calls:,}", value_text(DURATION, total.duration), value_text(DURATION, mean)]
    for event, count in total.events.items():
        row += [value_text(event, count.total), value_text(event, count.per_call)]
    name = "" if total.name is None else f" ({total.name or 'nameless'})"
    return [*row, total.tag + name]


# --- the statistics of a name -----------------------------------------------------


def _statistic_lines(statistics: Statistics, tables: bool) -> list[str]:
    quantities = [statistics.duration, *statistics.events.values()]
    return quantity_lines(quantities, list(statistics.relations.values()), tables)
