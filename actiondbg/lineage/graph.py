"""The edges of a lineage as columns, and the search along them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.evidence import EVIDENCES, Evidence
from actiondbg.lineage.lineage import Step
from actiondbg.recording.format.arrow import Bools, Ints

_EXACT = np.array([one.is_exact for one in EVIDENCES])  # by code


class Edges(NamedTuple):
    """Edges, each from an earlier operation to one that was made from it.

    Args:
        sources: the number of each earlier operation.
        targets: the number of each later operation.
        evidence: what shows each, as an index into ``EVIDENCES``.
        ordinals: the action of each; 0 for none.
    """

    sources: Ints
    targets: Ints
    evidence: Ints
    ordinals: Ints

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
    def of(sources: Ints, targets: Ints, evidence: Evidence, ordinals: Ints) -> Edges:
        """Return edges with the same evidence."""
        codes = np.full(len(sources), EVIDENCES.index(evidence), np.int64)
        return Edges(sources, targets, codes, ordinals)


class Adjacency:
    """The edges by the operation at one end."""

    def __init__(self, keys: Ints, count: int) -> None:
        self.order = np.argsort(keys, kind="stable")
        self.starts = np.searchsorted(keys[self.order], np.arange(count + 1))

    def edges_at(self, node: int) -> Ints:
        """Return the indices of the edges at an operation, in the order of time."""
        return self.order[self.starts[node] : self.starts[node + 1]]

    def expand(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return, for all edges at some operations, the index of the operation and the edge."""
        counts = self.starts[nodes + 1] - self.starts[nodes]
        rows = np.repeat(np.arange(len(nodes)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.order[np.repeat(self.starts[nodes], counts) + within]


class LineageGraph:
    """All edges of a lineage, in the order of time.

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
    def _forward(self) -> Adjacency:
        return Adjacency(self.edges.sources, self.count)

    @cached_property
    def _back(self) -> Adjacency:
        return Adjacency(self.edges.targets, self.count)

    def __len__(self) -> int:
        return len(self.edges)

    def step(self, edge: int) -> Step:
        """Return an edge as a step."""
        edges = self.edges
        ordinal = int(edges.ordinals[edge])
        evidence = EVIDENCES[int(edges.evidence[edge])]
        return Step(evidence, int(edges.sources[edge]), int(edges.targets[edge]), ordinal or None)

    def steps(self) -> Iterator[Step]:
        """Iterate over all edges, in the order of time."""
        return map(self.step, range(len(self)))

    def sources_of(self, node: int) -> list[int]:
        """Return the operations that an operation was made from directly."""
        return self.edges.sources[self._back.edges_at(node)].tolist()

    def has_heirs(self, node: int) -> bool:
        """Whether anything was made from an operation."""
        return bool(len(self._forward.edges_at(node)))

    def has_origins(self, node: int) -> bool:
        """Whether an operation was made from anything."""
        return bool(len(self._back.edges_at(node)))

    def reach(self, start: int, *, back: bool) -> dict[int, int]:
        """Return all operations that a way leads to.

        Args:
            start: the number of an operation.
            back: follow the edges from later to earlier operations.

        Returns:
            For each operation, the last edge of a shortest way to it; -1 for ``start``.
        """
        around = self._back if back else self._forward
        ends = self.edges.sources if back else self.edges.targets
        found = {start: -1}
        queue = [start]
        for node in queue:  # grows while it is iterated over
            for edge in around.edges_at(node).tolist():
                end = int(ends[edge])
                if end not in found:
                    found[end] = edge
                    queue.append(end)
        return found

    def derived(self, starts: Ints) -> Bools:
        """Return, by number, whether a way leads from one of ``starts`` to an operation."""
        found = np.zeros(self.count, np.bool_)
        fresh = starts.astype(np.int64)
        while len(fresh):
            found[fresh] = True
            _, edges = self._forward.expand(fresh)
            ends = np.unique(self.edges.targets[edges])
            fresh = ends[~found[ends]]
        return found

    def way(self, found: dict[int, int], end: int, *, back: bool) -> tuple[Step, ...]:
        """Return the steps between the start of ``reach`` and an end, in the order of time."""
        steps: list[Step] = []
        while (edge := found[end]) >= 0:
            steps.append(self.step(edge))
            end = steps[-1].target if back else steps[-1].source
        return tuple(steps if back else reversed(steps))

    def pairs(self, starts: Ints) -> tuple[Ints, Ints]:
        """Return all pairs of one of ``starts`` and an operation that it became, itself included.

        Returns:
            The index in ``starts``, and the number of the operation, of each pair.
        """
        rows, nodes = np.arange(len(starts)), starts.astype(np.int64)
        keys = rows * self.count + nodes
        fresh = keys
        while len(fresh):
            at, edges = self._forward.expand(fresh % self.count)
            found = (fresh // self.count)[at] * self.count + self.edges.targets[edges]
            fresh = np.setdiff1d(found, keys)
            keys = np.union1d(keys, fresh)
        return keys // self.count, keys % self.count
