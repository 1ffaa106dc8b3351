"""Where what a function did differs from what it was allowed to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.machine import Buffer, Elements, MemRef, Outcome, RuntimeValue
from actiondbg.validation.proof.operation import Value
from actiondbg.validation.proof.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of a function did.

    Args:
        outcome: what the machine saw.
        memory: the buffers of the arguments.
    """

    outcome: Outcome
    memory: Sequence[Buffer]


@dataclass(frozen=True, slots=True)
class Difference:
    """A scalar, or a whole, that may differ.

    Args:
        where: in words.
        condition: where it does.
        source: the scalar before; None if something else differs.
        target: the scalar after.
    """

    where: str
    condition: Term
    source: Value | None = None
    target: Value | None = None


def differences(terms: Terms, source: Run, target: Run) -> Iterator[Difference]:
    """Yield what may differ; what is the same in each case is left out.

    Raises:
        NotInterpreted: values cannot be compared.
    """
    comparison = _Comparison(terms, source, target)
    for each in comparison.all():
        if each.condition.value != 0:
            yield each


class _Comparison:
    def __init__(self, terms: Terms, source: Run, target: Run) -> None:
        self._terms = terms
        self._source = source
        self._target = target
        self._places = [_places(source), _places(target)]

    def all(self) -> Iterator[Difference]:
        before, after = self._source.outcome, self._target.outcome
        if before.is_aborted != after.is_aborted:
            yield self._certain("whether the program ends itself")
            return
        if not before.is_aborted:
            for at, pair in enumerate(zip(before.results, after.results, strict=True)):
                yield from self._values(f"result {at}", *pair)
        yield from self._events()
        if before.is_aborted:
            return
        for at, pair in enumerate(zip(self._source.memory, self._target.memory, strict=True)):
            yield from self._buffers(f"memory of argument buffer {at}", *pair)
        for symbol in sorted(before.globals.keys() & after.globals.keys()):
            where = f"global @{symbol}"
            yield from self._buffers(where, before.globals[symbol], after.globals[symbol])

    def _certain(self, where: str) -> Difference:
        return Difference(where, self._terms.true)

    def _events(self) -> Iterator[Difference]:
        before, after = self._source.outcome.events, self._target.outcome.events
        kinds = [[(each.kind, len(each.operands)) for each in events] for events in (before, after)]
        if kinds[0] != kinds[1]:
            yield self._certain("the order or the number of events")
            return
        for at, (left, right) in enumerate(zip(before, after, strict=True)):
            for one, other in zip(left.operands, right.operands, strict=True):
                yield from self._values(f"event {at}, {left.kind}", one, other)

    def _values(self, where: str, left: RuntimeValue, right: RuntimeValue) -> Iterator[Difference]:
        if isinstance(left, Value) and isinstance(right, Value):
            yield self._scalars(where, left, right)
        elif isinstance(left, Elements) and isinstance(right, Elements):
            if left.shape != right.shape:
                yield self._certain(f"the shape of {where}")
                return
            yield from self._items(where, left.items, right.items)
        elif isinstance(left, MemRef) and isinstance(right, MemRef):
            yield from self._views(where, left, right)
        elif isinstance(left, tuple) and isinstance(right, tuple):
            parts: Any = left, right
            yield from self._items(where, *parts)
        elif left != right:
            raise NotInterpreted(f"proof with a value such as {where}")

    def _scalars(self, where: str, left: Value, right: Value) -> Difference:
        terms = self._terms
        differs = terms.or_(right.poison, terms.not_(terms.eq(left.term, right.term)))
        condition = terms.and_(terms.not_(left.poison), differs)
        return Difference(where, condition, left, right)

    def _items(
        self, where: str, left: Sequence[RuntimeValue], right: Sequence[RuntimeValue]
    ) -> Iterator[Difference]:
        if len(left) != len(right):
            yield self._certain(f"the length of {where}")
            return
        for at, pair in enumerate(zip(left, right, strict=True)):
            yield from self._values(f"element {at} of {where}", *pair)

    def _buffers(self, where: str, left: Buffer, right: Buffer) -> Iterator[Difference]:
        if left.is_alive != right.is_alive:
            yield self._certain(f"whether the {where} is freed")
        elif left.is_alive:
            yield from self._items(where, left.items, right.items)

    def _views(self, where: str, left: MemRef, right: MemRef) -> Iterator[Difference]:
        if left.sizes != right.sizes:
            yield self._certain(f"the sizes of {where}")
            return
        if not left.buffer.is_alive:
            return
        if not right.buffer.is_alive:
            yield self._certain(f"whether {where} may be accessed")
            return
        places = [
            known.get(id(view.buffer))
            for known, view in zip(self._places, (left, right), strict=True)
        ]
        if places[0] != places[1] or (places[0] and left.offset != right.offset):
            raise NotInterpreted(f"proof where {where} shares other memory than before")
        yield from self._items(where, _seen(left), _seen(right))


def _places(run: Run) -> Mapping[int, str]:
    """Return names of memory that the world knows, by identity."""
    known = {id(buffer): f"argument {at}" for at, buffer in enumerate(run.memory)}
    known.update({id(buffer): f"@{symbol}" for symbol, buffer in run.outcome.globals.items()})
    return known


def _seen(view: MemRef) -> list[RuntimeValue]:
    """Return the elements of a view, row by row."""
    places = [view.offset]
    for size, stride in zip(view.sizes, view.strides, strict=True):
        places = [place + at * stride for place in places for at in range(size)]
    return [view.buffer.items[place] for place in places]
