"""Windows of vectors onto memory and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from actiondbg.validation.dialects.memory import check_alive, check_writable, item
from actiondbg.validation.dialects.scalars import bounded, chosen
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import (
    Elements,
    Machine,
    MemRef,
    Results,
    RuntimeValue,
    row_major,
)
from actiondbg.validation.types import INDEX, ScalarType, ShapedType, Type

# Below every position, also those that negative strides lead to.
OUTSIDE = -(2**80)  # an element that nobody may access
BEYOND = -(2**81)  # an element that is outside, as the operation allows


@dataclass(slots=True)
class View:
    """Elements of a tensor or of memory.

    Args:
        items: changed in place, those of memory for everyone.
        offset: of the first element.
        sizes: by dimension.
        strides: in items.
        unit: how many items an element has: those of a vector in memory.
        element: the type of the items.
    """

    items: list[RuntimeValue]
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    unit: tuple[int, ...]
    element: ScalarType

    def at(self, place: int) -> Results:
        """Return the items of an element.

        Raises:
            UndefinedBehaviour: they are not in memory.
        """
        count = self._check(place)
        return self.items[place : place + count]

    def put(self, place: int, items: Sequence[RuntimeValue]) -> None:
        """Change the items of an element."""
        count = self._check(place)
        self.items[place : place + count] = items

    def _check(self, place: int) -> int:
        count = prod(self.unit)
        if not 0 <= place <= len(self.items) - count:
            raise UndefinedBehaviour("an access outside of memory")
        return count


def view(value: RuntimeValue, type: Type, *, is_written: bool) -> View:
    """Return the elements of a tensor, a copy if they are written, or of memory.

    Raises:
        UndefinedBehaviour: the memory is freed, or constant.
    """
    if isinstance(value, Elements):
        items = list(value.items) if is_written else cast("list[RuntimeValue]", value.items)
        return View(items, 0, value.shape, row_major(value.shape), (), value.element)
    if not isinstance(value, MemRef) or not isinstance(type, ShapedType):
        raise NotInterpreted(f"elements of {type}")
    (check_writable if is_written else check_alive)(value)
    shape, element = item(type)
    unit = shape or ()
    count = prod(unit)
    strides = tuple(stride * count for stride in value.strides)
    return View(value.buffer.items, value.offset * count, value.sizes, strides, unit, element)


@dataclass(frozen=True, slots=True)
class Window:
    """Where the elements of a vector are in a view.

    Args:
        shape: of the vector, without the dimensions of an element.
        dimensions: of the view, one for each of the shape; None if all elements of it are one.
        may_leave: for each of the shape, whether elements may be beyond the view.
        goes_on: whether an element beyond the end of a row is an element of the next row.
    """

    shape: tuple[int, ...]
    dimensions: tuple[int | None, ...]
    may_leave: tuple[bool, ...]
    goes_on: bool = False

    def places(
        self, machine: Machine, source: View, starts: Sequence[Scalar], *, is_masked: bool
    ) -> list[int]:
        """Return the positions of the items, ``OUTSIDE`` and ``BEYOND`` among them.

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
            end = len(source.items) - prod(source.unit)
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
    source: View,
    places: Sequence[int],
    mask: Sequence[Scalar] | None,
    others: Sequence[Sequence[RuntimeValue]],
) -> list[RuntimeValue]:
    """Return the items of elements.

    Args:
        machine: decides which elements of a mask are on, where that matters.
        source: is read.
        places: from ``Window.places``.
        mask: for each place; None if all are on.
        others: the items of elements that are not read, for each place.

    Raises:
        UndefinedBehaviour: an element is outside.
    """
    items: list[RuntimeValue] = []
    for at, place in enumerate(places):
        if place > OUTSIDE and mask is None:
            items += source.at(place)
        elif place > OUTSIDE and mask is not None:
            items += [
                chosen(machine, mask[at], new, old, source.element)
                for new, old in zip(source.at(place), others[at], strict=True)
            ]
        else:
            _check_off(machine, place, None if mask is None else mask[at])
            items += others[at]
    return items


def write(
    machine: Machine,
    target: View,
    places: Sequence[int],
    mask: Sequence[Scalar] | None,
    values: Sequence[RuntimeValue],
) -> None:
    """Change the items of elements; see ``read``."""
    count = prod(target.unit)
    for at, place in enumerate(places):
        mine = values[at * count : (at + 1) * count]
        if place > OUTSIDE and mask is None:
            target.put(place, mine)
        elif place > OUTSIDE and mask is not None:
            target.put(
                place,
                [
                    chosen(machine, mask[at], new, old, target.element)
                    for new, old in zip(mine, target.at(place), strict=True)
                ],
            )
        else:
            _check_off(machine, place, None if mask is None else mask[at])


def _check_off(machine: Machine, place: int, lane: Scalar | None) -> None:
    if place == OUTSIDE and (lane is None or machine.domain.decide(lane)):
        raise UndefinedBehaviour("an element of a vector is outside of memory")
