"""The tables of ``info patterns``, ``info passes`` and ``info folds``."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from actiondbg.commands.render.renderer import RenderContext, renders
from actiondbg.protocol import Statistic
from actiondbg.support.counts import counted

_TOTALS = Statistic.__struct_fields__[2:]  # all but tag and name
_COLUMNS = _TOTALS[:-1]  # the time is shown behind them
_RARE = ("unchanged", "skipped")  # columns that are left out if they count nothing


class StatisticsShown(msgspec.Struct):
    """The outcomes of patterns, passes or folds by name.

    Attributes:
        kind: "pattern", "pass" or "fold".
        glob: the selected names; None for all.
    """

    kind: str
    glob: str | None
    rows: list[Statistic]

    @property
    def total(self) -> Statistic:
        sums = {column: sum(getattr(row, column) for row in self.rows) for column in _COLUMNS}
        times = [row.seconds for row in self.rows if row.seconds is not None]
        seconds = sum(times) if times or not self.rows else None
        return Statistic(tag=self.kind, name="total", seconds=seconds, **sums)


def statistics_text(_: RenderContext, shown: StatisticsShown) -> str:
    if not shown.rows:
        named = f" named {shown.glob}" if shown.glob else ""
        return f"No {shown.kind}{named} has ended so far."
    total = shown.total
    columns = [each for each in _COLUMNS if getattr(total, each) or each not in _RARE]
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


RENDERERS = (renders(StatisticsShown, statistics_text, _statistics_object),)
