"""The lineage of a chain of tools, joined by the IR that one prints and the next parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from actiondbg.errors import UsageError
from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.graph_lineage import GraphLineage
from actiondbg.lineage.lineage import Loss, Node, Step
from actiondbg.lineage.recorded.lineage import RecordedLineage
from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Ints

_MODULE = "builtin.module"


class ChainLineage(GraphLineage):
    """The ``Lineage`` over several runs; operations and actions are numbered through.

    Args:
        runs: the lineage of each run, in order.
        names: the name of each tool.

    Raises:
        UsageError: a tool printed other IR than the next one parsed.
    """

    def __init__(self, runs: Sequence[RecordedLineage], names: Sequence[str]) -> None:
        self._runs = runs
        self._names = names
        self._first_nodes = np.cumsum([0, *(run.graph.count for run in runs)]).tolist()
        self._first_ordinals = np.cumsum([0, *(run.action_count for run in runs)]).tolist()
        self._stages = [
            _numbered(stage, f"{stage.name} of {name}", first)
            for run, name, first in zip(runs, names, self._first_nodes, strict=False)
            for stage in run.stages
        ]

    @property
    def stages(self) -> Sequence[Stage]:
        return self._stages

    def events(self, number: int) -> Sequence[Step]:
        run = self._run_of(number, self._first_nodes)
        first, before = self._first_nodes[run], self._first_ordinals[run]
        found = self._runs[run].events(number - first)
        return [Step(step.evidence, number, number, (step.ordinal or 0) + before) for step in found]

    def node(self, number: int) -> Node:
        run = self._run_of(number, self._first_nodes)
        found = self._runs[run].node(number - self._first_nodes[run])
        return found._replace(number=number)

    def action(self, ordinal: int) -> str:
        """Name an action, with its tool."""
        run = self._run_of(ordinal - 1, self._first_ordinals)
        own = ordinal - self._first_ordinals[run]
        return f"{self._runs[run].action(own)} (#{own} of {self._names[run]})"

    def pass_of(self, ordinal: int) -> int | None:
        run = self._run_of(ordinal - 1, self._first_ordinals)
        first = self._first_ordinals[run]
        found = self._runs[run].pass_of(ordinal - first)
        return None if found is None else found + first

    @cached_property
    def graph(self) -> LineageGraph:
        """All edges, those between the tools included."""
        parts: list[Edges] = []
        for at, run in enumerate(self._runs):
            first, edges = self._first_nodes[at], run.graph.edges
            ordinals = np.where(edges.ordinals > 0, edges.ordinals + self._first_ordinals[at], 0)
            ends = edges.sources + first, edges.targets + first
            parts.append(Edges(*ends, edges.evidence, ordinals, edges.times))
            if at:
                parts.append(self._joint(at))
        return LineageGraph(Edges.joined(parts), self._first_nodes[-1])

    def loss(self, node: int, back: bool) -> Loss:
        run = self._run_of(node, self._first_nodes)
        first = self._first_nodes[run]
        found = self._runs[run].loss(node - first, back)
        ordinal = found.ordinal and found.ordinal + self._first_ordinals[run]
        return found._replace(node=node, ordinal=ordinal)

    def _paired(self, at: int, printed: Stage, parsed: Stage) -> Ints:
        """Return the indices of the operations of two stages that are the same, in pairs.

        The operations of both have to be the same ones, but for modules around them: which is
        which of operations with the same name, only the order shows.
        """
        columns = [np.arange(len(printed)), np.arange(len(parsed))]
        if list(printed.names) != list(parsed.names):
            columns = [_without_modules(printed), _without_modules(parsed)]
        ours, theirs = (
            [stage.names[index] for index in column]
            for stage, column in zip((printed, parsed), columns, strict=True)
        )
        if ours != theirs:
            number, one, other = next(
                (number, one, other)
                for number, (one, other) in enumerate(zip_longest(ours, theirs), 1)
                if one != other
            )
            raise UsageError(
                f"{self._names[at]} parsed other IR than {self._names[at - 1]} printed: operation "
                f"{number} is {other or 'missing'}, not {one or 'there'}."
            )
        return np.stack(columns, axis=1)

    @staticmethod
    def _run_of(number: int, firsts: Sequence[int]) -> int:
        return int(np.searchsorted(firsts[1:-1], number, side="right"))

    def _joint(self, at: int) -> Edges:
        """Return the edges from what one tool printed to what the next one parsed."""
        printed, parsed = self._runs[at - 1].stages[-1], self._runs[at].stages[0]
        if printed.name != "output":
            raise UsageError(
                f"{self._names[at - 1]} ended before its IR was complete: its output is unknown."
            )
        pairs = self._paired(at, printed, parsed)
        sources = np.asarray(printed.nodes, np.int64)[pairs[:, 0]] + self._first_nodes[at - 1]
        targets = np.asarray(parsed.nodes, np.int64)[pairs[:, 1]] + self._first_nodes[at]
        return Edges.of(sources, targets, Evidence.SAME, np.zeros(len(pairs), np.int64))


def _without_modules(stage: Stage) -> Ints:
    """Return the indices of operations: a tool that reads a text adds the module around it."""
    return np.array([at for at, name in enumerate(stage.names) if name != _MODULE], np.int64)


def _numbered(stage: Stage, name: str, first: int) -> Stage:
    """Return a stage with another name, its operations numbered from ``first`` on."""
    return replace(stage, name=name, nodes=[node + first for node in stage.nodes])
