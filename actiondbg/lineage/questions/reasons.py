"""The ways of operations, and why they became nothing, or came from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.graph import Edges, LineageGraph, Span
from actiondbg.lineage.lineage import Lineage, LineageStep, Loss
from actiondbg.lineage.stage import Operation, Stage


class Way(NamedTuple):
    """What an operation became, or came from.

    Args:
        nodes: the operations on the way, itself first.
        steps: the steps between them.
    """

    nodes: Sequence[int]
    steps: Sequence[LineageStep]


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
        ended = {step.source for step in way.steps if step.evidence.ends}
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


# --- reasons ---


class Reason(NamedTuple):
    """Why an operation has no counterpart in the other stage.

    Args:
        why: such as ``folded``, ``dead`` or ``inserted``; empty if nothing shows it.
        ordinal: the action that did it; None if no action is known.
    """

    why: str
    ordinal: int | None = None


UNEXPLAINED = Reason("")

_TEXTS = {
    "": "unexplained",
    "ambiguous": "inserted at an ambiguous location",
    "inexact": "dumps show nothing exactly",
    # What dumps show of operations without a counterpart.
    "unmatched": "no location overlaps",
    "unlocated": "no location is known",
    "shared": "too many operations share its location",
}


def reason_text(why: str) -> str:
    """Return a reason as it is shown."""
    return _TEXTS.get(why, why)


class Reasons:
    """The reasons for missing counterparts, looked up for many operations at once.

    Args:
        lineage: the operations.
        exact: leave out what only locations show.
    """

    def __init__(self, lineage: Lineage, *, exact: bool = False) -> None:
        self._lineage = lineage
        self._exact = exact

    @cached_property
    def ways(self) -> Ways:
        """The steps of the lineage."""
        return Ways(self._lineage, exact=self._exact)

    def losses(self, operations: Sequence[Operation], other: Stage) -> dict[int, Loss]:
        """Return by number the operations at which the ways to another stage ended."""
        if not operations:
            return {}
        found = self._lineage.track(operations, other, exact=self._exact).losses
        return {loss.node: loss for loss in found}

    def of_sources(self, operations: Sequence[Operation], target: Stage) -> dict[int, Reason]:
        """Return by index why operations became nothing in a later stage."""
        losses = self.losses(operations, target)
        return {one.index: self.forward(one.node, losses) for one in operations}

    def of_targets(self, operations: Sequence[Operation], source: Stage) -> dict[int, Reason]:
        """Return by index why operations came from nothing in an earlier stage."""
        losses = self.losses(operations, source)
        return {one.index: self._back(one.node, losses) for one in operations}

    def forward(self, node: int, losses: dict[int, Loss]) -> Reason:
        """Return the last reason on the way of an operation, given by its number."""
        if node in losses or not losses:
            return _reason(losses.get(node))
        ends = [losses[one] for one in self.ways.forward(node).nodes if one in losses]
        return _reason(max(ends, key=_time, default=None))

    def _back(self, node: int, losses: dict[int, Loss]) -> Reason:
        if node in losses or not losses:
            return _reason(losses.get(node))
        ends = [losses[one] for one in self.ways.back(node).nodes if one in losses]
        return _reason(min(ends, key=_time, default=None))


def _time(loss: Loss) -> int:
    return -1 if loss.ordinal is None else loss.ordinal


def _reason(loss: Loss | None) -> Reason:
    return UNEXPLAINED if loss is None else Reason(loss.why, loss.ordinal)
