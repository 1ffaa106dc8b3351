"""The statistics of a name as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from actiondbg.recording.statistics.run_measurement import NameStatistics
from actiondbg.statistics.quantities import (
    Quantity,
    QuantityRelation,
    constant_words,
    correlation_text,
    is_time,
    range_text,
)
from actiondbg.support.atomic_write import open_whole
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.statistics.quantities import Floats

_WIDTH, _HEIGHT = 5.0, 4.2  # of one subplot, in inches
_RESOLUTION = 100  # dots an inch
_SMALL = 6  # points
_MOST_POINTS = 20_000
_NANOSECONDS_OF_UNIT = 1e3
_WIDE = 20  # ratio of largest to smallest value from which a logarithmic scale is used


def write_plot(statistics: NameStatistics, path: Path) -> None:
    """Plot the statistics of a name as .png, .svg or .pdf; needs matplotlib.

    Each event has a row: its values against the durations, and both probability tables.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure

    rows, duration = max(len(statistics.events), 1), statistics.duration
    figure: Any = Figure(figsize=(3 * _WIDTH, rows * _HEIGHT + 0.8), layout="constrained")
    axes = figure.subplots(rows, 3, squeeze=False)
    title = f"{counted(statistics.calls, 'action')} with a name like {statistics.glob}"
    figure.suptitle(title, parse_math=False)
    for row, event in zip(axes, statistics.events.values(), strict=False):
        relation = statistics.relations[event.name]
        _draw_samples(row[0], event, duration, relation)
        _draw_table(figure, row[1], event, duration, relation.first_given_second)
        _draw_table(figure, row[2], duration, event, relation.second_given_first)
    if not statistics.events:
        _draw_means(axes[0][0], duration)
        for unused in axes[0][1:]:
            unused.set_axis_off()
    with open_whole(path) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=_RESOLUTION)


def _draw_samples(
    axes: Any, event: Quantity, duration: Quantity, relation: QuantityRelation
) -> None:
    """Draw one point per action, or every n-th of many."""
    step = -(-len(event.values) // _MOST_POINTS)
    x, y = _plain(event)[::step], _plain(duration)[::step]
    axes.scatter(x, y, s=6, alpha=0.3, linewidths=0)
    axes.set_xscale(**_scale(x))
    axes.set_yscale(**_scale(y))
    axes.set_xlabel(_labelled(event))
    axes.set_ylabel(_labelled(duration))
    axes.set_title(
        f"correlation {correlation_text(relation.pearson)}, "
        f"of ranks {correlation_text(relation.spearman)}"
    )


def _draw_table(figure: Any, axes: Any, given: Quantity, of: Quantity, table: Floats) -> None:
    """Draw a probability table, smallest buckets at the bottom left."""
    from matplotlib.colors import PowerNorm

    axes.set_title(f"P({of.name} | {given.name})")
    if given.is_constant or of.is_constant:
        constant = given if given.is_constant else of
        axes.text(0.5, 0.5, constant_words(constant), ha="center", wrap=True)
        axes.set_axis_off()
        return
    # A square-root scale, because most probabilities are small.
    image = axes.imshow(
        table.T, origin="lower", aspect="auto", cmap="Blues", norm=PowerNorm(0.5, 0, 1)
    )
    figure.colorbar(image, ax=axes, ticks=(0, 0.04, 0.16, 0.36, 0.64, 1))
    axes.set_xticks(range(given.buckets.size), _ranges(given), rotation=90, fontsize=_SMALL)
    axes.set_yticks(range(of.buckets.size), _ranges(of), fontsize=_SMALL)
    axes.set_xlabel(f"given {given.name}: each column sums to 1")
    axes.set_ylabel(of.name)


def _draw_means(axes: Any, quantity: Quantity) -> None:
    means = quantity.buckets.mean / _divisor(quantity)
    axes.bar(range(1, len(means) + 1), means)
    axes.set_xlabel("quantile bucket")
    axes.set_ylabel(f"mean of {_labelled(quantity)}")


def _ranges(quantity: Quantity) -> list[str]:
    buckets = quantity.buckets
    return [range_text(quantity.name, buckets, bucket) for bucket in range(buckets.size)]


def _plain(quantity: Quantity) -> Floats:
    return quantity.values / _divisor(quantity)


def _divisor(quantity: Quantity) -> float:
    return _NANOSECONDS_OF_UNIT if is_time(quantity.name) else 1.0


def _labelled(quantity: Quantity) -> str:
    return f"{quantity.name} (us)" if is_time(quantity.name) else quantity.name


def _scale(values: Floats) -> dict[str, Any]:
    """Return a scale for small and large values, one with 0 on it if needed."""
    low, high = float(np.min(values)), float(np.max(values))
    if low > 0 and high / low > _WIDE:
        return {"value": "log"}
    return {"value": "symlog", "linthresh": 1.0} if high - low > _WIDE else {"value": "linear"}
