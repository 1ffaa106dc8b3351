"""Positions in elements that are stored row by row, and in memory with strides."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import Machine, positions, row_major
from actiondbg.validation.program import Attribute, Operation, Value
from actiondbg.validation.types import INDEX

DYNAMIC = -(2**63)  # stands in an attribute for a size or a position that is an operand


def flat(indices: Sequence[int], strides: Sequence[int], offset: int = 0) -> int:
    """Return where one element is."""
    return offset + sum(at * step for at, step in zip(indices, strides, strict=True))


def numbers(attribute: Attribute | None) -> tuple[int, ...]:
    """Return the numbers of an array attribute.

    Raises:
        NotInterpreted: it is something else.
    """
    if not isinstance(attribute, tuple):
        raise NotInterpreted(f"an array attribute that is {attribute!r}")
    found = tuple(each for each in attribute if isinstance(each, int))
    if len(found) != len(attribute):
        raise NotInterpreted(f"an array attribute that is {attribute!r}")
    return found


def integers(machine: Machine, static: Attribute | None, dynamic: Sequence[Value]) -> list[int]:
    """Return numbers of an attribute and operands, each as a signed number."""
    left = iter(machine.all(dynamic))
    return [
        machine.domain.integer(next(left), INDEX) if each == DYNAMIC else each
        for each in numbers(static)
    ]


def mixed(machine: Machine, static: Attribute | None, dynamic: Sequence[Value]) -> list[Scalar]:
    """Return numbers of an attribute and operands, each as a scalar."""
    left = iter(machine.all(dynamic))
    return [
        next(left) if each == DYNAMIC else machine.domain.constant(each, INDEX)
        for each in numbers(static)
    ]


def element_position(
    machine: Machine, indices: Sequence[Scalar], sizes: Sequence[int], strides: Sequence[int]
) -> int:
    """Return where the element at indices is, without an offset.

    Raises:
        UndefinedBehaviour: an index is outside.
    """
    inside = machine.domain.below
    return flat([inside(at, INDEX, size) for at, size in zip(indices, sizes, strict=True)], strides)


def slice_positions(
    machine: Machine, operation: Operation, sizes: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the sizes of a slice of a tensor, and where its elements are.

    Raises:
        UndefinedBehaviour: the slice is not within the tensor of the sizes that are given.
    """
    offsets, lengths, steps = operation.segments()[-3:]
    attributes = operation.attributes
    strides = integers(machine, attributes.get("static_strides"), steps)
    if any(stride < 1 for stride in strides):
        raise NotInterpreted("a slice with a stride below 1")
    dynamic = iter(machine.all(lengths))
    taken = [
        machine.domain.below(next(dynamic), INDEX, size + 1) if length == DYNAMIC else length
        for length, size in zip(numbers(attributes.get("static_sizes")), sizes, strict=True)
    ]
    if not prod(taken) and not machine.domain.is_source:
        return taken, []  # passes make empty slices behind the end, which take nothing
    dynamic = iter(machine.all(offsets))
    starts: list[int] = []
    for static, size, length, stride in zip(
        numbers(attributes.get("static_offsets")), sizes, taken, strides, strict=True
    ):
        room = size - max(length - 1, 0) * stride + (length == 0)
        starts.append(_start(machine, next(dynamic) if static == DYNAMIC else None, static, room))
    machine.charge(prod(taken))
    whole = row_major(sizes)
    stepped = [step * stride for step, stride in zip(whole, strides, strict=True)]
    return taken, positions(taken, stepped, flat(starts, whole))


def _start(machine: Machine, value: Scalar | None, static: int, room: int) -> int:
    if value is not None:
        return machine.domain.below(value, INDEX, max(room, 0))
    if not 0 <= static < room:
        raise UndefinedBehaviour("a slice is not within its tensor")
    return static


def kept_dimensions(operation: Operation, shape: Sequence[int | None]) -> list[int]:
    """Return which dimensions of the slice of an operation a tensor, or a view, of a shape has.

    Raises:
        NotInterpreted: no dimensions of size 1 can be left out for it.
    """
    statics = numbers(operation.attributes.get("static_sizes"))
    kept: list[int] = []
    for at, static in enumerate(statics):
        wanted = shape[len(kept)] if len(kept) < len(shape) else 0
        if wanted == (None if static == DYNAMIC else static):
            kept.append(at)
        elif static != 1:
            raise NotInterpreted("a slice that drops a dimension that is not 1")
    if len(kept) != len(shape):
        raise NotInterpreted("a slice of another rank than its result")
    return kept
