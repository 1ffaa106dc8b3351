"""The ways of operations of any lineage, along all its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph, Span
from actiondbg.lineage.lineage import Lineage, Step

_ENDS = frozenset(
    (
        Evidence.REPLACED,
        Evidence.FOLDED,
        Evidence.MERGED,
        Evidence.REWRITTEN,
        Evidence.SAME,
    )
)


class Way(NamedTuple):
    """What an operation became, or came from.

    Args:
        nodes: the operations on the way, itself first.
        steps: the steps between them.
    """

    nodes: Sequence[int]
    steps: Sequence[Step]


class Ways:
    """The ways along the steps of a lineage.

    Args:
        lineage: the operations.
        exact: leave out what only locations show.
    """

    def __init__(self, lineage: Lineage, *, exact: bool = False) -> None:
        edges = Edges.of_steps(lineage.steps(exact=exact))
        self.ordinals = edges.ordinals
        # The numbers of an import's operations are too large for a graph.
        ends = np.concatenate([edges.sources, edges.targets])
        numbers, places = np.unique(ends, return_inverse=True)
        sources, targets = np.split(places, 2)
        self._graph = LineageGraph(Edges(sources, targets, *edges[2:]), len(numbers))
        self._numbers: list[int] = numbers.tolist()
        self._places = {number: place for place, number in enumerate(self._numbers)}

    def forward(self, node: int, span: Span | None = None) -> Way:
        """Return what an operation became, with all between.

        Args:
            node: its number.
            span: of actions, to whose steps, and those without an action, the way keeps.
        """
        return self._way(node, back=False, span=span)

    def alive(self, node: int, span: Span) -> list[int]:
        """Return what an operation became that was not replaced in some actions; see ``forward``.

        An operation that was erased without heirs is among them.
        """
        way = self.forward(node, span)
        ended = {step.source for step in way.steps if step.evidence in _ENDS}
        return [one for one in way.nodes if one not in ended]

    def back(self, node: int) -> Way:
        """Return what an operation came from, with all between."""
        return self._way(node, back=True)

    def _way(self, node: int, *, back: bool, span: Span | None = None) -> Way:
        place = self._places.get(node)
        if place is None:
            return Way([node], [])
        graph, numbers = self._graph, self._numbers
        reached = graph.reach(place, back=back, span=span)
        steps = (graph.step(edge) for edge in graph.edges_of(reached))
        return Way(
            [numbers[one] for one in graph.nodes(reached)],
            [one._replace(source=numbers[one.source], target=numbers[one.target]) for one in steps],
        )
