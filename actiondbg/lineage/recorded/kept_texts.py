"""The edges that no action shows, but source locations, constants, attributes and symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from actiondbg.ir.tokens import STRING
from actiondbg.ir.written_locations import without_trailing_locations
from actiondbg.lineage.dumps.text_chains import (
    CONSTANTS,
    SPLAT,
    SYMBOLS,
    ComparedTexts,
    constant_value,
    is_distinctive,
)
from actiondbg.lineage.graph import Edges, LineageGraph
from actiondbg.lineage.lineage import Evidence
from actiondbg.lineage.locations import HANDFUL, Location, SourceRange
from actiondbg.lineage.recorded.edges import Described
from actiondbg.lineage.stage import Operation, Stage, is_constant, symbol_around
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
        self._index = stage.location_index
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
                # Most locations are one position, which need not be parsed to tell that.
                text.count('":') > 1 and "callsite(" not in text and len(self._ranges(code)) > 1
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


# --- constants, attributes and symbols ---


_ATTRIBUTE = re.compile(rf"(?<![\w.$-])[\w.$-]+ = {STRING}")


class KeptTexts:
    """Finds the operations of the input whose constant, attribute or symbol a later one has.

    An operation of the output without an origin in the input is followed back to what a pass
    inserted: a constant, as by ``sccp``, or an operation that a pass built anew. Its origin is the
    operation of the input with the same text that the pass erased in the same function; or else
    the only one with the text, in its function or at all: a constant if passes do not make the
    value themselves, another operation if nothing else was made from it.

    Args:
        first: the input.
        last: the output.
        makers: by number, the action that inserted an operation.
        erasers: by number, the action that erased an operation.
    """

    def __init__(
        self, first: Stage, last: Stage, makers: Mapping[int, int], erasers: Mapping[int, int]
    ) -> None:
        self._first, self._last = first, last
        self._makers, self._erasers = makers, erasers

    def edges(self, known: LineageGraph) -> Edges:
        """Return edges to operations to which no action leads from the input.

        A location may show only the operation around them.

        Args:
            known: the edges that actions show.
        """
        found = list(dict.fromkeys(self._found(known)))
        sources, targets = np.array(found, np.int64).reshape(-1, 2).T
        ordinals = np.array([self._makers[to] for to in targets.tolist()], np.int64)
        return Edges.of(sources, targets, Evidence.TEXT, ordinals)

    def _found(self, known: LineageGraph) -> Iterator[tuple[int, int]]:
        nodes = np.asarray(self._first.nodes, np.int64)
        has_body = np.array([self._first.has_body(one.index) for one in self._first], np.bool_)
        # A function leads to all that a pattern made in it.
        derived, defined = known.derived(nodes[has_body]), known.derived(nodes)
        olds = _by_text(self._first)
        for key, indices in _by_text(self._last).items():
            news = [self._last[index] for index in indices if key in olds]
            news = [new for new in news if not (defined if new.symbol else derived)[new.node]]
            if not news:
                continue
            candidates = _Candidates([self._first[index] for index in olds[key]], self._erasers)
            for new in news:
                for root in known.ends(known.reach(new.node, back=True)) & self._makers.keys():
                    old = candidates.erased_by(self._makers[root], symbol_around(new))
                    if old is None:
                        old = candidates.only_one(symbol_around(new))
                        if old is None or not self._is_kept(key, old, known):
                            continue
                    yield old.node, root

    def _is_kept(self, key: str, old: Operation, known: LineageGraph) -> bool:
        """Whether the text alone shows that later operations were made from the one that had it."""
        if is_constant(old.name):
            return is_distinctive(key)
        return old.node in self._erasers and not known.has_heirs(old.node)


class _Candidates:
    """The operations of the input with the same text.

    Args:
        operations: all of them.
        erasers: by number, the action that erased an operation.
    """

    def __init__(self, operations: Sequence[Operation], erasers: Mapping[int, int]) -> None:
        self._all = operations
        self._by_function: dict[str, list[Operation]] = {}
        self._by_eraser: dict[tuple[int | None, str], list[Operation]] = {}
        for one in operations:
            function = symbol_around(one)
            self._by_function.setdefault(function, []).append(one)
            self._by_eraser.setdefault((erasers.get(one.node), function), []).append(one)

    def erased_by(self, action: int, function: str) -> Operation | None:
        """Return the only one in a function that an action erased."""
        return _only(self._by_eraser.get((action, function), ()))

    def only_one(self, function: str) -> Operation | None:
        """Return the only one in a function, or if there is none in it, the only one at all."""
        return _only(self._by_function.get(function) or self._all)


def _only(operations: Sequence[Operation]) -> Operation | None:
    return operations[0] if len(operations) == 1 else None


def constant_values(stage: Stage) -> dict[int, str]:
    """Return the values of the constants of a stage, as printed, by number; those of splats."""
    found: dict[int, str] = {}
    for index, name in enumerate(stage.names):
        if is_constant(name):
            value = constant_value(stage.text_lines[stage.lines[index] - 1], exactly=True)
            found[stage.nodes[index]] = SPLAT.sub(r"\1 : \2", value)
    return {number: value for number, value in found.items() if value}


def _by_text(stage: Stage) -> dict[str, list[int]]:
    """Return the operations of a stage by what later ones keep.

    That is the value of a constant, of which a splat counts as its element; and of others, the
    attributes that are strings, and the symbol.
    """
    texts = ComparedTexts(stage)
    found: dict[str, list[int]] = {}
    for key, indices in texts.groups(CONSTANTS).items():
        found.setdefault(SPLAT.sub(r"\1 : \2", key), []).extend(indices)
    for path, indices in texts.groups(SYMBOLS).items():
        found.setdefault(path, []).extend(indices)
    for index, name in enumerate(stage.names):
        if not is_constant(name) and stage.has_body(index):
            for attribute in dict.fromkeys(_ATTRIBUTE.findall(_own_text(stage, index))):
                found.setdefault(attribute, []).append(index)
    return found


def _own_text(stage: Stage, index: int) -> str:
    """Return the text of an operation, without its regions and locations."""
    first, last = stage.lines[index] - 1, stage.last_lines[index] - 1
    lines = [stage.text_lines[at] for at in dict.fromkeys((first, last))]
    return "\n".join(map(without_trailing_locations, lines))


def actions_by_number(numbers: Ints, ordinals: Ints) -> dict[int, int]:
    """Return the action of each operation that has one."""
    known = ordinals > 0
    return dict(zip(numbers[known].tolist(), ordinals[known].tolist(), strict=True))
