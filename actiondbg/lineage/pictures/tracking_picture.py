"""The picture of a tracking as boxes in columns; drawn as SVG, for Graphviz, and as a page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from actiondbg.lineage.level import Level
from actiondbg.lineage.lineage import Lineage, LineageStep, Loss, Trace, Tracking
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.lineage.units import function_of, rolled_up
from actiondbg.support.counts import counted, shortened
from actiondbg.support.html_page import Drawing, Html, asset, element, html_page, table, text_width
from actiondbg.support.output_file import write_file

_MOST_BOXES = 50  # of more operations, those of one kind in a column are one box

_FILE = re.compile(r'"(?:[^"]*/)?([^"/]*)"')  # a quoted path: its last component is enough


class Box(NamedTuple):
    """An operation, or operations of one kind that are summarised.

    Args:
        column: the index of the column.
        title: such as ``@12 linalg.matmul`` or ``12 x arith.constant``.
        detail: the source location, or why it was lost.
        nodes: the numbers of the operations.
        kind: ``box``; ``end`` for one of the operations asked for or reached; ``lost``.
    """

    column: int
    title: str
    detail: str
    nodes: tuple[int, ...]
    kind: str


class Edge(NamedTuple):
    """Steps from one box to another.

    Args:
        source: the index of the earlier box.
        target: the index of the later box.
        label: the evidence and the action.
        is_exact: whether the compiler showed it.
    """

    source: int
    target: int
    label: str
    is_exact: bool


@dataclass(frozen=True)
class Picture:
    """Boxes in columns, and the edges between them.

    Args:
        title: of the picture.
        columns: the title of each column: a stage or a pass.
        boxes: by column.
        edges: each once.
        note: a sentence if operations are summarised; else empty.
    """

    title: str
    columns: tuple[str, ...]
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    note: str


def tracked_ways(
    lineage: Lineage,
    operations: Iterable[Operation],
    to: Stage,
    *,
    level: Level = "operation",
    exact: bool = False,
    nested: bool | None = None,
) -> Tracking:
    """Return what operations became, or came from, with ways of each of them.

    Of operations that are tracked together, only the nearest has a way to what they all became.

    Args:
        level: the units that answer for all operations reached; see ``rolled_up``.
        to, exact, nested: see ``Lineage.track``.
    """
    each = [lineage.track([one], to, exact=exact, nested=nested) for one in operations]
    reached = [operation for one in each for operation in one.operations]
    found = [rolled_up(one, level, reached) for one in each]
    return Tracking(
        tuple(trace for one in found for trace in one.traces),
        tuple(dict.fromkeys(loss for one in found for loss in one.losses)),
    )


def picture(
    lineage: Lineage,
    operations: Sequence[Operation],
    tracking: Tracking,
) -> Picture:
    """Return the picture of what operations became, or came from.

    Args:
        lineage: of the operations.
        operations: those that were tracked.
        tracking: what they became, or came from.
    """
    steps = list(dict.fromkeys(step for trace in tracking.traces for step in trace.steps))
    scene = _Scene(lineage, operations, tracking, steps)
    boxes = [_single(scene, node) for node in scene.nodes]
    note = ""
    if len(boxes) > _MOST_BOXES:
        boxes = _summarised(scene)
        note = (
            f"{counted(len(scene.nodes), 'operation')} are drawn as "
            f"{counted(len(boxes), 'box')}: those of one kind "
            "in a column are one."
        )
    boxes.sort(key=lambda box: box.column)
    place = {node: at for at, box in enumerate(boxes) for node in box.nodes}
    return Picture(
        _title(operations),
        tuple(scene.columns),
        tuple(boxes),
        _edges(scene, steps, place),
        note,
    )


class _Scene:
    """The operations of a tracking with their columns."""

    def __init__(
        self,
        lineage: Lineage,
        operations: Sequence[Operation],
        tracking: Tracking,
        steps: Sequence[LineageStep],
    ) -> None:
        self._lineage = lineage
        self._stages = lineage.stages
        self.losses: dict[int, Loss] = {loss.node: loss for loss in tracking.losses}
        self.asked = {operation.node: operation for operation in operations}
        self.reached = {trace.operation.node: trace.operation for trace in tracking.traces}
        self._made: dict[int, LineageStep] = {}
        for step in steps:
            if step.source != step.target:
                self._made.setdefault(step.target, step)
        ends = (*self.asked, *self.reached, *self.losses)
        middle = (node for step in steps for node in (step.source, step.target))
        self.units = [pair for trace in tracking.traces for pair in _around(trace)]
        self.nodes = list(dict.fromkeys((*ends, *middle, *(inner for inner, _ in self.units))))
        keys = {node: self._key(node) for node in self.nodes}
        order = sorted(set(keys.values()))
        self.columns = [title for _, title in order]
        self.column_of = {node: order.index(key) for node, key in keys.items()}

    def _key(self, node: int) -> tuple[int, str]:
        """Return when an operation was made and the title of the column."""
        made = self._made.get(node)
        if made is not None and made.ordinal is not None:
            around = self._lineage.pass_of(made.ordinal)
            shown = made.ordinal if around is None else around
            return shown, f"{self._lineage.action(shown)} #{shown}"
        for at, stage in enumerate(self._stages):
            if stage.of_node(node) is not None and (made is None or at):
                # A stage that is not made by an action is before or after all actions.
                last = at == len(self._stages) - 1 and at > 0
                return ((1 << 62) + at if last else at - len(self._stages)), stage.name
        return -len(self._stages), self._stages[0].name

    def operation(self, node: int) -> Operation | None:
        """Return an operation of a stage with a number."""
        if node in self.asked:
            return self.asked[node]
        if node in self.reached:
            return self.reached[node]
        found = (stage.of_node(node) for stage in self._stages)
        return next((one for one in found if one is not None), None)

    def name(self, node: int) -> str:
        """Return the name of an operation."""
        return self._lineage.node(node).name

    def label(self, node: int) -> str:
        """Return how users refer to an operation."""
        if self._lineage.is_recorded:
            return f"@{node}"
        operation = self.operation(node)
        return f"line {operation.line}" if operation is not None else ""

    def location(self, node: int) -> str:
        """Return the source location of an operation."""
        text = self._lineage.node(node).location
        return "" if text in ("", "unknown") else _FILE.sub(r"\1", text)

    def loss(self, node: int) -> str:
        """Return why an operation has no heir or no origin; an empty text if it has."""
        loss = self.losses.get(node)
        if loss is None:
            return ""
        if loss.ordinal is None:
            return loss.why
        return f"{loss.why} by #{loss.ordinal} {self._lineage.action(loss.ordinal)}"

    def kind(self, node: int) -> str:
        """Return the class of the box of an operation."""
        if node in self.losses:
            return "lost"
        return "end" if node in self.asked or node in self.reached else "box"

    def edge_label(self, step: LineageStep, *, has_ordinal: bool = True) -> str:
        """Return the evidence of a step and the action."""
        if step.ordinal is None:
            return str(step.evidence)
        number = f" #{step.ordinal}" if has_ordinal else ""
        return f"{step.evidence}{number} {self._lineage.action(step.ordinal)}"


def _title(operations: Sequence[Operation]) -> str:
    if len(operations) == 1:
        inside = function_of(operations[0])
        return f"{operations[0].name}{f' in {inside}' if inside else ''}"
    names = Counter(operation.name for operation in operations).most_common(3)
    shown = ", ".join(f"{count} {name}" for name, count in names)
    return shown or "no operations"


def _single(scene: _Scene, node: int) -> Box:
    title = f"{scene.label(node)} {scene.name(node)}".strip()
    detail = scene.loss(node) or scene.location(node)
    return Box(scene.column_of[node], title, detail, (node,), scene.kind(node))


def _summarised(scene: _Scene) -> list[Box]:
    """Return one box for the operations of one kind in a column."""
    groups: dict[tuple[int, str, str, str], list[int]] = defaultdict(list)
    for node in scene.nodes:
        loss = scene.losses.get(node)
        why = loss.why if loss is not None else ""
        groups[scene.column_of[node], scene.name(node), scene.kind(node), why].append(node)
    return [
        _single(scene, nodes[0])
        if len(nodes) == 1
        else Box(column, f"{len(nodes):,} x {name}", why, tuple(nodes), kind)
        for (column, name, kind, why), nodes in groups.items()
    ]


def _edges(scene: _Scene, steps: Iterable[LineageStep], place: dict[int, int]) -> tuple[Edge, ...]:
    """Return the edges between boxes; the steps between two boxes are one edge for each label."""
    found: dict[tuple[int, int, str, bool], list[LineageStep]] = defaultdict(list)
    for step in steps:
        ends = place[step.source], place[step.target]
        if ends[0] != ends[1]:
            label = scene.edge_label(step, has_ordinal=False)
            found[*ends, label, step.evidence.is_exact].append(step)
    inside = dict.fromkeys((place[inner], place[unit]) for inner, unit in scene.units)
    return tuple(
        Edge(
            source,
            target,
            scene.edge_label(those[0]) if len(those) == 1 else f"{len(those):,} x {label}",
            is_exact,
        )
        for (source, target, label, is_exact), those in found.items()
    ) + tuple(Edge(inner, unit, "inside", True) for inner, unit in inside if inner != unit)


def _around(trace: Trace) -> Iterator[tuple[int, int]]:
    """Yield the operation reached, and the unit around it, if the way does not pass the unit."""
    unit = trace.operation.node
    passed = {node for step in trace.steps for node in (step.source, step.target)}
    if trace.inside is not None and unit not in passed:
        yield trace.inside.node, unit


# --- formats ---


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


def write_picture(
    picture: Picture, *, svg: Path | None, html: Path | None, dot: Path | None
) -> list[str]:
    """Write a picture in each format that has a file; return the names of the files.

    Raises:
        FileNotWritten: a file cannot be written.
        UsageError: a file is a recording, which stays as it is.
    """
    files = ((svg, picture_svg), (html, picture_page), (dot, picture_dot))
    named = [(path, draw) for path, draw in files if path is not None]
    for path, draw in named:
        write_file(path, draw(picture))
    return [str(path) for path, _ in named]


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
