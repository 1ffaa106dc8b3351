"""Flows between kinds of operations as a Sankey diagram."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from actiondbg.lineage.questions.flows import Flows
from actiondbg.support.counts import shortened
from actiondbg.support.html_page import (
    Drawing,
    Html,
    as_script,
    asset,
    element,
    html_page,
    joined,
    table,
    text_width,
)

# Colours that are told apart by readers with any colour vision, after Okabe and Ito.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b59d00")
LOST = "#8c959f"

_STYLE = asset(__spec__.parent, "picture.css")
_MARGIN, _HEAD, _BAR, _GAP = 16.0, 52.0, 14.0, 16.0
_HEIGHT = 520.0  # of the bars of a column
_BETWEEN = 300.0  # columns
_LEAST = 1.0  # height of a bar
_LONGEST = 40  # characters of a name
_SCRIPTS = ("d3-min.js", "d3-sankey.min.js", "sankey.js")


def sankey_svg(flows: Flows, title: str) -> Html:
    """Return a Sankey diagram as an SVG document."""
    return _Layout(flows).svg(title)


def sankey_page(flows: Flows, title: str) -> str:
    """Return a page with a Sankey diagram, which d3-sankey lays out, and the flows as a table."""
    heading = element("h1", title)
    return html_page(
        title, heading, sankey_section(flows, title), scripts=[sankey_script()], maker="lineage"
    )


def sankey_section(flows: Flows, title: str) -> Html:
    """Return a Sankey diagram and the flows as HTML, for a page with ``sankey_script``.

    The picture is complete without the script, which makes it movable.
    """
    names = [f"{kind.name} ({flows.columns[kind.column]})" for kind in flows.kinds]
    data = {
        "columns": flows.columns,
        "nodes": [
            {"name": kind.name, "column": kind.column, "color": color, "value": kind.value}
            for kind, color in zip(flows.kinds, colors(flows), strict=True)
        ],
        "links": [flow._asdict() for flow in flows.flows],
    }
    return joined(
        Html(f"<!--\nThe script contains d3-sankey.\n\n{_asset('d3-sankey.LICENSE').strip()}\n-->"),
        Html(f"<style>\n{_asset('sankey.css')}</style>"),
        element(
            "p",
            "Each operation of the input counts as one, divided evenly among the kinds that it "
            "became. Move the pointer over a kind to see where its operations come from and go; "
            "drag it to move it.",
            kind="quiet",
        ),
        Html(f'<div id="sankey">{sankey_svg(flows, title)}</div>'),
        Html(f'<script type="application/json" id="sankey-data">{as_script(data)}</script>'),
        element(
            "details",
            element("summary", "The flows as a table"),
            table(
                (
                    (names[flow.source], names[flow.target], amount(flow.value))
                    for flow in sorted(flows.flows, key=lambda one: -one.value)
                ),
                ("from", "to", "operations"),
            ),
        ),
    )


def sankey_script() -> str:
    """Return the script that lays out the diagram of a section."""
    return "\n".join(map(_asset, _SCRIPTS))


def _asset(name: str) -> Html:
    return asset(__spec__.parent, name)


def colors(flows: Flows) -> list[str]:
    """Return the colour of each kind: one for each dialect, and grey for reasons."""
    dialects = dict.fromkeys(
        kind.name.partition(".")[0] for kind in flows.kinds if not kind.is_lost
    )
    of_dialect = {name: COLORS[at % len(COLORS)] for at, name in enumerate(dialects)}
    return [
        LOST if kind.is_lost else of_dialect[kind.name.partition(".")[0]] for kind in flows.kinds
    ]


def amount(value: float) -> str:
    """Return a number of operations, which may be fractional."""
    return f"{value:,.0f}" if abs(value - round(value)) < 0.05 else f"{value:,.1f}"


class _Layout:
    """The places of bars and bands."""

    def __init__(self, flows: Flows) -> None:
        self._flows = flows
        self._scale = self._find_scale()
        self._tops = [0.0] * len(flows.kinds)
        for column in range(len(flows.columns)):
            self._place(column)
        longest = max((text_width(self._label(at)) for at in range(len(flows.kinds))), default=0)
        self._between = max(_BETWEEN, longest + 80)
        self._last = longest + 12

    def _find_scale(self) -> float:
        """Return the height of one operation, so that the largest column fits."""
        totals: dict[int, float] = defaultdict(float)
        for kind in self._flows.kinds:
            totals[kind.column] += kind.value
        return _HEIGHT / max(*totals.values(), 1e-9, 1)

    def _height(self, at: int) -> float:
        return max(self._flows.kinds[at].value * self._scale, _LEAST)

    def _place(self, column: int) -> None:
        """Stack the bars of a column in the order of the bars that they come from."""
        kinds = self._flows.kinds
        members = [at for at, kind in enumerate(kinds) if kind.column == column]
        y = _HEAD
        for at in sorted(members, key=lambda one: (kinds[one].is_lost, self._mean(one), one)):
            self._tops[at] = y
            y += max(self._height(at), 6) + _GAP

    def _mean(self, at: int) -> float:
        """Return the mean height at which the operations of a bar come from the column before."""
        incoming = [flow for flow in self._flows.flows if flow.target == at]
        total = sum(flow.value for flow in incoming)
        if not total:
            return 0.0
        middle = (
            flow.value * (self._tops[flow.source] + self._height(flow.source) / 2)
            for flow in incoming
        )
        return sum(middle) / total

    def svg(self, title: str) -> Html:
        drawing = Drawing(title, "lineage", _STYLE)
        kinds = self._flows.kinds
        shades = colors(self._flows)
        drawing.text(_MARGIN, 20, title)
        for column, name in enumerate(self._flows.columns):
            drawing.text(self._left(column), _HEAD - 12, shortened(name, _LONGEST), kind="quiet")
        self._draw_bands(drawing, shades)
        bottom = _HEAD
        for at, kind in enumerate(kinds):
            x, y, height = self._left(kind.column), self._tops[at], self._height(at)
            drawing.rectangle(x, y, _BAR, height, fill=shades[at], hint=self._label(at))
            drawing.text(x + _BAR + 6, y + max(height, 6) / 2 + 4, self._label(at))
            bottom = max(bottom, y + height)
        width = self._left(len(self._flows.columns) - 1) + _BAR + self._last
        width = max(width, text_width(title) + 2 * _MARGIN)
        return drawing.svg(width, bottom + 2 * _MARGIN)

    def _draw_bands(self, drawing: Drawing, shades: Sequence[str]) -> None:
        """Draw the flows; those of a bar are in the order of their other ends."""
        kinds, flows = self._flows.kinds, self._flows.flows
        starts = {at: self._tops[at] for at in range(len(kinds))}
        ends = dict(starts)
        from_top = sorted(flows, key=lambda one: (self._tops[one.source], self._tops[one.target]))
        to_top = sorted(flows, key=lambda one: (self._tops[one.target], self._tops[one.source]))
        y0: dict[tuple[int, int], float] = {}
        for flow in from_top:
            y0[flow.source, flow.target] = starts[flow.source] + flow.value * self._scale / 2
            starts[flow.source] += flow.value * self._scale
        for flow in to_top:
            y1 = ends[flow.target] + flow.value * self._scale / 2
            ends[flow.target] += flow.value * self._scale
            source, target = kinds[flow.source], kinds[flow.target]
            drawing.curve(
                self._left(source.column) + _BAR,
                y0[flow.source, flow.target],
                self._left(target.column),
                y1,
                kind="band",
                color=shades[flow.source],
                width=max(flow.value * self._scale, _LEAST / 2),
                hint=f"{source.name} to {target.name}: {amount(flow.value)}",
            )

    def _left(self, column: int) -> float:
        return _MARGIN + column * (self._between + _BAR)

    def _label(self, at: int) -> str:
        kind = self._flows.kinds[at]
        return f"{shortened(kind.name, _LONGEST)} {amount(kind.value)}"


def flows_title(flows: Flows) -> str:
    """Return the title of the flows of a program."""
    total = sum(kind.value for kind in flows.kinds if kind.column == 0)
    return f"What {amount(total)} operations became: {' to '.join(flows.columns)}"
