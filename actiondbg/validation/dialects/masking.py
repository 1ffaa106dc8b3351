"""``vector.mask``, and the operations that it may have inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from actiondbg.validation.dialects.scalars import chosen
from actiondbg.validation.dialects.vector import vector
from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.machine import Elements, Frame, Machine, RuntimeValue, handles
from actiondbg.validation.program import Operation

# Given the mask around the operation, if there is one.
Maskable = Callable[[Machine, Operation, Frame, Elements | None], Sequence[RuntimeValue]]
_MASKABLE: dict[str, Maskable] = {}


def maskable(name: str) -> Callable[[Maskable], Maskable]:
    """Register a function as the meaning of an operation, with a mask around it and without."""

    def register(meaning: Maskable) -> Maskable:
        _MASKABLE[name] = meaning
        handles(name)(lambda machine, operation, frame: meaning(machine, operation, frame, None))
        return meaning

    return register


@handles("vector.mask")
def _mask(machine: Machine, operation: Operation, frame: Frame) -> Sequence[RuntimeValue]:
    mask, *others = frame.all(operation.operands)
    lanes = vector(mask, operation)
    *inner, end = operation.regions[0].blocks[0].operations
    if not inner:
        if others:
            raise NotInterpreted("vector.mask of nothing, with values to pass through")
        return frame.all(end.operands)
    (masked,) = inner
    meaning = _MASKABLE.get(masked.name)
    if meaning is None:
        raise NotInterpreted(f"{masked.name} in vector.mask")
    results = meaning(machine, masked, frame, lanes)
    if list(end.operands) != list(masked.results):
        raise NotInterpreted("vector.mask that yields other values")
    return [_passed(machine, lanes, others[0], results)] if others else results


def _passed(
    machine: Machine, mask: Elements, other: RuntimeValue, results: Sequence[RuntimeValue]
) -> Elements:
    """Return a result with the lanes that are off from another vector."""
    (result,) = results
    fits = (
        isinstance(result, Elements)
        and isinstance(other, Elements)
        and result.shape == other.shape == mask.shape
    )
    if not fits:
        raise NotInterpreted("vector.mask with values to pass through of another shape")
    machine.charge(len(mask.items))
    items = [
        chosen(machine, lane, mine, passed, result.element)
        for lane, mine, passed in zip(mask.items, result.items, other.items, strict=True)
    ]
    return Elements(result.shape, items, result.element)
