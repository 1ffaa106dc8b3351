"""The cost of actions, and measured quantities: means of buckets, correlations, probabilities."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actiondbg.commands.render.tables import aligned
from actiondbg.statistics.quantities import (
    DURATION,
    constant_words,
    correlation_text,
    range_text,
    value_text,
)
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.recording.statistics.run_measurement import Measured, Total
    from actiondbg.statistics.quantities import Floats, Quantity, QuantityRelation

GAMMA = 0.5
# By the least probability to the power of gamma.
_SHADES = ((0.8, "██"), (0.6, "▓▓"), (0.4, "▒▒"), (0.2, "░░"))
_LITTLE = "· "


def quantity_lines(
    quantities: Sequence[Quantity],
    relations: Sequence[QuantityRelation],
    tables: bool = True,
    gamma: float = GAMMA,
) -> list[str]:
    """Return the buckets of quantities of the same calls, and their correlations.

    The exponent gamma is of the shades of tables: below 1, small probabilities differ more.
    """
    lines = [*_bucket_lines(quantities), *_fewer_lines(quantities)]
    if tables and any(relation.pearson is not None for relation in relations):
        lines += ["", _legend(gamma)]
    for relation in relations:
        lines += ["", *_relation_lines(relation, tables, gamma)]
    return lines


def _bucket_lines(quantities: Sequence[Quantity]) -> list[str]:
    """Return the means of the buckets; each quantity has its own order."""
    rows = [["bucket", *(quantity.name for quantity in quantities), ""]]
    for bucket in range(max(quantity.buckets.size for quantity in quantities)):
        means = (
            value_text(each.name, float(each.buckets.mean[bucket]))
            if bucket < each.buckets.size
            else ""
            for each in quantities
        )
        rows.append([str(bucket + 1), *means, ""])
    whole = (value_text(quantity.name, quantity.mean) for quantity in quantities)
    rows.append(["mean", *whole, ""])
    lines = ["Means of the quantile buckets, each column in its own order:", *aligned(rows)]
    return [line.rstrip() for line in lines]


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
        return f"there {'is' if calls == 1 else 'are'} {counted(calls, 'call')}."
    return "equal values share a bucket."


def _relation_lines(relation: QuantityRelation, tables: bool, gamma: float) -> list[str]:
    first, second = relation.first, relation.second
    noun = f"the {DURATION}" if first.name == DURATION else first.name
    head = f"Correlation of {second.name} with {noun}:"
    constant = next((each for each in (second, first) if each.is_constant), None)
    if constant is not None:
        return [f"{head} undefined, because {constant_words(constant)}."]
    pearson, spearman = map(correlation_text, (relation.pearson, relation.spearman))
    lines = [f"{head} {pearson}, of their ranks: {spearman}"]
    if tables:
        lines += _probability_lines(second, first, relation.first_given_second, gamma)
        lines += _probability_lines(first, second, relation.second_given_first, gamma)
    return lines


def _probability_lines(given: Quantity, of: Quantity, table: Floats, gamma: float) -> list[str]:
    """Return the shaded table of P(of | given), with one row a bucket of ``given``."""
    title = f"P(bucket of {of.name} | bucket of {given.name}); each row sums to 1:"
    columns = " ".join(f"{bucket + 1:<2}" for bucket in range(of.buckets.size))
    rows = [["", given.name, "calls", f"{columns.rstrip()}  <- bucket of {of.name}"]]
    for bucket, probabilities in enumerate(table):
        cells = " ".join(_shade(float(probability), gamma) for probability in probabilities)
        calls = f"{int(given.buckets.calls[bucket]):,}"
        rows.append([str(bucket + 1), range_text(given.name, given.buckets, bucket), calls, cells])
    return ["", title, *(line.rstrip() for line in aligned(rows))]


def _shade(probability: float, gamma: float) -> str:
    if not probability:
        return "  "
    return next((shade for least, shade in _SHADES if probability**gamma >= least), _LITTLE)


def _legend(gamma: float) -> str:
    """Return what the shades of a table stand for."""
    percents = [f"{100 * least ** (1 / gamma):.3g} %" for least, _ in _SHADES]
    first, *others = (
        f"{shade} {percent}" for (_, shade), percent in zip(_SHADES, percents, strict=True)
    )
    first = first.replace(" ", " from ", 1)
    return f"Probabilities: {', '.join((first, *others))}, · below {percents[-1]}, blank 0"


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
        found = measured.statistics
        quantities = [found.duration, *found.events.values()]
        lines += ["", *quantity_lines(quantities, list(found.relations.values()), tables)]
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
