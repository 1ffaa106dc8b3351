"""The picture of a tracking as SVG, for Graphviz, and as a page."""

from __future__ import annotations

import re
from collections import defaultdict

from actiondbg.lineage.pictures.graph import Box, Edge, Picture
from actiondbg.support.counts import shortened
from actiondbg.support.drawing import Drawing, text_width
from actiondbg.support.html_page import Html, asset, element, html_page, table

_STYLE = asset(__spec__.parent, "picture.css")
_MARGIN, _LINE, _GAP = 16.0, 15.0, 14.0
_HEAD = 64.0  # height of the titles
_LEAST = 40.0  # width between columns
_LONGEST = 44  # characters of a text in a box or at an edge
_BULGE = 28.0  # of an edge between boxes of one column

_ARGUMENTS = re.compile(r"<.*>")  # of a C++ template


def picture_svg(picture: Picture) -> Html:
    """Return a picture as an SVG document."""
    return _Layout(picture).svg()


def picture_dot(picture: Picture) -> str:
    """Return a picture as a graph for Graphviz's ``dot``."""
    lines = [
        f"digraph {_quoted(picture.title)} {{",
        "  rankdir=LR;",
        "  node [shape=box, fontname=monospace];",
    ]
    for column, title in enumerate(picture.columns):
        lines.append(f"  subgraph cluster_{column} {{ label={_quoted(title)};")
        for at, box in enumerate(picture.boxes):
            if box.column == column:
                label = "\n".join(part for part in (box.title, box.detail) if part)
                style = {"lost": ", color=red", "end": ", penwidth=2"}.get(box.kind, "")
                lines.append(f"    n{at} [label={_quoted(label)}{style}];")
        lines.append("  }")
    for edge in picture.edges:
        style = "" if edge.is_exact else ", style=dashed"
        lines.append(f"  n{edge.source} -> n{edge.target} [label={_quoted(edge.label)}{style}];")
    return "\n".join((*lines, "}\n"))


def picture_page(picture: Picture) -> str:
    """Return a picture as an HTML page, with its operations and steps as tables."""
    boxes = picture.boxes
    title = f"Lineage of {picture.title}"
    return html_page(
        title,
        element("h1", title),
        element("p", picture.note) if picture.note else "",
        element(
            "p",
            "Green: the operations asked for, and those reached. Red: where a way ended. Dashed: "
            "shown by source locations alone.",
            kind="quiet",
        ),
        element("div", picture_svg(picture), kind="wide"),
        element("h2", "Operations"),
        table(
            ((picture.columns[box.column], box.title, box.detail) for box in boxes),
            ("stage or pass", "operation", "location, or why its way ended"),
        ),
        element("h2", "Steps"),
        table(
            (
                (boxes[edge.source].title, boxes[edge.target].title, edge.label)
                for edge in picture.edges
            ),
            ("from", "to", "evidence and action"),
        ),
        maker="lineage",
    )


class _Layout:
    """The places of boxes and edges."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._incoming: dict[int, list[str]] = defaultdict(list)
        self._aside: dict[int, list[str]] = defaultdict(list)
        for edge in picture.edges:
            labels = (self._incoming if self._is_onward(edge) else self._aside)[edge.target]
            label = _label(edge)
            if label not in labels:
                labels.append(label)
        self._heights = [
            max(2 if box.detail else 1, len(self._incoming[at]), len(self._aside[at])) * _LINE + 10
            for at, box in enumerate(picture.boxes)
        ]
        self._lefts, self._widths, self._width = self._columns()
        self._tops, self._height = self._rows()

    def _is_onward(self, edge: Edge) -> bool:
        """Whether an edge leads to a later column."""
        boxes = self._picture.boxes
        return boxes[edge.source].column < boxes[edge.target].column

    def _columns(self) -> tuple[list[float], list[float], float]:
        """Return the left side and the width of each column, and the width of all."""
        lefts: list[float] = []
        widths: list[float] = []
        x = _MARGIN
        for column, title in enumerate(self._picture.columns):
            boxes = [at for at, box in enumerate(self._picture.boxes) if box.column == column]
            labels = [label for at in boxes for label in self._incoming[at]]
            longest = max(map(text_width, labels), default=0)
            if column:
                x += longest + _LEAST
            texts = [text for at in boxes for text in self._picture.boxes[at][1:3]]
            # The title of a column may be above the labels to the left of its boxes.
            width = max(text_width(shortened(one, _LONGEST)) for one in (*texts, title)) + 16
            lefts.append(x)
            widths.append(width)
            x += width
            aside = [label for at in boxes for label in self._aside[at]]
            x += max((text_width(label) + _BULGE for label in aside), default=0)
        return lefts, widths, x + _MARGIN

    def _rows(self) -> tuple[list[float], float]:
        """Return the top of each box, and the height of all: near the boxes before it."""
        boxes, edges = self._picture.boxes, self._picture.edges
        tops = [0.0] * len(boxes)
        lowest = _HEAD
        for column in range(len(self._picture.columns)):
            members = [at for at, box in enumerate(boxes) if box.column == column]
            wished = {at: _wish(at, edges, boxes, tops, self._heights) for at in members}
            y = _HEAD
            for at in sorted(members, key=lambda one: (wished[one], one)):
                tops[at] = y = max(y, min(wished[at], y + 400) - self._heights[at] / 2)
                y += self._heights[at] + _GAP
            lowest = max(lowest, y)
        return tops, lowest + _MARGIN

    def svg(self) -> Html:
        title = f"Lineage of {self._picture.title}"
        drawing = Drawing(title, "lineage", _STYLE)
        drawing.text(_MARGIN, 20, title)
        if self._picture.note:
            drawing.text(_MARGIN, 36, self._picture.note, kind="quiet")
        for left, column in zip(self._lefts, self._picture.columns, strict=True):
            drawing.text(left, _HEAD - 10, shortened(column, _LONGEST), kind="quiet")
        for edge in self._picture.edges:
            self._draw_edge(drawing, edge)
        for at, box in enumerate(self._picture.boxes):
            self._draw_box(drawing, at, box)
        note = text_width(self._picture.note) + 2 * _MARGIN
        return drawing.svg(max(self._width, note), self._height)

    def _draw_box(self, drawing: Drawing, at: int, box: Box) -> None:
        x, y = self._lefts[box.column], self._tops[at]
        hint = "\n".join(part for part in (box.title, box.detail) if part)
        width = self._widths[box.column]
        drawing.rectangle(x, y, width, self._heights[at], kind=box.kind, hint=hint)
        drawing.text(x + 8, y + 17, shortened(box.title, _LONGEST), kind="mono")
        if box.detail:
            detail = shortened(box.detail, _LONGEST)
            drawing.text(x + 8, y + 17 + _LINE, detail, kind="mono quiet")
        for place, label in enumerate(self._incoming[at]):
            row = y + 5 + _LINE * (place + 0.5)
            drawing.text(x - 8, row - 3, label, kind="quiet", anchor="end")
        for place, label in enumerate(self._aside[at]):
            row = y + 5 + _LINE * (place + 0.5)
            drawing.text(x + width + _BULGE, row + 4, label, kind="quiet")

    def _draw_edge(self, drawing: Drawing, edge: Edge) -> None:
        boxes = self._picture.boxes
        source, target = boxes[edge.source], boxes[edge.target]
        x0 = self._lefts[source.column] + self._widths[source.column]
        y0 = self._tops[edge.source] + self._heights[edge.source] / 2
        x1 = self._lefts[target.column]
        labels = self._incoming if self._is_onward(edge) else self._aside
        place = labels[edge.target].index(_label(edge))
        y1 = self._tops[edge.target] + 5 + _LINE * (place + 0.5)
        kind = "edge" if edge.is_exact else "edge guess"
        if not self._is_onward(edge):
            right = x1 + self._widths[target.column]
            drawing.loop(x0, y0, right, y1, _BULGE, kind=kind, hint=edge.label)
            return
        straight = x1 - min(text_width(_label(edge)) + 12, x1 - x0)
        drawing.curve(x0, y0, straight, y1, kind=kind, hint=edge.label)
        drawing.curve(straight, y1, x1, y1, kind=kind, hint=edge.label)


def _label(edge: Edge) -> str:
    """Return the label of an edge, short enough to be drawn."""
    return shortened(_ARGUMENTS.sub("<…>", edge.label), _LONGEST)


def _wish(
    at: int,
    edges: tuple[Edge, ...],
    boxes: tuple[Box, ...],
    tops: list[float],
    heights: list[float],
) -> float:
    """Return where the middle of a box would be best: at the mean of the boxes before it."""
    before = [
        tops[edge.source] + heights[edge.source] / 2
        for edge in edges
        if edge.target == at and boxes[edge.source].column < boxes[at].column
    ]
    return sum(before) / len(before) if before else _HEAD


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
