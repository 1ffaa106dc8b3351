"""The edges that the changes and links of a recording show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.graph import Edges
from actiondbg.lineage.lineage import EVIDENCES, Evidence
from actiondbg.lineage.recorded.change_columns import (
    ChangesInOrder,
    Links,
    Operands,
    RecordedActions,
    RecordedChanges,
    RecordedLinks,
)
from actiondbg.lineage.recorded.expansions import (
    Computations,
    Expansion,
    Expansions,
    Fusions,
    Inlinings,
    OperationChange,
    OwnChange,
    Values,
)
from actiondbg.recording.format.arrow import Bools, Ints


class Described(NamedTuple):
    """What is known of operations, by number.

    Args:
        locations: the location of each, as a code; -1 for an unknown one.
        names: the name of each, as a code; -1 for an unknown one.
        constants: whether each is a constant.
        forwards: whether the result of each is its operand in another shape.
        stores: whether each stores its first operand.
        calls: whether each calls a function.
    """

    locations: Ints
    names: Ints
    constants: Bools
    forwards: Bools
    stores: Bools
    calls: Bools


class EdgeBuilder:
    """Finds the edges of a recorded run.

    Args:
        changes: that it recorded.
        links: that it recorded.
        actions: its actions.
        operations: what is known of its operations.
        operands: of its operations.
        values: of constants, by number, as texts show them.
        functions: returns by number the function in which an operation was first.
    """

    def __init__(
        self,
        changes: RecordedChanges,
        links: RecordedLinks,
        actions: RecordedActions,
        operations: Described,
        operands: Operands,
        values: Mapping[int, str],
        functions: Callable[[], Mapping[int, str]],
    ) -> None:
        self._actions = actions
        self._functions = functions
        self._operations = operations
        self._operands = operands
        self._values = values
        self._changes = changes
        self._all_links = links
        self._inserted = self._changes.of_kind("inserted")
        self._created = self._first(self._inserted.ordinals)
        self._times = self._first(self._inserted.times)

    def edges(self) -> Edges:
        """Return all edges that need no comparison of locations of different actions."""
        clones, bodies = self._links("cloned"), self._links("body")
        known = [
            self._made_by(one.sources, one.operations, Evidence.CLONED, one.ordinals)
            for one in (clones, bodies)
        ]
        known += [self._replaced(), self._inherited(), *self._created_by(clones.operations)]
        known.append(self._forwarded(Edges.joined(known)))
        known.append(self._fused(clones.operations))
        expansions = self._expansions()
        known.append(self._expanded(expansions, Edges.joined(known)))
        known.append(self._inlined(clones, Edges.joined(known)))
        known.append(self._recomputed(expansions, Edges.joined(known)))
        return _distinct(Edges.joined([*known, self._rewritten(Edges.joined(known))]))

    def _first(self, values: Ints) -> Ints:
        """Return the first value of the insertions of each operation id; 0 for none."""
        first = np.zeros(len(self._operations.locations), np.int64)
        first[self._inserted.operations[::-1]] = values[::-1]
        return first

    def _made_by(self, sources: Ints, targets: Ints, evidence: Evidence, ordinals: Ints) -> Edges:
        """Return edges to operations that were inserted for them."""
        return Edges.of(sources, targets, evidence, ordinals, self._times[targets])

    def _links(self, kind: str) -> Links:
        """Return the links of a kind that were not undone, without copies that were dropped."""
        links = self._all_links.of_kind(kind)
        is_kept = self._operations.names[links.operations] >= 0
        is_kept |= np.isin(links.operations, links.sources)  # copied again
        is_kept &= ~self._actions.is_undone[links.ordinals]
        return Links(*(column[is_kept] for column in links))

    def _replaced(self) -> Edges:
        """Replacements by new operations, and by equal operations that were there before.

        An operation that folds to one of its operands, or that a pattern replaces by a value that
        is there, did not become the operation that defines the value.
        """
        changes, links = self._changes.of_kind("replaced"), self._links("replaced")
        known = changes.by > 0
        sources = np.concatenate([changes.operations[known], links.sources])
        targets = np.concatenate([changes.by[known], links.operations])
        ordinals = np.concatenate([changes.ordinals[known], links.ordinals])
        times = np.concatenate([changes.times[known], self._times_of(links, changes)])
        # An action's nested actions have higher ordinals than it.
        is_new = self._created[targets] >= self._scopes(ordinals)
        is_merged = ~is_new & self._are_equal(sources, targets, ordinals)
        return Edges.joined(
            Edges.of(sources[which], targets[which], evidence, ordinals[which], times[which])
            for which, evidence in ((is_new, Evidence.REPLACED), (is_merged, Evidence.MERGED))
        )

    def _inherited(self) -> Edges:
        """Replacements that only operands show, as ``sccp`` replaces values by constants.

        What is neither a constant nor of the same kind need not compute the value: it may be the
        buffer that holds the value.
        """
        links, names = self._links("heir"), self._operations.names
        is_same = names[links.operations] == names[links.sources]
        which = is_same | self._operations.constants[links.operations]
        return self._made_by(
            links.sources[which], links.operations[which], Evidence.REPLACED, links.ordinals[which]
        )

    @cached_property
    def inherited(self) -> dict[int, int]:
        """By number, the pass in which another operation took the uses of an erased one."""
        found = self._inherited()
        return dict(zip(found.sources.tolist(), found.ordinals.tolist(), strict=True))

    @cached_property
    def folded(self) -> dict[int, int]:
        """By number, the fold or pattern that gave the uses of an operation to a known value."""
        changes, arguments = self._changes.of_kind("replaced"), self._links("replaced by argument")
        is_old = (changes.by > 0) & (self._created[changes.by] < self._scopes(changes.ordinals))
        ordinals = np.concatenate([changes.ordinals[is_old], arguments.ordinals])
        operations = np.concatenate([changes.operations[is_old], arguments.sources])
        which = (self._actions.patterns[ordinals] > 0) | self._actions.is_fold[ordinals]
        pairs = zip(operations[which].tolist(), ordinals[which].tolist(), strict=True)
        return dict(pairs)

    @cached_property
    def replaced_by_pattern(self) -> dict[int, int]:
        """By number, the last application of a pattern that replaced an operation."""
        changes = self._changes.of_kind("replaced")
        patterns = self._actions.patterns[changes.ordinals]
        which = patterns > 0
        pairs = zip(changes.operations[which].tolist(), patterns[which].tolist(), strict=True)
        return dict(pairs)

    @cached_property
    def erased(self) -> dict[int, tuple[int, int, int]]:
        """By number, the time, the action and the number of an erased operation."""
        changes = self._changes.of_kind("erased")
        columns = (changes.times, changes.ordinals, changes.operations)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return {row[2]: row for row in rows}

    def _are_equal(self, sources: Ints, targets: Ints, ordinals: Ints) -> Bools:
        """Whether operations are replaced by equal operations, as in CSE.

        A pass that replaces an operation by one of its kind merges the two, and a driver merges
        constants. A pattern or a fold that does so returns one of the operands.
        """
        names, constants = self._operations.names, self._operations.constants
        is_by_pass = (self._actions.patterns[ordinals] == 0) & ~self._actions.is_fold[ordinals]
        is_same = (names[sources] == names[targets]) & (names[sources] >= 0)
        return is_same & (is_by_pass | constants[sources])

    @staticmethod
    def _times_of(links: Links, changes: ChangesInOrder) -> Ints:
        """Return when the replacements happened that links complete; 0 if it is unknown."""
        keys = zip(changes.ordinals.tolist(), changes.operations.tolist(), strict=True)
        times = dict(zip(keys, changes.times.tolist(), strict=True))
        wanted = zip(links.ordinals.tolist(), links.sources.tolist(), strict=True)
        return np.array([times.get(one, 0) for one in wanted], np.int64)

    def _scopes(self, ordinals: Ints) -> Ints:
        """Return the application of a pattern around each action, or the action itself."""
        patterns = self._actions.patterns[ordinals]
        return np.where(patterns > 0, patterns, ordinals)

    def _created_by(self, clones: Ints) -> tuple[Edges, Edges]:
        """Operations that a fold or a pattern inserted, but for copies of others.

        What follows a fold in a pass need not be for it: an analysis such as that of ``sccp``
        folds without a change, and the pass inserts constants later. Passes fold operations that
        they have just inserted.
        """
        operations, ordinals = self._fresh(clones)
        folded, around = self._actions.operations[ordinals], self._actions.parents[ordinals]
        is_built = ~self._actions.is_pass[around] | (self._created[folded] == around)
        folds = self._actions.is_fold[ordinals] & is_built
        patterns = self._actions.patterns[ordinals]
        made = ~self._actions.is_fold[ordinals] & (patterns > 0)
        roots = self._actions.operations[patterns[made]]
        return (
            self._made_by(folded[folds], operations[folds], Evidence.FOLDED, ordinals[folds]),
            self._made_by(roots, operations[made], Evidence.CREATED, patterns[made]),
        )

    def _fresh(self, clones: Ints) -> tuple[Ints, Ints]:
        """Return the operations that were inserted, but for copies of others, and the actions."""
        fresh = ~np.isin(self._inserted.operations, clones)
        return self._inserted.operations[fresh], self._inserted.ordinals[fresh]

    def _fused(self, clones: Ints) -> Edges:
        """Operations that patterns inserted with the operands of others than their roots."""
        operations, makers = self._fresh(clones)
        patterns = self._actions.patterns[makers]
        made = ~self._actions.is_fold[makers] & (patterns > 0)
        applied = (self._actions.operations[patterns], operations, patterns)
        changes = self._changes.of_kind("replaced")
        columns = (changes.operations, changes.by, changes.ordinals)
        changed = zip(*(column.tolist() for column in columns), strict=True)
        replaced = {number: (by, ordinal) for number, by, ordinal in changed}
        rows = zip(*(column[made].tolist() for column in applied), strict=True)
        found = list(Fusions(self._operands.of, replaced).of(rows))
        sources, targets, ordinals = np.array(found, np.int64).reshape(-1, 3).T
        return self._made_by(sources, targets, Evidence.FUSED, ordinals)

    def _inlined(self, clones: Links, known: Edges) -> Edges:
        """Operations of functions in the places of calls, but for calls that became others."""
        erased, calls = self._changes.of_kind("erased"), self._operations.calls.copy()
        calls[known.sources[known.evidence != EVIDENCES.index(Evidence.CLONED)]] = False
        actions = np.unique(erased.ordinals[calls[erased.operations]])
        if not len(actions):
            return Edges.none()
        changes = self._changes.of_kind("inserted", "moved", "erased")
        changes = changes.only(np.isin(changes.ordinals, actions))
        rows = map(OperationChange, *(column.tolist() for column in changes[:4]))
        places = self._links("before")  # of branches in the place of returns
        origins = [*zip(*(column.tolist() for column in places[1:]), strict=True)]
        origins += zip(*(column.tolist() for column in clones[1:]), strict=True)
        numbers = set(np.flatnonzero(calls).tolist())
        found = list(Inlinings(numbers, self._functions(), dict(origins)).of(sorted(rows)))
        sources, targets, ordinals, times = np.array(found, np.int64).reshape(-1, 4).T
        return Edges.of(sources, targets, Evidence.INLINED, ordinals, times)

    def _forwarded(self, known: Edges) -> Edges:
        """Constants that were folded with their shape, as a broadcast of a constant is."""
        constants, forwards = self._operations.constants, self._operations.forwards
        which = known.evidence == EVIDENCES.index(Evidence.FOLDED)
        which &= forwards[known.sources] & constants[known.targets]
        folded = known.only(which)
        computations = self._computations
        sources = [computations.forwarded(one) for one in folded.sources.tolist()]
        found = Edges(np.array(sources, np.int64), *folded[1:])
        return found.only(constants[found.sources])

    @cached_property
    def _computations(self) -> Computations:
        _, names, _, forwards, stores, _ = self._operations
        clones = self._links("cloned")
        copied = dict(zip(clones.operations.tolist(), clones.sources.tolist(), strict=True))
        return Computations(self._operands, names, forwards, stores, copied)

    def _expansions(self) -> list[Expansion]:
        """Return what passes and steps put in the place of operations themselves."""
        places = self._links("before")
        scopes = np.unique(places.ordinals[self._actions.patterns[places.ordinals] == 0])
        changes = self._changes.of_kind("inserted", "replaced", "erased")
        changes = changes._replace(ordinals=self._owners(changes.ordinals))
        changes = changes.only(np.isin(changes.ordinals, scopes))
        rows = zip(*(column.tolist() for column in changes[:4]), strict=True)
        changed = (OwnChange(*row[1:]) for row in sorted(rows))
        fronts = dict(zip(places.operations.tolist(), places.sources.tolist(), strict=True))
        return list(Expansions(fronts, self._operations.locations).of(changed))

    def _expanded(self, found: Sequence[Expansion], known: Edges) -> Edges:
        """Operations without a known origin that a pass put in the place of another operation.

        What may be for an operation inside of the old one is not for the old one as a whole, which
        may be fused of several: an operation with the same name, and a constant, in any shape.
        """
        has_origin = np.zeros(len(self._times), np.bool_)
        has_origin[known.targets[known.evidence != EVIDENCES.index(Evidence.MERGED)]] = True
        names = self._operations.names
        has_origin |= self._operations.constants | self._operations.forwards
        pairs = [
            (one.old, new, one.scope)
            for one in found
            for new in one.news
            if not (has_origin[new] or names[new] in names[one.bodies])
        ]
        sources, targets, ordinals = np.array(pairs, np.int64).reshape(-1, 3).T
        return self._made_by(sources, targets, Evidence.EXPANDED, ordinals)

    def _recomputed(self, expansions: Sequence[Expansion], known: Edges) -> Edges:
        """New operations of an action that do what erased operations did.

        Those with a known origin are left out, and those that were replaced. The root of a pattern
        is no known origin, nor is what was merged into an operation later.
        """
        created, merged, cloned, expanded, folded = (
            known.evidence == EVIDENCES.index(one)
            for one in (
                Evidence.CREATED,
                Evidence.MERGED,
                Evidence.CLONED,
                Evidence.EXPANDED,
                Evidence.FOLDED,
            )
        )
        has_origin, is_replaced = np.zeros((2, len(self._times)), np.bool_)
        has_origin[known.targets[~created & ~merged & ~expanded]] = True
        is_replaced[known.sources[~created & ~cloned & ~expanded]] = True
        erased = self._by_scope(self._changes.of_kind("erased"), ~is_replaced)
        inserted = self._by_scope(self._inserted, ~has_origin)
        values = Values(self._values, self._operations.constants, known)
        folded &= self._operations.forwards[known.sources]
        shapes = dict(
            zip(known.targets[folded].tolist(), known.sources[folded].tolist(), strict=True)
        )
        pairs = self._computations.pairs
        found = [
            (old, shapes.get(new, new), scope)
            for scope in sorted(erased.keys() & inserted.keys())
            for old, new in pairs(erased[scope], inserted[scope], values.of)
        ]
        found += [
            (old, new, one.scope)
            for one in expansions
            for old, new in pairs(one.bodies, one.news, values.of, is_alone=True)
        ]
        kept = [row for row in found if not has_origin[row[1]]]
        sources, targets, ordinals = np.array(kept, np.int64).reshape(-1, 3).T
        return self._made_by(sources, targets, Evidence.RECOMPUTED, ordinals)

    def _owners(self, ordinals: Ints) -> Ints:
        """Return the action that made changes: a fold's are those of the action around it."""
        return np.where(self._actions.is_fold[ordinals], self._actions.parents[ordinals], ordinals)

    def _by_scope(self, changes: ChangesInOrder, which: Bools) -> dict[int, list[int]]:
        """By pattern, pass or step, return the operations that it changed."""
        scopes = self._scopes(self._owners(changes.ordinals))
        found: dict[int, list[int]] = {}
        kept = which[changes.operations]
        pairs = zip(scopes[kept].tolist(), changes.operations[kept].tolist(), strict=True)
        for scope, operation in pairs:
            found.setdefault(scope, []).append(operation)
        return found

    def _rewritten(self, known: Edges) -> Edges:
        """Operations that a pattern inserted in the place of erased operations besides its root.

        Only the location that they share shows which. Operations that were cloned or replaced
        are left out: what became of them is known. If several erased ones share a location, the
        name has to show which.
        """
        erased = self._changes.of_kind("erased")
        patterns = self._actions.patterns[erased.ordinals]
        codes, names = self._operations.locations, self._operations.names
        is_known = known.evidence != EVIDENCES.index(Evidence.CREATED)
        inside = (patterns > 0) & (codes[erased.operations] >= 0)
        inside &= erased.operations != self._actions.operations[patterns]
        inside &= ~np.isin(erased.operations, known.sources[is_known])
        sources, patterns = erased.operations[inside], patterns[inside]
        inserted = self._inserted
        makers = self._actions.patterns[inserted.ordinals]
        is_usable = (codes[inserted.operations] >= 0) & (makers > 0)
        usable = np.flatnonzero(is_usable & ~np.isin(inserted.operations, known.targets[is_known]))
        scale = len(codes) + 1  # a pattern application and a location as one number
        wanted = patterns * scale + codes[sources]
        offered = makers[usable] * scale + codes[inserted.operations[usable]]
        rows, found = matches(wanted, offered)
        targets = inserted.operations[usable[found]]
        _, places, counts = np.unique(wanted, return_inverse=True, return_counts=True)
        which = counts[places][rows] == 1
        which |= names[sources[rows]] == names[targets]
        at = rows[which]
        return self._made_by(sources[at], targets[which], Evidence.REWRITTEN, patterns[at])


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
