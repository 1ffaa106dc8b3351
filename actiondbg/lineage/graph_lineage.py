"""Lineages whose steps are the edges of a graph: of a recorded run, of a chain of tools."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from actiondbg.lineage.graph import LineageGraph
from actiondbg.lineage.lineage import Loss, Relation, Step, Trace, Tracking
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.recording.format.arrow import Ints


class GraphLineage(ABC):
    """A lineage whose steps are the edges of a graph; its stages number operations alike."""

    @property
    @abstractmethod
    def stages(self) -> Sequence[Stage]:
        """The stages, in the order of time."""

    @property
    @abstractmethod
    def graph(self) -> LineageGraph:
        """All edges."""

    @abstractmethod
    def loss(self, node: int, back: bool) -> Loss:
        """Describe an operation that nothing was made from, or, back, that has no origin."""

    def steps(self, *, exact: bool = False) -> Iterator[Step]:
        """Iterate over all steps, in the order of time."""
        return self._graph(exact).steps()

    def _graph(self, exact: bool) -> LineageGraph:
        return self.graph.exact if exact else self.graph

    def track(
        self,
        operations: Iterable[Operation],
        to: Stage,
        *,
        exact: bool = False,
        nested: bool = False,
    ) -> Tracking:
        """Track operations of one stage to another, forward or back; see ``Lineage.track``."""
        graph, stages = self._graph(exact), self.stages
        traces: dict[int, Trace] = {}
        losses: dict[int, Loss] = {}
        for operation in operations:
            stage = operation.stage
            back = stages.index(to) < stages.index(stage)
            for index in stage.nested(operation.index) if nested else (operation.index,):
                found = graph.reach(stage.nodes[index], back=back)
                reached = [one for number in found if (one := to.of_node(number))]
                for one in reached:
                    way = graph.way(found, one.node, back=back)
                    known = traces.get(one.index)
                    if known is None or len(way) < len(known.steps):
                        traces[one.index] = Trace(one, way)
                if not reached:
                    has_more = graph.has_origins if back else graph.has_heirs
                    ends = [node for node in found if not has_more(node)]
                    losses |= {end: self.loss(end, back) for end in ends}
        return Tracking(tuple(traces[at] for at in sorted(traces)), tuple(losses.values()))

    def relate(self, source: Stage, target: Stage, *, exact: bool = False) -> Relation:
        """Return which operations of a stage became which of a later one."""
        sure = self._pairs(self.graph.exact, source, target)
        if exact:
            return Relation(sure[0].tolist(), sure[1].tolist(), [True] * len(sure[0]))
        rows, columns = self._pairs(self.graph, source, target)
        keys, known = (one[0] * len(target) + one[1] for one in ((rows, columns), sure))
        return Relation(rows.tolist(), columns.tolist(), np.isin(keys, known).tolist())

    @staticmethod
    def _pairs(graph: LineageGraph, source: Stage, target: Stage) -> tuple[Ints, Ints]:
        places = np.full(graph.count, -1, np.int64)
        places[np.asarray(target.nodes, np.int64)] = np.arange(len(target))
        rows, nodes = graph.pairs(np.asarray(source.nodes, np.int64))
        kept = places[nodes] >= 0
        return rows[kept], places[nodes[kept]]
