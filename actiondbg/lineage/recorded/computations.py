"""The edges between operations that compute the same from the same constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from actiondbg.lineage.dumps.operation_texts import is_distinctive
from actiondbg.lineage.evidence import EVIDENCES, Evidence
from actiondbg.lineage.graph import Edges
from actiondbg.lineage.recorded.operands import Operands
from actiondbg.recording.format.arrow import Bools, Ints

_STORE = -2  # the name of all stores
_OTHER = "*"  # an operand that is no constant, and is not computed by what is compared
_SAME_VALUE = (Evidence.CLONED, Evidence.REPLACED, Evidence.MERGED, Evidence.FOLDED)


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
        codes = [EVIDENCES.index(one) for one in _SAME_VALUE]
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
