"""Lineages whose steps are the edges of a graph: of a recorded run, of a chain of tools."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from actiondbg.lineage.graph import LineageGraph
from actiondbg.lineage.lineage import (
    LineageStep,
    Loss,
    StageRelation,
    Trace,
    Tracking,
)
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.recording.format.arrow import Ints


def with_bodies(source: Stage, rows: Ints, columns: Ints, size: int) -> Ints:
    """Return related pairs of operations, and pairs of the operations around the earlier ones.

    An operation around others is related to what the operations in its body are related to, if it
    has a body that answers for it.

    Args:
        source: the earlier stage.
        rows: of each pair, the index in the earlier stage.
        columns: of each pair, the index in the later stage.
        size: the number of operations of the later stage.
    """
    around = np.asarray(source.parents, np.int64)
    bodies = np.array([source.has_body(index) for index in range(len(source))], np.bool_)
    parts: list[Ints] = []
    while len(rows):
        parts.append(rows * max(size, 1) + columns)
        rows = around[rows]
        # Beyond an operation without a body nothing answers for what is in it.
        inside = (rows >= 0) & bodies[rows]
        rows, columns = rows[inside], columns[inside]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


class GraphLineage(ABC):
    """A ``Lineage`` whose steps are the edges of a graph; its stages number operations alike."""

    is_recorded = True

    @property
    @abstractmethod
    def stages(self) -> Sequence[Stage]: ...

    @cached_property
    @abstractmethod
    def graph(self) -> LineageGraph:
        """All edges."""

    @abstractmethod
    def loss(self, node: int, back: bool) -> Loss:
        """Describe an operation that nothing was made from, or, back, that has no origin."""

    def other_part(self, node: int, stage: Stage) -> str | None:
        """Return why an operation is not in a stage that has another part of a split input.

        The reason is a ``why`` of ``Loss``; None if the stage has the part of the operation.
        """
        return None

    def steps(self, *, exact: bool = False) -> Iterator[LineageStep]:
        return self._graph(exact).steps()

    def _graph(self, exact: bool) -> LineageGraph:
        return self.graph.exact if exact else self.graph

    def track(
        self,
        operations: Iterable[Operation],
        to: Stage,
        *,
        exact: bool = False,
        nested: bool | None = None,
    ) -> Tracking:
        graph, stages = self._graph(exact), self.stages
        given = list(operations)
        back = bool(given) and stages.index(to) < stages.index(given[0].stage)
        asked = dict.fromkeys(
            one.stage.nodes[index] for one in given for index in one.stage.asked(one.index, nested)
        )
        reached = graph.reach(*asked, back=back)
        found = [
            (one, at) for node, at in graph.nodes(reached).items() if (one := to.of_node(node))
        ]
        traces = {one.index: Trace(one, graph.way(reached, at)) for one, at in found}
        lost: Iterable[int] = () if found else asked
        if found and len(asked) > 1:
            lost = self._lost(asked, to, exact, back)
        losses: dict[int, Loss] = {}
        for node in lost:
            why = self.other_part(node, to)
            if why is not None:
                losses[node] = Loss(node, why)
            else:
                ends = graph.ends(graph.reach(node, back=back))
                losses |= {end: self.loss(end, back) for end in ends}
        return Tracking(tuple(traces[at] for at in sorted(traces)), tuple(losses.values()))

    def _lost(self, asked: Iterable[int], to: Stage, exact: bool, back: bool) -> list[int]:
        """Return the operations of which no way leads to another stage."""
        key = id(to), exact, back
        if key not in self._leading:
            self._leading[key] = self._graph(exact).leading(to.nodes, back=back)
        return [node for node in asked if node not in self._leading[key]]

    @cached_property
    def _leading(self) -> dict[tuple[int, bool, bool], Container[int]]:
        """By a stage, and how it is tracked to, the operations of which a way leads to it."""
        return {}

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> StageRelation:
        sure = self._keys(self.graph.exact, source, target)
        every = sure if exact else self._keys(self.graph, source, target)
        size = max(len(target), 1)
        return StageRelation(
            (every // size).tolist(), (every % size).tolist(), np.isin(every, sure).tolist()
        )

    @staticmethod
    def _keys(graph: LineageGraph, source: Stage, target: Stage) -> Ints:
        """Return the pairs of indices as numbers, ascending."""
        rows, numbers = graph.pairs(np.asarray(source.nodes, np.int64))
        places = np.full(graph.count, -1, np.int64)
        places[np.asarray(target.nodes, np.int64)] = np.arange(len(target))
        columns = places[numbers]
        known = columns >= 0
        return with_bodies(source, rows[known], columns[known], len(target))
