"""Operations on single elements, also complex numbers, which are pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.machine import Elements, Machine, Results, RuntimeValue, handles
from actiondbg.validation.program import Attribute, Operation
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


# --- complex numbers ---


_Pair = tuple[Scalar, Scalar]
_FLOAT_PREDICATES = {"oeq": 1, "une": 13}


class _Parts:
    """Operations on the parts of numbers, with an operation's flags of fast math."""

    def __init__(self, machine: Machine, operation: Operation, type: FloatType) -> None:
        self._machine = machine
        flags = operation.attributes.get("fastmath")
        self._flags: Mapping[str, Attribute] = {} if flags is None else {"fastmath": flags}
        self._type = type

    def of(self, name: str, *operands: Scalar) -> Scalar:
        """Apply an operation of arith."""
        return applied(self._machine, f"arith.{name}", operands, self._type, attributes=self._flags)

    def compared(self, predicate: str, left: Scalar, right: Scalar) -> Scalar:
        """Compare two parts."""
        attributes: Mapping[str, Attribute] = {
            **self._flags,
            "predicate": _FLOAT_PREDICATES[predicate],
        }
        return applied(self._machine, "arith.cmpf", (left, right), self._type, BOOL, attributes)

    def settled(self, value: tuple[Scalar, Scalar]) -> RuntimeValue:
        """Return a product that a program before an action has only if it is no NaN.

        Lowerings differ in products of infinities.
        """
        if not self._machine.domain.is_source:
            return value
        is_nan = self.together("ori", *(self.compared("une", part, part) for part in value))
        nothing = self._machine.domain.poison(self._type)
        return tuple(chosen(self._machine, is_nan, nothing, part, self._type) for part in value)

    def together(self, name: str, left: Scalar, right: Scalar) -> Scalar:
        """Combine two conditions."""
        return applied(self._machine, f"arith.{name}", (left, right), BOOL)


def _each(name: str) -> Callable[..., RuntimeValue]:
    """Apply an operation of arith to the real parts, and to the imaginary ones."""

    def apply(parts: _Parts, *operands: _Pair) -> RuntimeValue:
        return tuple(parts.of(name, *each) for each in zip(*operands, strict=True))

    return apply


def _compared(predicate: str, together: str) -> Callable[..., RuntimeValue]:
    """Compare the real parts and the imaginary ones, and combine the two conditions."""

    def apply(parts: _Parts, left: _Pair, right: _Pair) -> RuntimeValue:
        pairs = zip(left, right, strict=True)
        return parts.together(together, *(parts.compared(predicate, *pair) for pair in pairs))

    return apply


def _mul(parts: _Parts, left: _Pair, right: _Pair) -> RuntimeValue:
    real = parts.of(
        "subf", parts.of("mulf", left[0], right[0]), parts.of("mulf", left[1], right[1])
    )
    first, second = parts.of("mulf", left[0], right[1]), parts.of("mulf", left[1], right[0])
    return parts.settled((real, parts.of("addf", first, second)))


def _conj(parts: _Parts, value: _Pair) -> RuntimeValue:
    return (value[0], parts.of("negf", value[1]))


def _create(_: _Parts, real: Scalar, imaginary: Scalar) -> RuntimeValue:
    return (real, imaginary)


def _re(_: _Parts, value: _Pair) -> RuntimeValue:
    return value[0]


def _im(_: _Parts, value: _Pair) -> RuntimeValue:
    return value[1]


_MEANINGS: dict[str, Callable[..., RuntimeValue]] = {
    "complex.add": _each("addf"),
    "complex.sub": _each("subf"),
    "complex.mul": _mul,
    "complex.neg": _each("negf"),
    "complex.conj": _conj,
    "complex.eq": _compared("oeq", "andi"),
    "complex.neq": _compared("une", "ori"),
    "complex.create": _create,
    "complex.re": _re,
    "complex.im": _im,
}


@handles(*_MEANINGS)
def _elementwise(machine: Machine, operation: Operation, *operands: RuntimeValue) -> Results:
    meaning = _MEANINGS[operation.name]
    parts = _Parts(machine, operation, _part_type(operation))
    shaped = [each for each in operands if isinstance(each, Elements)]
    if not shaped:
        return [meaning(parts, *operands)]
    shape = shaped[0].shape
    if any(each.shape != shape for each in shaped) or len(shaped) != len(operands):
        raise UndefinedBehaviour(f"{operation.name} of elements of different shapes")
    machine.charge(prod(shape))
    rows = zip(*(each.items for each in shaped), strict=True)
    element = scalar_element(operation.results[0].type)
    return [Elements(shape, [meaning(parts, *row) for row in rows], element)]


def _part_type(operation: Operation) -> FloatType:
    """Return the type of the parts of the numbers that an operation takes or makes."""
    for value in (*operation.operands, *operation.results):
        element = scalar_element(value.type)
        if isinstance(element, ComplexType) and isinstance(element.element, FloatType):
            return element.element
    raise NotInterpreted(operation.name)


@handles("complex.constant")
def _constant(machine: Machine, operation: Operation) -> Results:
    value = operation.attributes.get("value")
    parts = value if isinstance(value, tuple) else ()
    numbers = [part for part in parts if isinstance(part, int | float)]
    if len(numbers) != 2:
        raise NotInterpreted(f"a constant of type {operation.results[0].type}")
    type = _part_type(operation)
    return [tuple(machine.domain.constant(number, type) for number in numbers)]
