"""Whether what a program does after an action is allowed by what it did before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from actiondbg.validation.domain import POISON, Scalar
from actiondbg.validation.machine import (
    Buffer,
    Elements,
    FunctionOutcome,
    MemRef,
    RuntimeValue,
    VisibleEvent,
    indices_at,
)
from actiondbg.validation.strictness import Strictness
from actiondbg.validation.types import FloatType, IntegerType, ShapedType, Type, signed

# Relative, for results of functions in which the order of operations is open, or approximations.
_TOLERANCES = {"f64": 1e-9, "f32": 1e-4, "f16": 2e-2, "bf16": 1e-1}
_LOOSEST = 0.5
# Of a returned view whose memory was freed, or that lies in none.
NO_MEMORY = " may be accessed before, and not after"
_FREED = " is freed after, and not before"
_NOWHERE = "no known memory"
# Of a failed assertion: by the documentation a runtime may show it, or not.
OTHER_TEXT = "the text of a failed assertion"


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """What a run of a function did."""

    outcome: FunctionOutcome
    # The buffers of the arguments, as they are at the end; None for the buffer of a tensor, as no
    # caller sees what is written to it.
    memory: Sequence[Buffer | None]
    types: Sequence[Type]  # of the function's results
    has_frozen: bool = False  # it has frozen poison: another run may do something else


def disagreement(source: FunctionRun, target: FunctionRun, strictness: Strictness) -> str | None:
    """Return the first thing that the target does and the source does not allow, in words.

    Where the source has poison, the target may have anything.
    """
    check = _Check(strictness)
    if source.outcome.is_aborted or target.outcome.is_aborted:
        # Nobody sees the memory of a program that has aborted, which its last event says.
        return _events(check, source.outcome.events, target.outcome.events)
    pairs = zip(source.outcome.results, target.outcome.results, source.types, strict=True)
    for at, (left, right, type) in enumerate(pairs):
        found = check.values(left, right, type)
        if not found and strictness.sharing:
            found = _sharing(source, target, at)
        if found:
            return f"result {at}{found}"
    found = _events(check, source.outcome.events, target.outcome.events)
    if found:
        return found
    for at, (left, right) in enumerate(zip(source.memory, target.memory, strict=True)):
        found = check.buffers(left, right)
        if found:
            return f"memory of argument buffer {at}{found}"
    for symbol in sorted(source.outcome.globals.keys() & target.outcome.globals.keys()):
        found = check.buffers(source.outcome.globals[symbol], target.outcome.globals[symbol])
        if found:
            return f"global @{symbol}{found}"
    return None


def _sharing(source: FunctionRun, target: FunctionRun, at: int) -> str | None:
    """Return how a returned view shares other memory than before, to which its users may write."""
    left, right = (each.outcome.results[at] for each in (source, target))
    if not isinstance(left, MemRef) or not isinstance(right, MemRef) or 0 in left.sizes:
        return None
    if not left.buffer.is_alive:
        return None
    places = [
        places_of(run, at).get(id(view.buffer), _NOWHERE)
        for run, view in ((source, left), (target, right))
    ]
    if places[0] == places[1]:
        is_same = places[0] == _NOWHERE or left.places == right.places
        return None if is_same else f" shares other places of {places[0]} than before"
    return f" shares {places[0]} before and {places[1]} after"


def places_of(run: FunctionRun, before: int) -> dict[int, str]:
    """Return names of memory that the world knows, by identity, with some of the results."""
    results = run.outcome.results[:before]
    views = [(at, each) for at, each in enumerate(results) if isinstance(each, MemRef)]
    places = {id(each.buffer): f"result {at}" for at, each in reversed(views)}
    places |= {id(each): f"argument buffer {at}" for at, each in enumerate(run.memory)}
    return places | {id(each): f"global @{name}" for name, each in run.outcome.globals.items()}


def _events(
    check: _Check, source: Sequence[VisibleEvent], target: Sequence[VisibleEvent]
) -> str | None:
    for at, (left, right) in enumerate(zip(source, target, strict=False)):
        if left.kind != right.kind or len(left.operands) != len(right.operands):
            return f"event {at}: {left.kind} became {right.kind}"
        if left.text != right.text:
            return f"{OTHER_TEXT}: {left.text!r} before, {right.text!r} after"
        for one, other in zip(left.operands, right.operands, strict=True):
            found = check.values(one, other, left.type)
            if found:
                return f"event {at}, {left.kind}{found}"
    if len(source) != len(target):
        return f"{len(source)} events became {len(target)}"
    return None


class _Check:
    """Compares values."""

    def __init__(self, strictness: Strictness) -> None:
        self._strictness = strictness

    def values(self, left: RuntimeValue, right: RuntimeValue, type: Type | None) -> str | None:
        """Return how two values differ, beginning with the place in them."""
        if isinstance(left, Elements) and isinstance(right, Elements):
            if left.shape != right.shape:
                return f" has shape {left.shape} before and {right.shape} after"
            return self._items(left.items, right.items, left.element, left.shape)
        if isinstance(left, Elements) and isinstance(right, MemRef):
            return self._bufferized(left, right)
        if isinstance(left, MemRef) and isinstance(right, MemRef):
            return self._views(left, right)
        kind = type.element if isinstance(type, ShapedType) else type
        if self._agrees(left, right, kind):
            return None
        return f": {shown(left, kind)} before, {shown(right, kind)} after"

    def buffers(self, left: Buffer | None, right: Buffer | None) -> str | None:
        """Return how two buffers differ. A tensor has none: nobody sees its elements."""
        if right is None or (left is not None and not left.is_alive):
            return None
        if not right.is_alive:  # it belongs to the caller, also if it was a tensor
            return _FREED
        if left is None:
            return None
        return self._items(left.items, right.items, left.element, (len(left.items),))

    def _bufferized(self, left: Elements, right: MemRef) -> str | None:
        """Return how a tensor and the memref that it became differ."""
        if left.shape != right.sizes:
            return f" has shape {left.shape} before and sizes {right.sizes} after"
        if not right.buffer.is_alive:
            return " is freed"
        return self._items(left.items, _seen(right), left.element, left.shape)

    def _views(self, left: MemRef, right: MemRef) -> str | None:
        if left.sizes != right.sizes:
            return f" has sizes {left.sizes} before and {right.sizes} after"
        if not left.buffer.is_alive:
            return None
        if not right.buffer.is_alive:
            return NO_MEMORY
        return self._items(_seen(left), _seen(right), left.buffer.element, left.sizes)

    def _items(
        self,
        left: Sequence[RuntimeValue],
        right: Sequence[RuntimeValue],
        kind: Type | None,
        shape: tuple[int, ...],
    ) -> str | None:
        if len(left) != len(right):
            return f" has {len(left)} elements before and {len(right)} after"
        for at, (one, other) in enumerate(zip(left, right, strict=True)):
            if isinstance(one, Elements) or isinstance(other, Elements):
                found = self.values(one, other, None)
                if found:
                    return f"{_place(at, shape)}{found}"
            elif not self._agrees(one, other, kind):
                where = _place(at, shape)
                return f"{where}: {shown(one, kind)} before, {shown(other, kind)} after"
        return None

    def _agrees(self, left: Scalar, right: Scalar, kind: Type | None) -> bool:
        if isinstance(left, tuple) and isinstance(right, tuple):
            parts = cast("tuple[Scalar, ...]", left), cast("tuple[Scalar, ...]", right)
            return all(self._agrees(*each, kind) for each in zip(*parts, strict=True))
        if left is POISON:
            return True
        if right is POISON:
            return False
        if isinstance(left, float) and isinstance(right, float):
            return self._floats_agree(left, right, kind)
        return left == right

    def _floats_agree(self, left: float, right: float, kind: Type | None) -> bool:
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        if left == right:
            signs = math.copysign(1, left) == math.copysign(1, right)
            return signs or not self._strictness.zeros
        if self._strictness.bits:
            return False
        name = kind.name if isinstance(kind, FloatType) else "f32"
        near = _TOLERANCES.get(name, _LOOSEST)
        return math.isclose(left, right, rel_tol=near, abs_tol=near)


def _seen(view: MemRef) -> list[RuntimeValue]:
    """Return the elements of a view, row by row; poison outside of its memory."""
    items = view.buffer.items
    return [items[place] if 0 <= place < len(items) else POISON for place in view.places]


def _place(at: int, shape: tuple[int, ...]) -> str:
    return str(indices_at(at, shape)) if shape else ""


def shown(value: RuntimeValue, kind: Type | None) -> str:
    """Return a value as a person reads it: integers signed, but i1."""
    if isinstance(value, Elements):
        return f"[{', '.join(shown(item, value.element) for item in value.items[:64])}]"
    if isinstance(value, int) and isinstance(kind, IntegerType):
        if kind.width == 1:
            return "true" if value else "false"
        return str(signed(value, kind.width))
    if isinstance(value, float):
        return repr(value)
    return str(value)
