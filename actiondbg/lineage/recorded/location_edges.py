"""The edges that only source locations show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.locations.location import Location
from actiondbg.lineage.locations.location_index import LocationIndex
from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Ints


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

        A function leads to all that a pattern made in it, so that its edges do not count.

        Args:
            made: the operations that the run made.
            ordinals: the action that made each.
            known: all other edges.
        """
        codes = self._codes
        is_derived = known.derived(self._nodes[self._is_inside])
        open_ones = ~is_derived[made] & (codes[made] >= 0)
        targets, ordinals = made[open_ones], ordinals[open_ones]
        wanted, places = np.unique(codes[targets], return_inverse=True)
        found = [self._origins(int(code)) for code in wanted]
        counts = np.array([len(one) for one in found], np.int64)
        sources: list[Ints] = [found[int(place)] for place in places]
        repeats = counts[places] if len(places) else places
        return Edges.of(
            np.concatenate(sources) if sources else np.zeros(0, np.int64),
            np.repeat(targets, repeats),
            Evidence.LOCATION,
            np.repeat(ordinals, repeats),
        )

    def _origins(self, code: int) -> Ints:
        """Return the operations of the input that overlap a location."""
        found = self._index.overlapping(Location(self._texts[code]).ranges)
        return self._nodes[np.array(sorted(found), np.int64)]
