"""The edges that only source locations show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.locations.location_index import HANDFUL, LocationIndex
from actiondbg.lineage.locations.source_range import Location, SourceRange
from actiondbg.lineage.recorded.edges import Described
from actiondbg.lineage.stage import Stage
from actiondbg.recording.format.arrow import Bools, Ints


class LocationEdges:
    """Finds the operations of the input in whose source ranges later operations lie.

    Where several operations of the input share a range, those with the name of the later
    operation are its origins. Without one, all are, unless they are more than a handful: then
    the range shows nothing. Of more than a handful only a single one may have the name.

    Args:
        stage: the input.
        operations: what is known of operations; locations are indices into ``texts``.
        texts: the distinct locations.
    """

    def __init__(self, stage: Stage, operations: Described, texts: Sequence[str]) -> None:
        self._index = LocationIndex(stage.locations)
        self._nodes = np.asarray(stage.nodes, np.int64)
        self._is_inside = np.asarray(stage.parents) >= 0
        self._is_inside[list(stage.symbols)] = False
        self._codes = operations.locations
        self._names = operations.names
        self._texts = texts
        self._found: dict[SourceRange, Ints] = {}
        # The operations without an origin of which more than a handful share the location.
        self.ambiguous: set[int] = set()

    def edges(self, made: Ints, ordinals: Ints, known: LineageGraph) -> Edges:
        """Return edges to operations to which no other edges lead from the input.

        A function leads to all that a pattern made in it, so that its edges do not count. To other
        operations, the ranges of a fused location that no origin has lead from operations of
        which nothing else was made.

        Args:
            made: the operations that the run made.
            ordinals: the action that made each.
            known: all other edges.
        """
        has_location = self._codes[made] >= 0
        made, ordinals = made[has_location], ordinals[has_location]
        is_derived = known.derived(self._nodes[self._is_inside])[made]
        is_fused = is_derived & self._fused[self._codes[made]]
        parts = [Edges.none()]
        for at in np.flatnonzero(~is_derived | is_fused).tolist():
            target = int(made[at])
            ranges = self._ranges(int(self._codes[target]))
            if is_derived[at]:
                ranges = self._rest(target, ranges, known)
            found = self._origins(ranges, int(self._names[target]))
            if is_derived[at]:
                found = found[[not known.has_heirs(one) for one in found.tolist()]]
            if not len(found) and not is_derived[at] and any(map(self._is_crowded, ranges)):
                self.ambiguous.add(target)
            same = np.full(len(found), target, np.int64)
            when = np.full_like(same, ordinals[at])
            parts.append(Edges.of(found, same, Evidence.LOCATION, when))
        return Edges.joined(parts)

    def _rest(
        self, target: int, ranges: frozenset[SourceRange], known: LineageGraph
    ) -> frozenset[SourceRange]:
        """Return the ranges of an operation that no origin has; none if all are."""
        origins = {int(self._codes[one]) for one in known.sources_of(target)} - {-1}
        rest = ranges.difference(*map(self._ranges, origins))
        return frozenset() if rest == ranges else rest

    @cached_property
    def _fused(self) -> Bools:
        """Whether each location has several ranges; those of a call site are of one operation."""
        return np.array(
            [
                len(self._ranges(code)) > 1 and "callsite(" not in text
                for code, text in enumerate(self._texts)
            ],
            np.bool_,
        )

    def _ranges(self, code: int) -> frozenset[SourceRange]:
        return Location(self._texts[code]).ranges

    def _origins(self, ranges: Iterable[SourceRange], name: int) -> Ints:
        """Return the operations of the input that ranges show for an operation with a name."""
        shown = [self._shown(one, name) for one in ranges]
        return np.unique(np.concatenate(shown)) if shown else np.zeros(0, np.int64)

    def _is_crowded(self, one: SourceRange) -> bool:
        return len(self._found.get(one, ())) > HANDFUL

    def _shown(self, one: SourceRange, name: int) -> Ints:
        found = self._found.get(one)
        if found is None:
            indices = np.array(sorted(self._index.overlapping([one])), np.int64)
            found = self._found[one] = self._nodes[indices]
        named = found[self._names[found] == name]
        if len(found) > HANDFUL:
            return named if len(named) == 1 else found[:0]
        return named if len(named) else found
