"""What handlers do with single elements: choose, compare, apply scalar operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import Elements, Machine, RuntimeValue
from actiondbg.validation.program import Attribute
from actiondbg.validation.types import (
    BOOL,
    INDEX,
    INDEX_WIDTH,
    ComplexType,
    FloatType,
    IntegerType,
    ScalarType,
    ShapedType,
    Type,
)

_PREDICATES = {"eq": 0, "slt": 2, "sle": 3, "ult": 6}


def scalar_element(type: Type) -> ScalarType:
    """Return the type of the elements of a vector, a tensor or a memref, or of a scalar.

    Raises:
        NotInterpreted: it is no scalar type.
    """
    element = type.element if isinstance(type, ShapedType) else type
    if isinstance(element, IntegerType | FloatType | ComplexType):
        return element
    raise NotInterpreted(f"elements of type {element}")


def plain_element(type: Type) -> IntegerType | FloatType:
    """Return the type of the elements, which a domain must know.

    Raises:
        NotInterpreted: it is complex, or no scalar type.
    """
    element = scalar_element(type)
    if isinstance(element, ComplexType):
        raise NotInterpreted(f"elements of type {element}")
    return element


def poison(machine: Machine, type: ScalarType) -> RuntimeValue:
    """Return poison of a scalar type; a complex number is a pair."""
    if isinstance(type, ComplexType):
        part = machine.domain.poison(type.element)
        return (part, part)
    return machine.domain.poison(type)


def poison_of(machine: Machine, type: Type) -> RuntimeValue:
    """Return poison of a scalar type, or of a vector or a tensor with known sizes."""
    if isinstance(type, IntegerType | FloatType | ComplexType):
        return poison(machine, type)
    if isinstance(type, ShapedType) and type.kind != "memref" and None not in type.shape:
        shape = tuple(size or 0 for size in type.shape)
        machine.charge(prod(shape))
        element = scalar_element(type)
        return Elements(shape, [poison(machine, element)] * prod(shape), element)
    raise NotInterpreted(f"poison of type {type}")


def index(machine: Machine, value: int) -> Scalar:
    """Return an index of a number."""
    return machine.domain.constant(value, INDEX)


def applied(
    machine: Machine,
    name: str,
    operands: Sequence[Scalar],
    type: IntegerType | FloatType,
    result: IntegerType | FloatType | None = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> Scalar:
    """Apply an operation with one result to operands of one type."""
    types = [type] * len(operands)
    return machine.domain.apply(name, operands, types, [result or type], attributes or {})[0]


def compared(
    machine: Machine, predicate: str, left: Scalar, right: Scalar, type: IntegerType = INDEX
) -> Scalar:
    """Compare integers: ``eq``, ``slt``, ``sle``, ``ult``."""
    attributes: Mapping[str, Attribute] = {"predicate": _PREDICATES[predicate]}
    return applied(machine, "arith.cmpi", (left, right), type, BOOL, attributes)


def both(machine: Machine, conditions: Sequence[Scalar]) -> Scalar:
    """Return the conjunction of conditions; true of none."""
    if not conditions:
        return machine.domain.constant(1, BOOL)
    result, *others = conditions
    for other in others:
        result = applied(machine, "arith.andi", (result, other), BOOL)
    return result


def chosen(
    machine: Machine, condition: Scalar, yes: RuntimeValue, no: RuntimeValue, type: ScalarType
) -> RuntimeValue:
    """Select one of two elements without a decision; a poison condition selects poison."""
    if isinstance(type, ComplexType):
        return tuple(
            chosen(machine, condition, left, right, type.element)
            for left, right in zip(yes, no, strict=True)
        )
    types = (BOOL, type, type)
    return machine.domain.apply("arith.select", (condition, yes, no), types, (type,), {})[0]


def chosen_elements(
    machine: Machine, conditions: Sequence[RuntimeValue], yes: Elements, no: Elements
) -> Elements:
    """Select one of two elements for each condition."""
    if yes.shape != no.shape or len(conditions) != len(yes.items):
        raise UndefinedBehaviour("arith.select of elements of different shapes")
    machine.charge(len(conditions))
    items = [
        chosen(machine, condition, left, right, yes.element)
        for condition, left, right in zip(conditions, yes.items, no.items, strict=True)
    ]
    return Elements(yes.shape, items, yes.element)


def bounded(machine: Machine, value: Scalar, size: int, extent: int) -> int:
    """Return an index from 0 to ``size``, which stands for everything beyond, too.

    So many elements from it on are wanted as ``extent`` says: their indices must be numbers, too.

    Raises:
        UndefinedBehaviour: an index is negative, or larger than any number, or poison.
    """
    if size and machine.domain.decide(compared(machine, "ult", value, index(machine, size))):
        return machine.domain.below(value, INDEX, size)
    largest = index(machine, 2 ** (INDEX_WIDTH - 1) - max(extent, 1))
    if machine.domain.decide(compared(machine, "ult", largest, value)):
        raise UndefinedBehaviour("an index is negative, or too large")
    return size
