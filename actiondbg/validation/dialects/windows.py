"""Windows of vectors onto memory and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from actiondbg.validation.dialects.memory import (
    check_alive,
    check_writable,
    read_items,
    write_items,
)
from actiondbg.validation.dialects.scalars import bounded, chosen
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Buffer,
    Elements,
    Machine,
    MemRef,
    RuntimeValue,
    row_major,
)
from actiondbg.validation.types import INDEX

# Below every position, also those that negative strides lead to.
OUTSIDE = -(2**80)  # an element that nobody may access
BEYOND = -(2**81)  # an element that is outside, as the operation allows


def view(value: RuntimeValue, *, is_written: bool) -> MemRef:
    """Return memory, or a tensor as memory: a copy if it is written.

    Raises:
        UndefinedBehaviour: the memory is freed, or constant.
    """
    if isinstance(value, Elements):
        items = list(value.items) if is_written else cast("list[RuntimeValue]", value.items)
        return MemRef(Buffer(items, value.element), 0, value.shape, row_major(value.shape))
    if not isinstance(value, MemRef):
        raise NotInterpreted("elements of neither a tensor nor memory")
    (check_writable if is_written else check_alive)(value)
    return value


@dataclass(frozen=True, slots=True)
class Window:
    """Where the elements of a vector are in a view."""

    shape: tuple[int, ...]  # of the vector, without the dimensions of an element
    # Of the view, one for each of the shape; None if all elements of it are one.
    dimensions: tuple[int | None, ...]
    may_leave: tuple[bool, ...]  # for each of the shape, whether elements may be beyond the view
    # Whether an element beyond the end of a row is an element of the next row.
    goes_on: bool = False

    def places(
        self, machine: Machine, source: MemRef, starts: Sequence[Scalar], *, is_masked: bool
    ) -> list[int]:
        """Return the places of the elements, ``OUTSIDE`` and ``BEYOND`` among them.

        Raises:
            UndefinedBehaviour: there is no mask, and an element is outside that must not be.
        """
        machine.charge(prod(self.shape))
        found = [source.offset]
        firsts: list[int] = []
        for at, (start, size) in enumerate(zip(starts, source.sizes, strict=True)):
            firsts.append(self._first(machine, at, start, size, is_masked=is_masked))
            if at not in self.dimensions:
                step = firsts[at] * source.strides[at] if firsts[at] < size else OUTSIDE
                found = _moved(found, [step])
        for extent, at, may_leave in zip(self.shape, self.dimensions, self.may_leave, strict=True):
            steps = [0] * extent
            if at is not None:
                out = BEYOND if may_leave else OUTSIDE
                size = source.sizes[at]
                if self.goes_on and 0 <= firsts[at] < size:
                    size = firsts[at] + extent
                steps = _steps(firsts[at], extent, size, source.strides[at], out)
            found = _moved(found, steps)
        if self.goes_on:
            end = len(source.buffer.items) // prod(source.unit or ()) - 1
            out = BEYOND if any(self.may_leave) else OUTSIDE
            return [each if each <= end else out for each in found]
        return found

    def _first(
        self, machine: Machine, dimension: int, start: Scalar, size: int, *, is_masked: bool
    ) -> int:
        places = [at for at, each in enumerate(self.dimensions) if each == dimension]
        extent = self.shape[places[0]] if places else 1
        if is_masked or self.goes_on or any(self.may_leave[at] for at in places):
            return bounded(machine, start, size, extent)
        return machine.domain.below(start, INDEX, max(size - extent + 1, 0))


def _steps(first: int, extent: int, size: int, stride: int, out: int) -> list[int]:
    return [at * stride if at < size else out for at in range(first, first + extent)]


def _moved(places: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Add each step to each place; what is outside stays so."""
    return [
        base + step if min(base, step) > OUTSIDE else _worse(base, step)
        for base in places
        for step in steps
    ]


def _worse(left: int, right: int) -> int:
    return OUTSIDE if OUTSIDE in (left, right) else BEYOND


def read(
    machine: Machine,
    source: MemRef,
    places: Sequence[int],
    mask: Sequence[Scalar] | None,
    others: Sequence[Sequence[RuntimeValue]],
) -> list[RuntimeValue]:
    """Return the items of elements at places from ``Window.places``.

    Args:
        machine: decides which elements of a mask are on, where that matters.
        source: is read.
        places: of the elements.
        mask: for each place; None if all are on.
        others: the items of elements that are not read, for each place.

    Raises:
        UndefinedBehaviour: an element is outside.
    """
    items: list[RuntimeValue] = []
    for at, place in enumerate(places):
        if place > OUTSIDE and mask is None:
            items += read_items(source, place)
        elif place > OUTSIDE and mask is not None:
            items += [
                chosen(machine, mask[at], new, old, source.buffer.element)
                for new, old in zip(read_items(source, place), others[at], strict=True)
            ]
        else:
            _check_off(machine, place, None if mask is None else mask[at])
            items += others[at]
    return items


def write(
    machine: Machine,
    target: MemRef,
    places: Sequence[int],
    mask: Sequence[Scalar] | None,
    values: Sequence[RuntimeValue],
) -> None:
    """Change the items of elements; see ``read``."""
    count = prod(target.unit or ())
    for at, place in enumerate(places):
        mine = values[at * count : (at + 1) * count]
        if place > OUTSIDE and mask is None:
            write_items(target, place, mine)
        elif place > OUTSIDE and mask is not None:
            changed = [
                chosen(machine, mask[at], new, old, target.buffer.element)
                for new, old in zip(mine, read_items(target, place), strict=True)
            ]
            write_items(target, place, changed)
        else:
            _check_off(machine, place, None if mask is None else mask[at])


def _check_off(machine: Machine, place: int, lane: Scalar | None) -> None:
    if place == OUTSIDE and (lane is None or machine.domain.decide(lane)):
        raise UndefinedBehaviour("an element of a vector is outside of memory")
