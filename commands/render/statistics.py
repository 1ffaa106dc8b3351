"""The cost of actions: totals, means of buckets, tables of probabilities."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actiondbg.recording.statistics.statistics import DURATION
from actiondbg.recording.statistics.units import (
    constant_words,
    correlation_text,
    range_text,
    value_text,
)

if TYPE_CHECKING:
    from actiondbg.recording.statistics.measurement import Measured
    from actiondbg.recording.statistics.samples import Floats
    from actiondbg.recording.statistics.statistics import Quantity, Relation, Statistics
    from actiondbg.recording.statistics.totals import Total

_SHADES = ((0.64, "██"), (0.36, "▓▓"), (0.16, "▒▒"), (0.04, "░░"), (1e-300, "· "))
_LEGEND = "Probabilities: ██ from 64 %, ▓▓ 36 %, ▒▒ 16 %, ░░ 4 %, · below 4 %, blank 0"


def stat_text(measured: Measured, most: int, tables: bool = True) -> str:
    """Return the cost of a run as text.

    Args:
        measured: the measurement of the run.
        most: the number of names to list; 0: all.
        tables: include the tables of probabilities.
    """
    nested = ", without nested actions" if measured.own else ""
    measured_of = (
        f"{measured.samples.size:,} of {measured.count:,} action{'s'[: measured.count != 1]}"
    )
    lines = [f"{measured_of}{nested}: {shlex.join(measured.argv)}"]
    lines += [f"Note: {note}" for note in measured.notes]
    if measured.statistics is None:
        lines += ["", *_total_lines(measured.tags, "tag")]
    lines += ["", *_total_lines(measured.names[: most or None], "tag (name)")]
    if most and len(measured.names) > most:
        lines.append(f"... and {len(measured.names) - most:,} more names; --limit 0 lists all")
    if measured.statistics is not None:
        lines += ["", *_statistic_lines(measured.statistics, tables)]
    return "\n".join(lines)


# --- totals -----------------------------------------------------------------------


def _total_lines(totals: Sequence[Total], title: str) -> list[str]:
    events = list(totals[0].events) if totals else []
    titles = ["calls", DURATION, "/call"]
    for event in events:
        titles += [event, "/call"]
    return _aligned([[*titles, title], *(_total_row(total) for total in totals)])


def _total_row(total: Total) -> list[str]:
    mean = total.duration / total.calls
    row = [f"{total.calls:,}", value_text(DURATION, total.duration), value_text(DURATION, mean)]
    for event, count in total.events.items():
        row += [value_text(event, count.total), value_text(event, count.per_call)]
    name = "" if total.name is None else f" ({total.name or 'nameless'})"
    return [*row, total.tag + name]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with cells aligned right, except the last, which is aligned left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    return [
        "  ".join([*(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]


# --- the statistics of a name -----------------------------------------------------


def _statistic_lines(statistics: Statistics, tables: bool) -> list[str]:
    quantities = [statistics.duration, *statistics.events.values()]
    lines = [*_bucket_lines(quantities), *_fewer_lines(quantities)]
    if tables and any(relation.pearson is not None for relation in statistics.relations.values()):
        lines += ["", _LEGEND]
    for event in statistics.events.values():
        relation = statistics.relations[event.name]
        lines += ["", *_relation_lines(statistics.duration, event, relation, tables)]
    return lines


def _bucket_lines(quantities: Sequence[Quantity]) -> list[str]:
    """Return the means of the buckets; each quantity has its own order."""
    rows = [["bucket", *(quantity.name for quantity in quantities), ""]]
    for bucket in range(max(quantity.buckets.size for quantity in quantities)):
        means = (_mean_text(quantity, bucket) for quantity in quantities)
        rows.append([str(bucket + 1), *means, ""])
    whole = (value_text(quantity.name, quantity.mean) for quantity in quantities)
    rows.append(["mean", *whole, ""])
    lines = ["Means of the quantile buckets, each column in its own order:", *_aligned(rows)]
    return [line.rstrip() for line in lines]


def _mean_text(quantity: Quantity, bucket: int) -> str:
    if bucket >= quantity.buckets.size:
        return ""
    return value_text(quantity.name, float(quantity.buckets.mean[bucket]))


def _fewer_lines(quantities: Sequence[Quantity]) -> list[str]:
    return [
        f"{quantity.name}: {quantity.buckets.size} of {quantity.buckets.wanted} buckets, because "
        + _why_fewer(quantity)
        for quantity in quantities
        if quantity.buckets.size < quantity.buckets.wanted
    ]


def _why_fewer(quantity: Quantity) -> str:
    calls = len(quantity.values)
    if calls < quantity.buckets.wanted:
        return f"there are {calls} calls."
    return "equal values share a bucket."


def _relation_lines(
    duration: Quantity, event: Quantity, relation: Relation, tables: bool
) -> list[str]:
    head = f"Correlation of {event.name} with the duration:"
    constant = next((each for each in (event, duration) if each.is_constant), None)
    if constant is not None:
        return [f"{head} undefined, because {constant_words(constant)}."]
    pearson, spearman = map(correlation_text, (relation.pearson, relation.spearman))
    lines = [f"{head} {pearson}, of their ranks: {spearman}"]
    if tables:
        lines += _probability_lines(event, duration, relation.duration_given_event)
        lines += _probability_lines(duration, event, relation.event_given_duration)
    return lines


def _probability_lines(given: Quantity, of: Quantity, table: Floats) -> list[str]:
    """Return the shaded table of P(of | given), with one row a bucket of ``given``."""
    title = f"P(bucket of {of.name} | bucket of {given.name}); each row sums to 1:"
    columns = " ".join(f"{bucket + 1:<2}" for bucket in range(of.buckets.size))
    rows = [["", given.name, "calls", f"{columns.rstrip()}  <- bucket of {of.name}"]]
    for bucket, probabilities in enumerate(table):
        cells = " ".join(_shade(float(probability)) for probability in probabilities)
        calls = f"{int(given.buckets.calls[bucket]):,}"
        rows.append([str(bucket + 1), range_text(given.name, given.buckets, bucket), calls, cells])
    return ["", title, *(line.rstrip() for line in _aligned(rows))]


def _shade(probability: float) -> str:
    return next((shade for least, shade in _SHADES if probability >= least), "  ")
