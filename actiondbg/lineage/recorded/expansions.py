"""What actions put in the place of operations that they erase, by order, operands and constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.dumps.text_chains import is_distinctive
from actiondbg.lineage.graph import Edges
from actiondbg.lineage.lineage import EVIDENCES
from actiondbg.lineage.recorded.change_columns import Operands
from actiondbg.recording.format.arrow import Bools, Ints

_DEPTH = 3  # operations between the root of a pattern and an operation that it fuses
_MOST = 16  # operations of the same distance, and replacements of one


class OwnChange(NamedTuple):
    """A change that a pass or a step makes itself.

    Args:
        scope: the ordinal of the pass or step.
        operation: the operation.
        kind: ``inserted``, ``replaced`` or ``erased``.
    """

    scope: int
    operation: int
    kind: str


class Expansion(NamedTuple):
    """An operation that was replaced or erased, and what was put in its place.

    Args:
        scope: the pass or step that did it.
        old: the operation.
        news: the new ones, in the order of time.
        bodies: the operations that were erased after it, such as those in its regions.
    """

    scope: int
    old: int
    news: list[int]
    bodies: list[int]


class Expansions:
    """Finds the operations in whose place a pass put others.

    The pass inserts the new ones in front of the old one, and the old one is the next that it
    replaces or erases.

    Args:
        places: by number of a new operation, the old one in front of which it was inserted.
        locations: by number, as codes: a new operation has that of the old one, or of one in it.
    """

    def __init__(self, places: Mapping[int, int], locations: Ints) -> None:
        self._places = places
        self._locations = locations

    def of(self, changes: Iterable[OwnChange]) -> Iterator[Expansion]:
        """Iterate over the expansions that changes of passes show, in the order of time."""
        fresh: dict[int, set[int]] = {}  # by scope, what it inserted since the latest expansion
        made: dict[int, set[int]] = {}
        ending: dict[int, Expansion] = {}
        for scope, number, kind in changes:
            if kind == "inserted":
                if scope in ending:
                    yield from self._located(ending.pop(scope))
                fresh.setdefault(scope, set()).add(number)
                made.setdefault(scope, set()).add(number)
            elif number in made.get(scope, ()):
                continue
            elif scope in ending:
                ending[scope].bodies.append(number)
            elif waiting := fresh.pop(scope, None):
                news = sorted(one for one in waiting if self._places.get(one) == number)
                ending[scope] = Expansion(scope, number, news, [])
        for one in ending.values():
            yield from self._located(one)

    def _located(self, found: Expansion) -> Iterator[Expansion]:
        known = {int(self._locations[one]) for one in (found.old, *found.bodies)}
        news = [one for one in found.news if int(self._locations[one]) in known]
        if news:
            yield found._replace(news=news)


class OperationChange(NamedTuple):
    """A change of an operation.

    Args:
        time: when it happened, as a number that grows with time.
        ordinal: of the action that made it.
        operation: the operation.
        kind: ``inserted``, ``moved`` or ``erased``.
    """

    time: int
    ordinal: int
    operation: int
    kind: str


class Inlining(NamedTuple):
    """An operation in the place of a call.

    Args:
        call: the call, which was erased.
        operation: an operation of the function that was called, or a copy of the operation.
        ordinal: of the action that did it.
        time: when the call was erased.
    """

    call: int
    operation: int
    ordinal: int
    time: int


class Inlinings:
    """Finds the operations in the places of calls.

    An inliner copies or moves the operations of another function into the function of the call,
    and erases the call next. If it moves operations, it moves the whole body: no change tells of
    the blocks that it moves as a whole.

    Args:
        calls: the calls, by number.
        functions: by number, the function in which an operation was first.
        origins: by number of a new operation, the operation that it copies or replaces.
    """

    def __init__(
        self, calls: Container[int], functions: Mapping[int, str], origins: Mapping[int, int]
    ) -> None:
        self._calls = calls
        self._origins = origins
        self._function = dict(functions)  # where each is now
        self._bodies: dict[str, dict[int, None]] = {}
        for number, function in functions.items():
            self._bodies.setdefault(function, {})[number] = None
        self._came: dict[int, dict[int, str]] = {}  # by action, with the functions before

    def of(self, changes: Iterable[OperationChange]) -> Iterator[Inlining]:
        """Iterate over the inlinings that changes show, in the order of time."""
        for change in changes:
            number = change.operation
            if change.kind == "erased":
                self._bodies.get(self._function.get(number, ""), {}).pop(number, None)
                came = self._came.get(change.ordinal, {})
                came.pop(number, None)
                if number in self._calls:
                    for one in self._placed(number, self._came.pop(change.ordinal, {})):
                        yield Inlining(number, one, change.ordinal, change.time)
            else:
                is_new = change.kind == "inserted"
                original = self._origins.get(number) if is_new else number
                before = self._function.get(original, "") if original is not None else ""
                if before and not (is_new and before == self._function.get(number)):
                    self._came.setdefault(change.ordinal, {}).setdefault(number, before)

    def _placed(self, call: int, came: Mapping[int, str]) -> Iterator[int]:
        """Iterate over the operations in the place of a call, and note that they are there now."""
        to = self._function.get(call, "")
        news = {
            number: before
            for number, before in came.items()
            if before != to and self._function.get(number) in (None, "", before, to)
        }
        moved = {before for number, before in news.items() if self._function.get(number) == before}
        bodies = [self._bodies.pop(function, {}) for function in moved]
        for number in dict.fromkeys((*news, *(one for body in bodies for one in body))):
            self._function[number] = to
            self._bodies.setdefault(to, {})[number] = None
            yield number


class Fusion(NamedTuple):
    """An operation that a pattern fused into its user.

    Args:
        old: the operation, which defines an operand of the root, directly or not.
        new: the one that the pattern inserted.
        pattern: the ordinal.
    """

    old: int
    new: int
    pattern: int


class Fusions:
    """Finds the operations that patterns fuse with their roots, such as a product with a sum.

    The operands show it: the new operation takes all those of the old one, and the root has
    nothing to do with some of them, so that the pattern read them from the old one.

    Args:
        operands: of an operation, by number, its definers; 0 for arguments of blocks.
        replaced: by number, what took the uses of an operation, and the ordinal of the action.
    """

    def __init__(
        self,
        operands: Callable[[int], Sequence[int]],
        replaced: Mapping[int, tuple[int, int]],
    ) -> None:
        self._operands = operands
        self._replaced = replaced

    def of(self, inserted: Iterable[tuple[int, int, int]]) -> Iterator[Fusion]:
        """Iterate over the fusions.

        Args:
            inserted: the root of a pattern, what it inserted, and the ordinal.
        """
        for root, new, pattern in inserted:
            taken, own = (self._definers(one, pattern) for one in (new, root))
            if len(taken) < 2 or taken == own:  # most conversions
                continue
            taken, own = Counter(taken), Counter(own)
            if len(taken) > 1 and taken - own:
                found = self._read(own, taken, pattern)
                yield from (Fusion(old, new, pattern) for old in found)

    def _read(self, own: Counter[int], taken: Counter[int], pattern: int) -> Iterator[int]:
        """Iterate over the operations behind a root all of whose operands are taken."""
        around = self._around(own, taken, pattern)
        uses = sum(around.values(), own)
        for one, inner in around.items():
            if inner.total() < 2 or not inner <= taken:
                continue
            read = inner.keys() - own.keys() - {0}
            # All arguments that the root does not take itself are of this operation.
            if inner[0] and uses[0] == taken[0] == own[0] + inner[0]:
                read.add(0)
            elif inner[0]:
                read = {each for each in read if uses[each] == 1}
            if read:
                yield one

    def _around(
        self, own: Counter[int], taken: Counter[int], pattern: int
    ) -> dict[int, Counter[int]]:
        """Return the operations behind a root that are not taken themselves, and their definers."""
        found: dict[int, Counter[int]] = {}
        fresh = own.keys() - taken.keys() - {0}
        for _ in range(_DEPTH):
            found |= {one: Counter(self._definers(one, pattern)) for one in sorted(fresh)[:_MOST]}
            fresh = {inner for one in fresh & found.keys() for inner in found[one]}
            fresh -= taken.keys() | found.keys() | {0}
        return found

    def _definers(self, number: int, pattern: int) -> list[int]:
        return [self._current(one, pattern) for one in self._operands(number)]

    def _current(self, number: int, pattern: int) -> int:
        """Return what had taken the uses of an operation before the application of a pattern."""
        for _ in range(_MOST):
            by, ordinal = self._replaced.get(number, (number, pattern))
            if ordinal >= pattern or by == number:
                break
            number = by
        return number


# --- operations that compute the same from the same constants ---


_STORE = -2  # the name of all stores
_OTHER = "*"  # an operand that is no constant, and is not computed by what is compared


class Computation(NamedTuple):
    """What an operation computes.

    Args:
        key: equal for equal operations on equal operands.
        is_marked: whether a constant that no pass makes by itself is part of it.
    """

    key: int
    is_marked: bool


class Values:
    """The values of constants, by number.

    Args:
        texts: those that a text shows.
        are_constants: by number.
        known: the edges that actions show: a copy of a constant has its value.
    """

    def __init__(self, texts: Mapping[int, str], are_constants: Bools, known: Edges) -> None:
        self._texts = texts
        codes = [code for code, one in enumerate(EVIDENCES) if one.keeps_value]
        which = np.isin(known.evidence, codes)
        which &= are_constants[known.sources] & are_constants[known.targets]
        self._pairs = np.stack((known.sources[which], known.targets[which]), axis=1).tolist()

    def of(self, number: int) -> str:
        """Return a value with its type; empty if it is unknown."""
        return self._known.get(number, "")

    @cached_property
    def _known(self) -> dict[int, str]:
        found = dict(self._texts)
        copies: dict[int, list[int]] = {}
        for one, other in self._pairs:
            copies.setdefault(one, []).append(other)
            copies.setdefault(other, []).append(one)
        queue = list(found)
        for number in queue:  # grows while it is iterated over
            for other in copies.get(number, ()):
                if other not in found:
                    found[other] = found[number]
                    queue.append(other)
        return found


class Computations:
    """Finds what an action made anew of operations that it erased, such as vectors of scalars.

    Nothing but the result shows that: an operation that the action inserted does what one that it
    erased did, with the same constants in the same places, of which one is in no other place.

    Args:
        operands: of all operations.
        names: by number, the name of each operation as a code.
        forwards: by number, whether the result is the operand in another shape.
        stores: by number, whether it stores its first operand; stores of scalars and of vectors
            have different names and indices.
        copied: by number of a copy, the operation that was copied.
    """

    def __init__(
        self,
        operands: Operands,
        names: Ints,
        forwards: Bools,
        stores: Bools,
        copied: Mapping[int, int],
    ) -> None:
        self._operands = operands
        self._names = np.where(stores, _STORE, names)
        self._forwards = forwards
        self._stores = stores
        self._copied = copied

    def _inputs(self, number: int) -> Sequence[int]:
        """Return the definers of the operands of which an operation computes something."""
        operands = self._operands.of(number)
        return operands[:1] if self._stores[number] else operands

    def pairs(
        self,
        erased: Iterable[int],
        inserted: Iterable[int],
        values: Callable[[int], str],
        *,
        is_alone: bool = False,
    ) -> Iterator[tuple[int, int]]:
        """Iterate over the operations that an action made anew, with those that replaced them.

        Args:
            erased: by the action.
            inserted: by the action, and from nothing that is known.
            values: the value of a constant; empty for an unknown one, or no constant.
            is_alone: the inserted ones were made for the erased ones: it is enough that no other
                of either does the same, with whatever constants.
        """
        olds, news = sorted(set(erased)), sorted(set(inserted))
        shared = {*self._names[olds].tolist()} & {*self._names[news].tolist()}
        before, after = (
            [one for one in each if int(self._names[one]) in shared] for each in (olds, news)
        )
        paired: set[int] = set()
        for known in (values, _no_value) if is_alone else (values,):
            found = list(self._equal(before, after, known, is_alone=is_alone))
            for old, new in found:
                if paired.isdisjoint((old, new)):
                    yield old, new
                    yield from self._constants(old, new, values)
            paired.update(*found)

    def _equal(
        self,
        olds: Iterable[int],
        news: Iterable[int],
        values: Callable[[int], str],
        *,
        is_alone: bool,
    ) -> Iterator[tuple[int, int]]:
        """Iterate over pairs of operations that compute the same, as no others do."""
        keys: dict[tuple[int | str, ...], int] = {}
        before, after = (self._computed(each, keys, values) for each in (olds, news))
        found: dict[int, tuple[list[int], list[int]]] = {}
        for at, computed in enumerate((before, after)):
            for number, computation in computed.items():
                if is_alone or computation.is_marked:
                    found.setdefault(computation.key, ([], []))[at].append(number)
        for old, new in found.values():
            # Copies of one operation, such as those of an unrolled loop, have the same origin.
            is_single = len({self._original(one) for one in old}) == 1
            if is_single and (len(new) == 1 or not is_alone):
                yield from ((old[0], one) for one in new)

    def _original(self, number: int) -> int:
        while (
            source := self._copied.get(number, number)
        ) < number:  # older ones have lower numbers
            number = source
        return number

    def _computed(
        self,
        members: Iterable[int],
        keys: dict[tuple[int | str, ...], int],
        values: Callable[[int], str],
    ) -> dict[int, Computation]:
        """Return what operations compute; an operand comes before its user."""
        found: dict[int, Computation] = {}
        for number in members:
            parts: list[int | str] = []
            is_marked = False
            for one in self._inputs(number):
                inner = found.get(one)
                value = "" if inner else self._value(one, values)
                parts.append(inner.key if inner else value or _OTHER)
                is_marked |= inner.is_marked if inner else is_distinctive(value)
            if parts:
                key = keys.setdefault((int(self._names[number]), *parts), len(keys))
                found[number] = Computation(key, is_marked)
        return found

    def _constants(
        self, old: int, new: int, values: Callable[[int], str]
    ) -> Iterator[tuple[int, int]]:
        """Iterate over the constants that are operands of both, in the same places."""
        for one, other in zip(self._inputs(old), self._inputs(new), strict=True):
            if one != other and self._value(other, values):
                yield one, other

    def _value(self, number: int, values: Callable[[int], str]) -> str:
        return values(self.forwarded(number))

    def forwarded(self, number: int) -> int:
        """Return the operation whose result another one is in some shape; itself for most."""
        for _ in range(8):  # shapes in shapes
            if not self._forwards[number]:
                break
            number = next(iter(self._operands.of(number)), 0)
        return number


def _no_value(_: int) -> str:
    return ""
