"""Tracking along the edges of a graph, from one stage to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from actiondbg.lineage.graph import LineageGraph
from actiondbg.lineage.lineage import Loss, Relation, Trace, Tracking
from actiondbg.lineage.stage import Operation, Stage
from actiondbg.recording.format.arrow import Ints


class Tracker:
    """Tracks operations between stages whose operations are numbered alike.

    Args:
        graph: all edges.
        stages: in the order of time.
        loss: describes an operation from which nothing was made, or, if the flag is set, that was
            made from nothing.
    """

    def __init__(
        self, graph: LineageGraph, stages: Sequence[Stage], loss: Callable[[int, bool], Loss]
    ) -> None:
        self._graph = graph
        self._stages = stages
        self._loss = loss

    def graph(self, exact: bool) -> LineageGraph:
        """Return the graph of all edges, or of the exact ones."""
        return self._graph.exact if exact else self._graph

    def track(
        self, operations: Iterable[Operation], to: Stage, *, exact: bool, nested: bool
    ) -> Tracking:
        """Track operations of one stage to another; see ``Lineage.track``."""
        graph = self.graph(exact)
        traces: dict[int, Trace] = {}
        losses: dict[int, Loss] = {}
        for operation in operations:
            stage = operation.stage
            back = self._stages.index(to) < self._stages.index(stage)
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
                    losses |= {end: self._loss(end, back) for end in ends}
        return Tracking(tuple(traces[at] for at in sorted(traces)), tuple(losses.values()))

    def relate(self, source: Stage, target: Stage, *, exact: bool) -> Relation:
        """Return which operations of a stage became which of a later one."""
        sure = self._pairs(self._graph.exact, source, target)
        if exact:
            return Relation(sure[0].tolist(), sure[1].tolist(), [True] * len(sure[0]))
        rows, columns = self._pairs(self._graph, source, target)
        keys, known = (one[0] * len(target) + one[1] for one in ((rows, columns), sure))
        return Relation(rows.tolist(), columns.tolist(), np.isin(keys, known).tolist())

    def _pairs(self, graph: LineageGraph, source: Stage, target: Stage) -> tuple[Ints, Ints]:
        places = np.full(graph.count, -1, np.int64)
        places[np.asarray(target.nodes, np.int64)] = np.arange(len(target))
        rows, nodes = graph.pairs(np.asarray(source.nodes, np.int64))
        kept = places[nodes] >= 0
        return rows[kept], places[nodes[kept]]
