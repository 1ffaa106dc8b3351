"""The picture of a tracking as boxes in columns, before it is drawn."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from actiondbg.lineage.lineage import Lineage, Loss, Step, Trace, Tracking
from actiondbg.lineage.stage import Operation
from actiondbg.lineage.units import function_of
from actiondbg.support.counts import counted

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
        steps: Sequence[Step],
    ) -> None:
        self._lineage = lineage
        self._stages = lineage.stages
        self.losses: dict[int, Loss] = {loss.node: loss for loss in tracking.losses}
        self.asked = {operation.node: operation for operation in operations}
        self.reached = {trace.operation.node: trace.operation for trace in tracking.traces}
        self._made: dict[int, Step] = {}
        for step in steps:
            if step.source != step.target:
                self._made.setdefault(step.target, step)
        ends = (*self.asked, *self.reached, *self.losses)
        middle = (node for step in steps for node in (step.source, step.target))
        self.units = [(end, unit) for trace in tracking.traces for end, unit in _around(trace)]
        self.nodes = list(dict.fromkeys((*ends, *middle)))
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

    def edge_label(self, step: Step, *, has_ordinal: bool = True) -> str:
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


def _edges(scene: _Scene, steps: Iterable[Step], place: dict[int, int]) -> tuple[Edge, ...]:
    """Return the edges between boxes; the steps between two boxes are one edge for each label."""
    found: dict[tuple[int, int, str, bool], list[Step]] = defaultdict(list)
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
    """Yield the end of a way, and the unit around it, if there is a unit."""
    unit = trace.operation.node
    ends = [step.target for step in trace.steps] + [step.source for step in trace.steps]
    if trace.steps and unit not in ends:
        yield trace.steps[-1].target, unit
