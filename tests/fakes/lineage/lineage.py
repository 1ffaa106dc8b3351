"""A lineage of a few written operations and steps, which tracks by walking the steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from actiondbg.lineage.lineage import (
    Evidence,
    LineageStep,
    Loss,
    Node,
    StageRelation,
    Trace,
    Tracking,
)
from actiondbg.lineage.locations import Location
from actiondbg.lineage.stage import Operation, Stage

_LINE = re.compile(r"( *)(\d+) ([\w.]+)(?: @([\w.]+))?(?: (%\w+))?(?: loc\((.*)\))?(.*)")


def written_stage(name: str, text: str) -> Stage:
    """Return a stage from lines such as ``  12 arith.addi @symbol %0 loc("a.mlir":3:5)``."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_LINE.fullmatch(line) for line in lines]
    assert all(found), lines
    groups = [match.groups() for match in found if match]
    depths = [len(group[0]) // 2 for group in groups]
    parents: list[int] = []
    for at, depth in enumerate(depths):
        around = (before for before in range(at - 1, -1, -1) if depths[before] == depth - 1)
        parents.append(next(around, -1))
    ends = [
        next((after for after in range(at + 1, len(depths)) if depths[after] <= depth), len(depths))
        for at, depth in enumerate(depths)
    ]
    return Stage(
        name=name,
        text="\n".join(lines),
        nodes=[int(group[1]) for group in groups],
        names=[group[2] for group in groups],
        parents=parents,
        lines=list(range(1, len(lines) + 1)),
        last_lines=ends,
        results=[group[4] or "" for group in groups],
        symbols={at: group[3] for at, group in enumerate(groups) if group[3]},
        symbol_uses={},
        locations=[Location(group[5] or "unknown") for group in groups],
    )


class FakeLineage:
    """A lineage.

    Args:
        stages: in the order of time.
        steps: in the order of time.
        actions: by ordinal, names such as ``pattern:FuseX``, or ``pass:cse``; a pass is around
            the actions from its ordinal to the next pass.
        losses: by the number of the operation.
        nodes: operations that are in no stage.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        steps: Sequence[LineageStep],
        actions: Mapping[int, str] | None = None,
        losses: Iterable[Loss] = (),
        nodes: Iterable[Node] = (),
    ) -> None:
        self.stages = stages
        self._steps = list(steps)
        self._actions = actions or {}
        self._losses = {loss.node: loss for loss in losses}
        self._nodes = {node.number: node for node in nodes}
        for stage in stages:
            for one in stage:
                self._nodes.setdefault(one.node, Node(one.node, one.name, one.location.text))

    @property
    def is_recorded(self) -> bool:
        return True

    def track(
        self,
        operations: Iterable[Operation],
        to: Stage,
        *,
        exact: bool = False,
        nested: bool | None = None,
    ) -> Tracking:
        given = list(operations)
        order = list(self.stages)
        back = bool(given) and order.index(to) < order.index(given[0].stage)
        traces: dict[int, Trace] = {}
        losses: dict[int, Loss] = {}
        asked = (at for one in given for at in one.stage.asked(one.index, nested))
        for index in asked:
            for node, steps in self._reached(given[0].stage.nodes[index], back, exact).items():
                if (found := to.of_node(node)) is not None:
                    traces.setdefault(found.index, Trace(found, steps))
                if node in self._losses and (self._losses[node].why == "inserted") == back:
                    losses[node] = self._losses[node]
        return Tracking(tuple(traces[at] for at in sorted(traces)), tuple(losses.values()))

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> StageRelation:
        rows = [
            (operation.index, trace.operation.index, trace.is_exact)
            for operation in source
            for trace in self.track([operation], target, exact=exact).traces
        ]
        sources, targets, are_exact = zip(*rows, strict=True) if rows else ((), (), ())
        return StageRelation(sources, targets, are_exact)

    def steps(self, *, exact: bool = False) -> Iterator[LineageStep]:
        return (step for step in self._steps if step.evidence.is_exact or not exact)

    def events(self, number: int) -> Sequence[LineageStep]:
        return ()

    def node(self, number: int) -> Node:
        return self._nodes[number]

    def action(self, ordinal: int) -> str:
        return self._actions[ordinal]

    def pass_of(self, ordinal: int) -> int | None:
        passes = (one for one in sorted(self._actions, reverse=True) if one <= ordinal)
        return next((one for one in passes if self._actions[one].startswith("pass:")), None)

    def _reached(self, node: int, back: bool, exact: bool) -> dict[int, tuple[LineageStep, ...]]:
        steps = list(self.steps(exact=exact))
        reached: dict[int, tuple[LineageStep, ...]] = {node: ()}
        for step in reversed(steps) if back else steps:
            start, end = (step.target, step.source) if back else (step.source, step.target)
            if start in reached and end not in reached:
                way = reached[start]
                reached[end] = (step, *way) if back else (*way, step)
        return reached


def replaced(source: int, target: int, ordinal: int) -> LineageStep:
    """Return the step of a replacement."""
    return LineageStep(Evidence.REPLACED, source, target, ordinal)


def convolutions(fused: int = 3, others: int = 4, folded: int = 1) -> FakeLineage:
    """Return a lineage of convolutions: some became a matmul, some a convolution, some a constant.

    A pattern of the pass ``decompose`` makes a tosa.matmul of the first ones; ``tosa-to-linalg``
    replaces that by linalg.matmul, and the others by linalg.conv_2d. All lines of the input have
    locations in ``model.mlir``.
    """
    count = fused + others + folded
    all_of, fused_of = range(1, count + 1), range(1, fused + 1)
    other_of = range(fused + 1, fused + others + 1)
    sources = [f'    {at} tosa.conv2d %{at} loc("model.mlir":{at}:5)' for at in all_of]
    head = (
        '91000 builtin.module loc("model.mlir":90:1)\n'
        '  91001 func.func @main loc("model.mlir":91:1)\n'
    )
    first = written_stage("input", head + "\n".join(sources))
    targets = [f'    {10000 + at} linalg.matmul loc("model.mlir":{at}:5)' for at in fused_of]
    targets += [f"    {20000 + at} linalg.conv_2d loc(unknown)" for at in other_of]
    targets += ["    90000 tensor.empty"]
    last = written_stage("output", head + "\n".join(targets))
    actions = {1: "pass:canonicalize", 2: "pattern:FoldConv", 10: "pass:decompose"}
    actions |= {
        11: "pattern:ConvIsMatmul",
        20: "pass:tosa-to-linalg",
        21: "pattern:MatmulConverter",
    }
    actions |= {22: "pattern:ConvConverter"}
    steps = [replaced(at, 30000 + at, 11) for at in fused_of]
    steps += [replaced(30000 + at, 10000 + at, 21) for at in fused_of]
    steps += [replaced(at, 20000 + at, 22) for at in other_of]
    nodes = [Node(30000 + at, "tosa.matmul", f'"model.mlir":{at}:5') for at in fused_of]
    losses = [Loss(at, "folded", 2) for at in all_of[fused + others :]]
    return FakeLineage([first, last], steps, actions, [*losses, Loss(90000, "inserted", 22)], nodes)
