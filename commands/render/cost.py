"""The cost of operations of the input, as a listing, as JSON and as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from actiondbg.ir.html import highlighted, token_colors
from actiondbg.lineage.cost import Cost
from actiondbg.lineage.stage import Operation, StageLines, source_lines, stage_title
from actiondbg.support.counts import NANOSECONDS, counted, shortened, time_text
from actiondbg.support.html_page import Cell, Html, code, element, html_page, joined, table

_SHOWN = 0.0005  # the least part of the whole that is not 0.0 %
_PLACES = 5  # places of time without an operation that are named
_KINDS = 5  # kinds of operations above the table
_WIDTH = 160  # characters of a line that are shown
_STYLE = """\
table.listing { width: 100%; border: 1px solid var(--line); } table.listing td { border: 0; }
table.listing td { padding: 0 .6rem; font-family: ui-monospace, monospace; font-size: 13px; }
table.listing td.code { white-space: pre-wrap; overflow-wrap: anywhere; width: 100%; }
"""


class ListedLine(NamedTuple):
    """A line of the listing.

    Args:
        number: from 1.
        text: the line.
        total: the time of the operations that begin on it.
        own: the same without that of the operations in their regions.
    """

    number: int
    text: str
    total: float
    own: float


def listed_lines(cost: Cost, source: StageLines) -> list[ListedLine]:
    """Return the lines of the input, each with its times."""
    total, own = [0.0] * (len(source.lines) + 1), [0.0] * (len(source.lines) + 1)
    for index, time in cost.total.items():
        number = source.of.get(index, 0)
        around = cost.stage.parents[index]
        # An operation around another one on the same line has its time already.
        if number < len(total) and (around < 0 or source.of.get(around) != number):
            total[number] += time
    for index, time in cost.own.items():
        # What the custom form leaves out has no line of its own.
        while index >= 0 and index not in source.of:
            index = cost.stage.parents[index]
        number = source.of.get(index, 0)
        if number < len(own):
            own[number] += time
    return [
        ListedLine(number, line, total[number], own[number])
        for number, line in enumerate(source.lines, 1)
    ]


def cost_lines(cost: Cost, *, top: int, whole: bool) -> Iterator[str]:
    """Yield the text: the ``top`` operations, then the lines, also those without time if whole."""
    source = source_lines(cost.stage)
    yield headline(cost, source)
    yield ""
    for name, count, time in cost.kinds()[:_KINDS]:
        words = counted(count, "operation")
        yield f"{_time(cost, time):>10}  {_part(cost, time):>6}  {name}, {words}"
    yield ""
    hottest = cost.hottest()
    yield f"{'time':>10}  {'part':>6}  operation"
    for operation, time in hottest[:top]:
        yield f"{_time(cost, time):>10}  {_part(cost, time):>6}  {described(operation)}"
    if len(hottest) > top:
        rest = sum(time for _, time in hottest[top:])
        words = counted(len(hottest) - top, "more operation")
        yield f"{_time(cost, rest):>10}  {_part(cost, rest):>6}  {words}"
    for reason, places in cost.left.items():
        time = sum(places.values())
        yield f"{_time(cost, time):>10}  {_part(cost, time):>6}  {reason} ({_some(places)})"
    yield ""
    yield f"{'total':>6}  {'own':>6}  {'line':>6}  {source.name}"
    for line in listed_lines(cost, source):
        if whole or cost.share(line.total) >= _SHOWN:
            times = f"{_part(cost, line.total):>6}  {_part(cost, line.own):>6}"
            yield f"{times}  {line.number:>6}  {shortened(line.text, _WIDTH)}".rstrip()


def headline(cost: Cost, source: StageLines) -> str:
    profile = cost.profile
    measured = sum(entry.occurrences for entry in profile.entries)
    samples = f" in {counted(measured, 'sample')}" if profile.format == "perf script" else ""
    count = len(cost.own)
    return (
        f"{profile.format}: {_time(cost, profile.time)}{samples}, of which "
        f"{_part(cost, cost.attributed)} belong to {counted(count, 'operation')} of "
        f"{stage_title(source.name)}."
    )


def _some(places: Mapping[str, float]) -> str:
    most = sorted(places.items(), key=lambda item: -item[1])
    names = [name for name, _ in islice(most, _PLACES)]
    return ", ".join(names) + (", ..." if len(most) > _PLACES else "")


def described(operation: Operation) -> str:
    name = f"@{operation.symbol}" if operation.symbol else operation.result
    location = operation.location.text
    place = f"line {operation.line}" if location == "unknown" else location.replace('"', "")
    return " ".join(filter(None, (operation.name, name, place)))


def _part(cost: Cost, time: float) -> str:
    share = cost.share(time)
    return f"{share * 100:.1f} %" if share >= _SHOWN else ""


def _time(cost: Cost, time: float) -> str:
    unit = cost.profile.unit
    size = NANOSECONDS.get(unit)
    return f"{time:,.0f} {unit}" if size is None else time_text(time * size)


def cost_object(cost: Cost) -> dict[str, object]:
    source = source_lines(cost.stage)
    return {
        "format": cost.profile.format,
        "unit": cost.profile.unit,
        "time": cost.profile.time,
        "attributed": cost.attributed,
        "file": source.name,
        "kinds": [
            {"name": name, "operations": count, "time": time} for name, count, time in cost.kinds()
        ],
        "operations": [
            {
                "node": cost.stage.nodes[index],
                "name": cost.stage.names[index],
                "result": cost.stage.results[index],
                "location": cost.stage.locations[index].text,
                "line": source.of.get(index),
                "total": total,
                "own": cost.own.get(index, 0.0),
                "occurrences": cost.counts.get(index, 0),
            }
            for index, total in sorted(cost.total.items(), key=lambda item: (-item[1], item[0]))
        ],
        "left": [
            {"reason": reason, "time": sum(places.values()), "places": places}
            for reason, places in cost.left.items()
        ],
    }


def cost_page(cost: Cost) -> str:
    """Return the HTML page: the section alone."""
    title = f"Cost of {source_lines(cost.stage).name}"
    heading = element("h1", title)
    return html_page(title, heading, cost_section(cost), style=token_colors(), maker="cost")


def cost_section(cost: Cost) -> Html:
    """Return the section of a page: the operations that cost most, and the listing.

    The page has the style of all pages, and that of tokens.
    """
    source = source_lines(cost.stage)
    rows = [
        (*_times(cost, time), code(described(operation)))
        for operation, time in cost.hottest()
        if cost.share(time) >= _SHOWN
    ]
    for reason, places in cost.left.items():
        what = element("span", f"{reason} ({_some(places)})", kind="quiet")
        rows.append((*_times(cost, sum(places.values())), what))
    kinds = [
        (*_times(cost, time), count, code(name))
        for name, count, time in cost.kinds()
        if cost.share(time) >= _SHOWN
    ]
    listing = [
        _listed(cost, line)
        for line in listed_lines(cost, source)
        if cost.share(line.total) >= _SHOWN
    ]
    return joined(
        Html(f"<style>\n{_STYLE}</style>"),
        element("h2", "Cost of operations"),
        element("p", headline(cost, source)),
        table(kinds, ("time", "part", "operations", "kind")),
        element("h3", "Operations"),
        table(rows, ("time", "part", "operation")),
        element("h3", "Listing"),
        table(listing, ("total", "own", "line", ""), "listing hl"),
    )


def _times(cost: Cost, time: float) -> tuple[Cell, Cell]:
    return Cell(_time(cost, time), "n"), Cell(_part(cost, time), "n")


def _listed(cost: Cost, line: ListedLine) -> tuple[Cell, ...]:
    share = cost.share(line.own) * 100
    # The longer the own time, the wider the bar behind the line.
    bar = f"background: linear-gradient(90deg, var(--old) {share:.1f}%, transparent 0)"
    return (
        Cell(_part(cost, line.total), "n"),
        Cell(_part(cost, line.own), "n"),
        Cell(str(line.number), "n quiet"),
        Cell(highlighted(shortened(line.text, _WIDTH)), "code", style=bar if share >= 0.1 else ""),
    )
