"""Lineages whose steps are the edges of a graph: of a recorded run, of a chain of tools."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from actiondbg.lineage.bodies import with_bodies
from actiondbg.lineage.graph import LineageGraph
from actiondbg.lineage.lineage import Loss, Relation, Step, Trace, Tracking
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.recording.format.arrow import Ints


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

    def steps(self, *, exact: bool = False) -> Iterator[Step]:
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
        traces: dict[int, Trace] = {}
        losses: dict[int, Loss] = {}
        for operation in operations:
            stage = operation.stage
            back = stages.index(to) < stages.index(stage)
            for index in stage.asked(operation.index, nested):
                reached = graph.reach(stage.nodes[index], back=back)
                points = graph.nodes(reached)
                found = [one for node in points if (one := to.of_node(node))]
                for one in found:
                    way = graph.way(reached, points[one.node])
                    known = traces.get(one.index)
                    if known is None or len(way) < len(known.steps):
                        traces[one.index] = Trace(one, way)
                why = None if found else self.other_part(stage.nodes[index], to)
                if why is not None:
                    losses[stage.nodes[index]] = Loss(stage.nodes[index], why)
                elif not found:
                    losses |= {end: self.loss(end, back) for end in graph.ends(reached)}
        return Tracking(tuple(traces[at] for at in sorted(traces)), tuple(losses.values()))

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> Relation:
        sure = self._keys(self.graph.exact, source, target)
        every = sure if exact else self._keys(self.graph, source, target)
        size = max(len(target), 1)
        return Relation(
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
