"""Reports as self-contained HTML pages, with the roofline: rates below the peaks of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from actiondbg.kernels.results.columns import PAGE_TABLE, SHARES, TableColumn, text_rows
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.words import (
    TITLE,
    bandwidth,
    digits,
    full_facts,
    milliseconds,
    model_weights,
    summary_of,
)
from actiondbg.support.html_page import (
    TABLES,
    Cell,
    Drawing,
    Html,
    Shown,
    TableRow,
    asset,
    code,
    element,
    facts,
    html_page,
    joined,
    pre,
    section,
    table,
)

_WIDTH, _HEIGHT = 900, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 24, 56  # margins
_MARGIN = 0.15  # around the points, in decades
_STEPS = (1, 2, 5)  # labelled in each decade
_COLORS = 6  # classes c0 to c5
# Beside the circle, around the place: a square, a diamond, a triangle up and one down.
_SHAPES = (
    "m-4.5 -4.5h9v9h-9z",
    "m0 -6l6 6l-6 6l-6 -6z",
    "m0 -5.5l6 10h-12z",
    "m0 5.5l6 -10h-12z",
)
_ANCHOR = "d"  # of an entry in the page, before its index
_LINE = 16  # labels that are closer overlap

_STYLE = """\
.kernels td { white-space: nowrap; } .kernels td.notes { white-space: normal; min-width: 16rem; }
.kernels tr:target { background: var(--soft); outline: 2px solid var(--quiet); }
.kernels tr.best code, .kernels .bad { font-weight: 600; }
svg.plot { max-width: 60rem; width: 100%; height: auto; display: block; }
.roofline { font: 12px system-ui, sans-serif; }
.legend span { margin-right: 1.5rem; white-space: nowrap; } .legend svg { vertical-align: -2px; }
.roofline text { fill: var(--text); } .roofline .quiet { fill: var(--quiet); }
.roofline .grid { stroke: var(--line); stroke-width: .6; }
.roofline .axis { stroke: var(--quiet); }
.roofline .roof { stroke: var(--text); stroke-width: 1.6; fill: none; }
.roofline .under { fill: var(--soft); }
.roofline .dot { stroke: var(--ground); stroke-width: 1; fill-opacity: .85; }
.roofline .cross { stroke: var(--bad); stroke-width: 2; }
.c0 { fill: #0969da; } .c1 { fill: #bc4c00; } .c2 { fill: #1a7f37; }
.c3 { fill: #8250df; } .c4 { fill: #bf3989; } .c5 { fill: #9a6700; }
@media (prefers-color-scheme: dark) {
  .c0 { fill: #58a6ff; } .c1 { fill: #f0883e; } .c2 { fill: #3fb950; }
  .c3 { fill: #bc8cff; } .c4 { fill: #f778ba; } .c5 { fill: #d29922; }
}
"""
_KIND = "kernels"  # the class of tables that are sorted
_ABOUT = (
    "Times are those of one call: the least of all repetitions, measured in turn with the other "
    "dispatches, with warm caches. The peak and the bandwidth are those of one core, as measured; "
    "the bandwidth is that of the smallest cache with room for the operands and the result, or of "
    "the memory. A call that does nothing takes the time of the column call ms, which the others "
    "include. The fastest configuration of each operation is bold."
)


@dataclass(frozen=True)
class _Point:
    """A dispatch in the plot, with the place of its entry in the report."""

    entry: Entry
    index: int
    intensity: float
    gflops: float


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis: from a low to a high value, from one position to another."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self) -> list[float]:
        """Return the labelled values: 1, 2 and 5 in each decade, or powers of ten if many."""
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = _STEPS if len(decades) <= 5 else _STEPS[:1]
        values = [float(f"{step}e{decade}") for decade in decades for step in steps]
        return [value for value in values if self.low <= value <= self.high]


def roofline_svg(entries: Sequence[Entry]) -> Html:
    """Return the plot as an SVG element with a legend, or "" if no dispatch has a rate."""
    points = [
        _Point(entry, index, entry.intensity, entry.gflops)
        for index, entry in enumerate(entries)
        if entry.intensity and entry.gflops
    ]
    if not points:
        return Html()
    plot = _Plot(points)
    picture = plot.drawn().svg(_WIDTH, _HEIGHT)
    return joined(picture, element("p", joined(*plot.legend()), kind="legend"))


class _Plot:
    """The elements of a plot, those below first."""

    def __init__(self, points: Sequence[_Point]) -> None:
        self._points = points
        self._roofs = _roofs(points)
        ridges = [peak * 1e9 / rate for peak, rate in self._roofs if rate is not None]
        self._x = _axis([*(point.intensity for point in points), *ridges], _LEFT, _WIDTH - _RIGHT)
        peaks = [peak for peak, _ in self._roofs]
        self._y = _axis([*(point.gflops for point in points), *peaks], _HEIGHT - _BOTTOM, _TOP)
        names = dict.fromkeys(_series(point) for point in points)
        self._series = {name: number for number, name in enumerate(names)}

    def drawn(self) -> Drawing:
        drawing = Drawing("GFLOP/s of each dispatch by its operations a byte", "roofline plot")
        for peak, rate in self._roofs[:1]:  # the area below the highest roof
            corners = [*self._roof(peak, rate), (self._x.end, self._y.start)]
            corners.append((corners[0][0], self._y.start))
            drawing.path(f"{_way(corners)}Z", kind="under")
        self._draw_grid(drawing)
        self._draw_roofs(drawing)
        for point in sorted(self._points, key=lambda each: each.entry.is_wrong):
            x, y = self._x.at(point.intensity), self._y.at(point.gflops)
            entry = point.entry
            text = f"{entry.dispatch}\n{digits(point.gflops)} GFLOP/s"
            if entry.least is not None:
                text += f", {milliseconds(entry.least)} ms"
            if entry.percent_of_roof is not None:
                text += f", {digits(entry.percent_of_roof)} % of the roof"
            text += f"\n{entry.verification.verdict}"
            with drawing.link(f"{_ANCHOR}{point.index}", text):
                series = None if point.entry.is_wrong else self._series[_series(point)]
                _draw_mark(drawing, series, x, y)
        return drawing

    def _draw_grid(self, drawing: Drawing) -> None:
        x, y = self._x, self._y
        for value in x.ticks():
            at = x.at(value)
            drawing.line(at, y.start, at, y.end, kind="grid")
            drawing.text(at, y.start + 18, f"{value:g}", anchor="middle")
        for value in y.ticks():
            at = y.at(value)
            drawing.line(x.start, at, x.end, at, kind="grid")
            drawing.text(x.start - 8, at + 4, f"{value:g}", anchor="end")
        drawing.line(x.start, y.start, x.end, y.start, kind="axis")
        drawing.line(x.start, y.start, x.start, y.end, kind="axis")
        middle = (x.start + x.end) / 2
        drawing.text(middle, _HEIGHT - 14, "operations a byte", kind="quiet", anchor="middle")
        drawing.text(x.start + 6, y.end - 8, "GFLOP/s", kind="quiet")

    def _draw_roofs(self, drawing: Drawing) -> None:
        places: list[tuple[float, float]] = []
        for peak, rate in self._roofs:
            drawing.path(_way(self._roof(peak, rate)), kind="roof")
            for text, x, y, anchor in self._roof_texts(peak, rate):
                # Roofs that were measured twice are nearly the same: one of them is labelled.
                if all(abs(x - left) + abs(y - top) > _LINE for left, top in places):
                    drawing.text(x, y, text, anchor=anchor)
                places.append((x, y))

    def _roof_texts(
        self, peak: float, rate: float | None
    ) -> Iterable[tuple[str, float, float, str]]:
        """Yield the labels of a roof with their places and anchors."""
        yield f"peak {digits(peak)} GFLOP/s", self._x.end - 6, self._y.at(peak) - 6, "end"
        if rate is not None:
            # In the middle of the longest slope: lower roofs with this bandwidth lie on it.
            highest = max(other for other, its_rate in self._roofs if its_rate == rate)
            (left, low), (right, high) = self._roof(highest, rate)[:2]
            # Below the slope: left of it there may be no room.
            yield bandwidth(rate), (left + right) / 2 + 8, (low + high) / 2 + 12, "start"

    def _roof(self, peak: float, rate: float | None) -> list[tuple[float, float]]:
        """Return the corners of a roof: up the slope of the bandwidth, then along the peak."""
        end = (self._x.end, self._y.at(peak))
        if rate is None:
            return [(self._x.start, self._y.at(peak)), end]
        ridge = peak * 1e9 / rate
        # The slope begins at the left border, or where it crosses the lower one.
        first = max(self._x.low, self._y.low * 1e9 / rate)
        start = (self._x.at(first), self._y.at(first * rate / 1e9))
        return [start, (self._x.at(ridge), self._y.at(peak)), end]

    def legend(self) -> Iterable[Html]:
        for name, number in self._series.items():
            yield _explained(number, name)
        if any(point.entry.is_wrong for point in self._points):
            yield _explained(None, "wrong")


def _explained(series: int | None, name: str) -> Html:
    """Return the mark of a series, or of wrong results for None, with its name."""
    drawing = Drawing(name, "roofline")
    _draw_mark(drawing, series, 7, 7)
    return element("span", drawing.svg(14, 14), name)


def _draw_mark(drawing: Drawing, series: int | None, x: float, y: float) -> None:
    """Draw a cross for None; a circle for the series of the first colours, then other shapes."""
    if series is None:
        cross = f"M{x - 5} {y - 5}L{x + 5} {y + 5}M{x - 5} {y + 5}L{x + 5} {y - 5}"
        drawing.path(cross, kind="cross")
        return
    color, shape = series % _COLORS, series // _COLORS % (1 + len(_SHAPES))
    if shape:
        drawing.path(f"M{x} {y}{_SHAPES[shape - 1]}", kind=f"dot c{color}")
    else:
        drawing.circle(x, y, 5, kind=f"dot c{color}")


def _roofs(points: Sequence[_Point]) -> list[tuple[float, float | None]]:
    """Return the peaks with their bandwidths, each once, the highest first."""
    found = {
        (point.entry.peak_gflops, point.entry.peak_bandwidth)
        for point in points
        if point.entry.peak_gflops
    }
    return sorted(found, key=lambda roof: (-roof[0], -(roof[1] or 0)))


def _axis(values: Sequence[float], start: float, end: float) -> _Axis:
    low = 10 ** (log10(min(values)) - _MARGIN)
    high = 10 ** (log10(max(values)) + _MARGIN)
    return _Axis(low, high, start, end)


def _series(point: _Point) -> str:
    return f"{point.entry.provider}: {point.entry.kind}"


def _way(corners: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x},{y}" for x, y in corners)


def to_html(entries: Sequence[Entry], title: str = "Kernels") -> str:
    """Return a report: a roofline plot, a table of all dispatches, and the wrong ones in full."""
    wrong = [entry for entry in entries if entry.is_wrong]
    return html_page(
        title,
        element("h1", title),
        element("p", summary_of(entries)),
        section("Roofline", roofline_svg(entries), name="roofline"),
        section(
            "Dispatches",
            element("p", _ABOUT) if any(entry.seconds for entry in entries) else "",
            _table(entries),
            name="dispatches",
        ),
        _shares(entries),
        section("Wrong", *map(_in_full, wrong), name="wrong"),
        style=_STYLE,
        scripts=[asset(*TABLES), f"sortTables({_KIND!r});"],
        maker="kernels",
    )


def _table(entries: Sequence[Entry]) -> Html:
    tags = list(dict.fromkeys(name for entry in entries for name in entry.tags))
    best = _best(entries)
    rows = (_row(index, entry, tags, index in best) for index, entry in enumerate(entries))
    heads = (Cell(each.heading, "n" if each.is_number else "") for each in PAGE_TABLE)
    return element("div", table(rows, (*tags, *heads), _KIND), kind="wide")


def _shares(entries: Sequence[Entry]) -> Html:
    weights = model_weights(entries)
    if not weights.weights:
        return Html()

    head, *rows = (
        [Cell(cell, "n" if it.is_number else "") for it, cell in zip(SHARES, cells, strict=True)]
        for cells in text_rows(SHARES, weights.weights)
    )
    shares = element("div", table(rows, head, _KIND), kind="wide")
    return section(TITLE, element("p", weights.summary), shares, name="shares")


def _best(entries: Sequence[Entry]) -> set[int]:
    """Return the indices of the fastest right entries of operations with several."""
    by_operation: dict[str, list[tuple[float, int]]] = {}
    for index, entry in enumerate(entries):
        if entry.least is not None and not entry.is_wrong and not entry.is_above_peak:
            by_operation.setdefault(entry.operation, []).append((entry.least, index))
    return {min(found)[1] for found in by_operation.values() if len(found) > 1}


def _row(index: int, entry: Entry, tags: Sequence[str], is_best: bool) -> TableRow:
    cells = [*(entry.tags.get(name, "") for name in tags), *(_cell(it, entry) for it in PAGE_TABLE)]
    return TableRow(cells, f"{_ANCHOR}{index}", "best" if is_best else "")


def _cell(column: TableColumn[Entry], entry: Entry) -> Shown:
    value = column.value(entry)
    if column.words is not None:
        return Cell("" if value is None else column.words(value), "n", value)
    match column.heading:
        case "dispatch":
            return code(value)
        case "verified":
            return Cell(value, "bad" if entry.is_wrong else "good" if value == "SUCCESS" else "")
        case "notes":
            return Cell(value, "notes")
        case _:
            return value


def _in_full(entry: Entry) -> Html:
    return joined(
        element("h3", code(entry.dispatch)),
        facts(full_facts(entry).items()),
        pre([*entry.verification.first, *entry.verification.map.splitlines()]),
    )
