"""The edges of a lineage as columns, and the search along them."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.lineage import (
    EVIDENCES,
    Evidence,
    LineageStep,
)
from actiondbg.recording.format.arrow import Bools, Ints

Span = tuple[int, int]  # of ordinals: those after the first, up to the last

_CODES = {evidence: code for code, evidence in enumerate(EVIDENCES)}
_EXACT = np.array([one.is_exact for one in EVIDENCES])  # by code
# Edges to operations that were there before.
_TO_EARLIER = [code for code, one in enumerate(EVIDENCES) if one.is_to_earlier]


class Edges(NamedTuple):
    """Edges, each from an operation to an operation that was made from it.

    Args:
        sources: the number of each earlier operation.
        targets: the number of each later operation.
        evidence: what shows each, as an index into ``EVIDENCES``.
        ordinals: the action of each; 0 for none.
        times: when each happened, as a number that grows with time; 0 if it is unknown.
    """

    sources: Ints
    targets: Ints
    evidence: Ints
    ordinals: Ints
    times: Ints

    def __len__(self) -> int:  # pyright: ignore[reportImplicitOverride]
        return len(self.sources)

    def only(self, which: Bools | Ints) -> Edges:
        """Return some of the edges."""
        return Edges(*(column[which] for column in self))

    @staticmethod
    def joined(parts: Iterable[Edges]) -> Edges:
        """Return the edges of all parts."""
        columns = zip(*parts, strict=True)
        return Edges(*(np.concatenate(column).astype(np.int64) for column in columns))

    @staticmethod
    def none() -> Edges:
        """Return no edges."""
        return Edges(*(np.zeros(0, np.int64) for _ in Edges._fields))

    @staticmethod
    def of(
        sources: Ints,
        targets: Ints,
        evidence: Evidence,
        ordinals: Ints,
        times: Ints | None = None,
    ) -> Edges:
        """Return edges with the same evidence; without ``times``, they are unknown."""
        codes = np.full(len(sources), _CODES[evidence], np.int64)
        when = np.zeros(len(sources), np.int64) if times is None else times
        return Edges(sources, targets, codes, ordinals, when)

    @staticmethod
    def of_steps(steps: Iterable[LineageStep]) -> Edges:
        """Return steps as edges, in their order."""
        rows = [
            (one.source, one.target, _CODES[one.evidence], one.ordinal or 0, one.time)
            for one in steps
        ]
        return Edges(*np.array(rows, np.int64).reshape(-1, 5).T)


class Adjacency:
    """The edges by the operation at one end, their key.

    Args:
        keys: the operation at that end of each edge.
        others: the operation at the other end.
        count: a number above those of all operations.
    """

    def __init__(self, keys: Ints, others: Ints, count: int) -> None:
        self.order = np.argsort(keys, kind="stable")
        self.starts = np.searchsorted(keys[self.order], np.arange(count + 1))
        self._others = others

    @cached_property
    def columns(self) -> tuple[array[int], array[int], array[int]]:
        """The edges, the operations at their other ends, and by operation where its edges begin.

        A search that follows few edges at a time reads these faster than NumPy's arrays.
        """
        columns = self.order, self._others[self.order], self.starts
        edges, others, starts = (
            array("q", column.astype(np.int64).tobytes()) for column in columns
        )
        return edges, others, starts

    def edges_at(self, node: int) -> Ints:
        """Return the indices of the edges at an operation, in the order of time."""
        return self.order[self.starts[node] : self.starts[node + 1]]

    def expand(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return, for all edges at some operations, the index of the operation and the edge."""
        counts = self.starts[nodes + 1] - self.starts[nodes]
        rows = np.repeat(np.arange(len(nodes)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.order[np.repeat(self.starts[nodes], counts) + within]


class Reached(NamedTuple):
    """The operations to which ways lead from some.

    Args:
        back: whether the edges were followed from later to earlier operations.
        span: of the actions whose edges were followed; None for all.
        last_edges: of each operation, the last edge of a shortest way; -1 for a start. Those that
            are nearer to a start come first.
    """

    back: bool
    span: Span | None
    last_edges: dict[int, int]


class LineageGraph:
    """All edges of a lineage, in the order of time.

    An operation into which another one is merged was there before. What had been made of it then
    was not made of the other one: a way may not leave it by an edge that is earlier than the
    merge. So a merge into an operation with earlier edges leads to a later self of it, a point
    with a number of its own that has only the later edges. So does an inlining that moves an
    operation to the place of a call.

    Args:
        edges: the edges, in any order.
        count: a number above those of all operations.
    """

    def __init__(self, edges: Edges, count: int) -> None:
        self.edges = edges.only(np.argsort(edges.ordinals, kind="stable"))
        self.count = count

    @cached_property
    def exact(self) -> LineageGraph:
        """The graph without the edges that only locations or texts show."""
        return LineageGraph(self.edges.only(_EXACT[self.edges.evidence]), self.count)

    @cached_property
    def _points(self) -> _Points:
        return _Points.of(self.edges, self.count)

    @cached_property
    def _forward(self) -> Adjacency:
        return Adjacency(self._points.sources, self._points.targets, self._points.size)

    @cached_property
    def _back(self) -> Adjacency:
        return Adjacency(self._points.targets, self._points.sources, self._points.size)

    def __len__(self) -> int:
        return len(self.edges)

    def step(self, edge: int) -> LineageStep:
        """Return an edge as a step."""
        edges = self.edges
        source, target, evidence, ordinal, time = (int(column[edge]) for column in edges)
        return LineageStep(EVIDENCES[evidence], source, target, ordinal or None, time)

    def steps(self) -> Iterator[LineageStep]:
        """Iterate over all edges, in the order of time."""
        return map(self.step, range(len(self)))

    def sources_of(self, node: int) -> list[int]:
        """Return the operations that an operation was made from directly."""
        points = self._points
        around = points.edges[self._back.edges_at(node)]
        return self.edges.sources[np.unique(around)].tolist()

    def has_heirs(self, node: int) -> bool:
        """Whether anything was made from an operation."""
        return bool(len(self._forward.edges_at(node)))

    def reach(self, *starts: int, back: bool, span: Span | None = None) -> Reached:
        """Return all operations that a way leads to from some.

        Args:
            starts: the numbers of operations; of equally short ways, that from the first is found.
            back: follow the edges from later to earlier operations.
            span: follow the edges of these actions, and those without an action; None: all.
        """
        selves = self._points.selves
        points = [one for start in starts for one in selves(start)] if back else starts
        return Reached(back, span, self._search(points, back, span))

    def leading(self, to: Iterable[int], *, back: bool) -> Container[int]:
        """Return the operations from which ``reach`` gets to one of some operations."""
        points = self._points
        ends = [one for node in to for one in points.selves(node)]
        found = self._search(ends, not back, None)
        return set(points.nodes[list(found)].tolist()) if back else found

    def _search(self, points: Iterable[int], back: bool, span: Span | None) -> dict[int, int]:
        """Return by point, the nearest first, the last edge of a shortest way; -1 for the ends."""
        edges, others, firsts = (self._back if back else self._forward).columns
        found = dict.fromkeys(points, -1)
        queue = list(found)
        for point in queue:  # grows while it is iterated over
            for at in range(firsts[point], firsts[point + 1]):
                other, edge = others[at], edges[at]
                if other not in found and (span is None or self._is_within(span, edge)):
                    found[other] = edge
                    queue.append(other)
        return found

    def _is_within(self, span: Span, edges: int | Ints) -> Bools:
        """Return whether edges between points are of an action of a span, or of none."""
        ordinals = self.edges.ordinals[self._points.edges[edges]]
        return ((span[0] < ordinals) & (ordinals <= span[1])) | (ordinals == 0)

    def edges_of(self, reached: Reached) -> list[int]:
        """Return the edges on the ways, in the order of time."""
        around = self._back if reached.back else self._forward
        _, edges = around.expand(np.fromiter(reached.last_edges, np.int64))
        if reached.span is not None:
            edges = edges[self._is_within(reached.span, edges)]
        return np.unique(self._points.edges[edges]).tolist()

    def nodes(self, reached: Reached) -> dict[int, int]:
        """Return the operations that were reached, each with its point of the shortest way."""
        found: dict[int, int] = {}
        for point in reached.last_edges:
            found.setdefault(self._points.node(point), point)
        return found

    def ends(self, reached: Reached) -> set[int]:
        """Return the operations at which ways end."""
        around = self._back if reached.back else self._forward
        points = [point for point in reached.last_edges if len(around.edges_at(point))]
        going_on = {self._points.node(point) for point in points}
        return self.nodes(reached).keys() - going_on

    def way(self, reached: Reached, point: int) -> tuple[LineageStep, ...]:
        """Return the steps between the start and a point, in the order of time."""
        steps: list[LineageStep] = []
        points = self._points
        ends = points.targets if reached.back else points.sources
        while (edge := reached.last_edges[point]) >= 0:
            steps.append(self.step(int(points.edges[edge])))
            point = int(ends[edge])
        return tuple(steps if reached.back else reversed(steps))

    def derived(self, starts: Ints) -> Bools:
        """Return, by number, whether a way leads from one of ``starts`` to an operation."""
        points = self._points
        found = np.zeros(points.size, np.bool_)
        fresh = starts.astype(np.int64)
        while len(fresh):
            found[fresh] = True
            _, edges = self._forward.expand(fresh)
            ends = np.unique(points.targets[edges])
            fresh = ends[~found[ends]]
        nodes = np.zeros(self.count, np.bool_)
        nodes[points.nodes[np.flatnonzero(found)]] = True
        return nodes

    def pairs(self, starts: Ints) -> tuple[Ints, Ints]:
        """Return all pairs of an operation of ``starts`` and an operation that it became, itself
        included.

        Returns:
            The index in ``starts``, and the number of the operation, of each pair.
        """
        points = self._points
        rows, nodes = np.arange(len(starts)), starts.astype(np.int64)
        keys = rows * points.size + nodes
        fresh = keys
        while len(fresh):
            at, edges = self._forward.expand(fresh % points.size)
            found = (fresh // points.size)[at] * points.size + points.targets[edges]
            fresh = np.setdiff1d(found, keys)
            keys = np.union1d(keys, fresh)
        pairs = keys // points.size * self.count + points.nodes[keys % points.size]
        pairs = np.unique(pairs)
        return pairs // self.count, pairs % self.count


class _Points(NamedTuple):
    """Operations and their later selves as points, with edges between them.

    Args:
        sources: the earlier point of each edge.
        targets: the later point of each edge.
        edges: the edge of the graph that each is.
        nodes: by point, the number of its operation.
        later: by number, the later selves of operations.
    """

    sources: Ints
    targets: Ints
    edges: Ints
    nodes: Ints
    later: dict[int, list[int]]

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.nodes)

    def node(self, point: int) -> int:
        """Return the number of the operation of a point."""
        return int(self.nodes[point])

    def selves(self, node: int) -> list[int]:
        """Return the points of an operation."""
        return [node, *self.later.get(node, ())]

    @staticmethod
    def of(edges: Edges, count: int) -> _Points:
        """Return the points of a graph."""
        end = int(edges.times.max(initial=0)) + 1
        times = np.where(edges.times > 0, edges.times, end)
        first_out = np.full(count, end, np.int64)
        np.minimum.at(first_out, edges.sources, times)
        is_merge = np.isin(edges.evidence, _TO_EARLIER)
        splits = np.flatnonzero(is_merge & (times < end) & (times > first_out[edges.targets]))
        out = Adjacency(edges.sources, edges.targets, count)
        targets = edges.targets.copy()
        nodes = list(range(count))
        selves: dict[tuple[int, ...], int] = {}
        later: dict[int, list[int]] = {}
        added: list[tuple[int, int]] = []  # an edge, and the later self that it leaves
        for merge in splits.tolist():
            node = int(edges.targets[merge])
            around = out.edges_at(node)
            kept = around[times[around] >= times[merge]]
            key = (node, *kept.tolist())
            if key not in selves:
                point = selves[key] = len(nodes)
                nodes.append(node)
                later.setdefault(node, []).append(point)
                added += [(edge, point) for edge in kept.tolist()]
            targets[merge] = selves[key]
        more, points = np.array(added, np.int64).reshape(-1, 2).T
        return _Points(
            np.concatenate([edges.sources, points]),
            np.concatenate([targets, targets[more]]),
            np.concatenate([np.arange(len(edges)), more]),
            np.array(nodes, np.int64),
            later,
        )
