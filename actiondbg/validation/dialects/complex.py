"""Complex numbers, which are pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from actiondbg.validation.dialects.elements import applied, chosen, scalar_element
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour, fast_math
from actiondbg.validation.machine import Elements, Machine, Results, RuntimeValue, handles
from actiondbg.validation.program import Attribute, Operation
from actiondbg.validation.types import BOOL, ComplexType, FloatType

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

    def kept(self, value: Scalar) -> Scalar:
        """Return a part as it is, where no flag excludes it."""
        return self.of("negf", self.of("negf", value)) if fast_math(self._flags) else value

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
    return (parts.kept(value[0]), parts.of("negf", value[1]))


def _create(_: _Parts, real: Scalar, imaginary: Scalar) -> RuntimeValue:
    return (real, imaginary)


def _re(parts: _Parts, value: _Pair) -> RuntimeValue:
    return parts.kept(value[0])


def _im(parts: _Parts, value: _Pair) -> RuntimeValue:
    return parts.kept(value[1])


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
