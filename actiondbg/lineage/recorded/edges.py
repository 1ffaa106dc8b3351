"""The edges that the changes and links of a recording show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from actiondbg.lineage.evidence import Evidence
from actiondbg.lineage.graph import Edges
from actiondbg.lineage.recorded.actions import RecordedActions
from actiondbg.recording.format.arrow import Bools, Ints
from actiondbg.recording.recording import Recording


class Changes(NamedTuple):
    """Changes of one kind: the action, the operation and what replaced it (0 for nothing)."""

    ordinals: Ints
    operations: Ints
    by: Ints


class RecordedChanges:
    """The changes that were not undone."""

    def __init__(self, recording: Recording, actions: RecordedActions) -> None:
        table: Any = recording.table("changes", ("ordinal", "kind", "operation", "block", "by"))
        ordinals = table["ordinal"].to_numpy().astype(np.int64)
        blocks = table["block"].to_numpy(zero_copy_only=False).astype(np.bool_)
        self._kinds: Any = np.array(table["kind"].to_pylist(), object)
        self._keeps: Bools = ~blocks & ~actions.is_undone[ordinals]
        self._ordinals: Ints = ordinals
        self._operations: Ints = table["operation"].fill_null(0).to_numpy().astype(np.int64)
        self._by: Ints = table["by"].fill_null(0).to_numpy().astype(np.int64)

    def of_kind(self, kind: str) -> Changes:
        """Return the changes of a kind, such as ``inserted``, in the order of time."""
        which = self._keeps & (self._kinds == kind)
        return Changes(self._ordinals[which], self._operations[which], self._by[which])


class _Links(NamedTuple):
    ordinals: Ints
    operations: Ints
    sources: Ints


class EdgeBuilder:
    """Finds the edges of a recorded run.

    Args:
        recording: made with ``record --lineage``.
        actions: its actions.
        locations: the location of each operation id, as a code; -1 for an unknown one.
    """

    def __init__(self, recording: Recording, actions: RecordedActions, locations: Ints) -> None:
        self._actions = actions
        self._locations = locations
        self._changes = RecordedChanges(recording, actions)
        self._table: Any = recording.table("links")
        self._inserted = self._changes.of_kind("inserted")
        self._created = self._first(self._inserted.operations, self._inserted.ordinals)

    def edges(self) -> Edges:
        """Return all edges that need no comparison of locations of different actions."""
        clones = self._links("cloned")
        cloned = Edges.of(clones.sources, clones.operations, Evidence.CLONED, clones.ordinals)
        parts = [cloned, self._replaced(), *self._made(clones.operations), *self._rewritten()]
        return _distinct(Edges.joined(parts))

    def _first(self, operations: Ints, ordinals: Ints) -> Ints:
        """Return the first ordinal of each operation id; 0 for none."""
        first = np.zeros(len(self._locations), np.int64)
        first[operations[::-1]] = ordinals[::-1]
        return first

    def _links(self, kind: str) -> _Links:
        kinds: Any = np.array(self._table["kind"].to_pylist(), object)
        ordinals = self._table["ordinal"].to_numpy().astype(np.int64)
        which = kinds == kind
        if len(ordinals):
            which &= ~self._actions.is_undone[ordinals]
        columns = (self._table[name].to_numpy()[which] for name in ("operation", "source"))
        operations, sources = (column.astype(np.int64) for column in columns)
        return _Links(ordinals[which], operations, sources)

    def _replaced(self) -> Edges:
        """Replacements; by an operation that was there before, the two were merged."""
        changes, links = self._changes.of_kind("replaced"), self._links("replaced")
        known = changes.by > 0
        sources = np.concatenate([changes.operations[known], links.sources])
        targets = np.concatenate([changes.by[known], links.operations])
        ordinals = np.concatenate([changes.ordinals[known], links.ordinals])
        # An action's nested actions have higher ordinals than it.
        is_new = self._created[targets] >= self._scopes(ordinals)
        return Edges.joined(
            Edges.of(sources[which], targets[which], evidence, ordinals[which])
            for which, evidence in ((is_new, Evidence.REPLACED), (~is_new, Evidence.MERGED))
        )

    def _scopes(self, ordinals: Ints) -> Ints:
        """Return the application of a pattern around each action, or the action itself."""
        patterns = self._actions.patterns[ordinals]
        return np.where(patterns > 0, patterns, ordinals)

    def _made(self, clones: Ints) -> tuple[Edges, Edges]:
        """Operations that a fold or a pattern inserted, but for copies of others."""
        fresh = ~np.isin(self._inserted.operations, clones)
        operations, ordinals = self._inserted.operations[fresh], self._inserted.ordinals[fresh]
        folds = self._actions.is_fold[ordinals]
        patterns = self._actions.patterns[ordinals]
        made = ~folds & (patterns > 0)
        by_folds = self._actions.operations[ordinals[folds]]
        roots = self._actions.operations[patterns[made]]
        return (
            Edges.of(by_folds, operations[folds], Evidence.FOLDED, ordinals[folds]),
            Edges.of(roots, operations[made], Evidence.CREATED, patterns[made]),
        )

    def _rewritten(self) -> Iterator[Edges]:
        """Operations that a pattern inserted for others than its root, which it erased.

        The location that they share shows which; if several erased ones share it, it is all that
        shows it.
        """
        erased = self._changes.of_kind("erased")
        patterns = self._actions.patterns[erased.ordinals]
        codes = self._locations
        inside = (patterns > 0) & (codes[erased.operations] >= 0)
        inside &= erased.operations != self._actions.operations[patterns]
        sources, patterns = erased.operations[inside], patterns[inside]
        inserted = self._inserted
        makers = self._actions.patterns[inserted.ordinals]
        usable = np.flatnonzero((codes[inserted.operations] >= 0) & (makers > 0))
        scale = len(codes) + 1  # a pattern application and a location as one number
        wanted = patterns * scale + codes[sources]
        offered = makers[usable] * scale + codes[inserted.operations[usable]]
        rows, found = matches(wanted, offered)
        targets = inserted.operations[usable[found]]
        _, places, counts = np.unique(wanted, return_inverse=True, return_counts=True)
        is_single = counts[places][rows] == 1
        for which, evidence in (
            (is_single, Evidence.REWRITTEN),
            (~is_single, Evidence.LOCATION),
        ):
            at = rows[which]
            yield Edges.of(sources[at], targets[which], evidence, patterns[at])


def matches(wanted: Ints, offered: Ints) -> tuple[Ints, Ints]:
    """Return the indices of all pairs of equal numbers."""
    order = np.argsort(offered, kind="stable")
    first, last = (np.searchsorted(offered[order], wanted, side) for side in ("left", "right"))
    counts = last - first
    rows = np.repeat(np.arange(len(wanted)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[np.repeat(first, counts) + within]


def _distinct(edges: Edges) -> Edges:
    """Return the edges, the first one between two operations only, none to itself."""
    order = np.argsort(edges.ordinals, kind="stable")
    scale = int(max(edges.targets.max(initial=0), edges.sources.max(initial=0))) + 1
    keys = edges.sources[order] * scale + edges.targets[order]
    _, firsts = np.unique(keys, return_index=True)
    kept = edges.only(np.sort(order[firsts]))
    return kept.only((kept.sources != kept.targets) & (kept.sources > 0) & (kept.targets > 0))
