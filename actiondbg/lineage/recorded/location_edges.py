"""The edges that only source locations show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.locations.location import Location
from actiondbg.lineage.locations.location_index import LocationIndex
from actiondbg.lineage.locations.source_range import SourceRange
from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Bools, Ints


class LocationEdges:
    """Finds the operations of the input in whose source ranges later operations lie.

    Args:
        stage: the input.
        codes: the location of each operation id, as an index into ``texts``; -1 for an unknown one.
        texts: the distinct locations.
    """

    def __init__(self, stage: Stage, codes: Ints, texts: Sequence[str]) -> None:
        self._index = LocationIndex(stage.locations)
        self._nodes = np.asarray(stage.nodes, np.int64)
        self._is_inside = np.asarray(stage.parents) >= 0
        self._is_inside[list(stage.symbols)] = False
        self._codes = codes
        self._texts = texts

    def edges(self, made: Ints, ordinals: Ints, known: LineageGraph) -> Edges:
        """Return edges to operations to which no other edges lead from the input.

        A function leads to all that a pattern made in it, so that its edges do not count. Of
        other operations, the ranges of a fused location that no origin has count.

        Args:
            made: the operations that the run made.
            ordinals: the action that made each.
            known: all other edges.
        """
        is_derived = known.derived(self._nodes[self._is_inside])[made]
        has_location = self._codes[made] >= 0
        is_lone = ~is_derived & has_location
        lone = self._whole(made[is_lone], ordinals[is_lone])
        is_fused = is_derived & has_location & self._fused[self._codes[made]]
        return Edges.joined([lone, self._rest(made[is_fused], ordinals[is_fused], known)])

    def _whole(self, targets: Ints, ordinals: Ints) -> Edges:
        """Return edges to operations, by all ranges of their locations."""
        wanted, places = np.unique(self._codes[targets], return_inverse=True)
        found = [self._origins(self._ranges(int(code))) for code in wanted]
        counts = np.array([len(one) for one in found], np.int64)
        sources: list[Ints] = [found[int(place)] for place in places]
        repeats = counts[places] if len(places) else places
        return Edges.of(
            np.concatenate(sources) if sources else np.zeros(0, np.int64),
            np.repeat(targets, repeats),
            Evidence.LOCATION,
            np.repeat(ordinals, repeats),
        )

    def _rest(self, targets: Ints, ordinals: Ints, known: LineageGraph) -> Edges:
        """Return edges to operations, by the ranges that none of their origins has."""
        codes = self._codes
        parts: list[Edges] = []
        for target, ordinal in zip(targets.tolist(), ordinals.tolist(), strict=True):
            origins = {int(codes[one]) for one in known.sources_of(target)} - {-1}
            ranges = self._ranges(int(codes[target]))
            rest = ranges.difference(*map(self._ranges, origins))
            if rest and rest != ranges:
                found = self._origins(rest)
                one = np.full(len(found), target, np.int64)
                parts.append(Edges.of(found, one, Evidence.LOCATION, np.full_like(one, ordinal)))
        return Edges.joined([Edges.none(), *parts])

    @cached_property
    def _fused(self) -> Bools:
        """Whether each location has several ranges."""
        return np.array([len(self._ranges(code)) > 1 for code in range(len(self._texts))], bool)

    def _ranges(self, code: int) -> frozenset[SourceRange]:
        return Location(self._texts[code]).ranges

    def _origins(self, ranges: frozenset[SourceRange]) -> Ints:
        """Return the operations of the input that overlap ranges."""
        found = self._index.overlapping(ranges)
        return self._nodes[np.array(sorted(found), np.int64)]
