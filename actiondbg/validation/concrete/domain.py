"""Scalars that are numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import cast

from actiondbg.validation.concrete.floating import FLOATS, float_result
from actiondbg.validation.concrete.integers import DIVISIONS, INTEGERS, check_poison_dividend
from actiondbg.validation.concrete.operation import POISON, ScalarOperation
from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.flags import short_name
from actiondbg.validation.floats import rounded
from actiondbg.validation.program import Attribute
from actiondbg.validation.types import FloatType, IntegerType, Type, signed


class Concrete:
    """A domain of numbers: unsigned ints, floats, and ``POISON``."""

    def __init__(self, is_source: bool = True) -> None:
        self.is_source = is_source

    def constant(self, value: int | float, type: IntegerType | FloatType) -> Scalar:
        if value is POISON:  # an argument
            return POISON
        if isinstance(type, IntegerType):
            return int(value) & ((1 << type.width) - 1)
        return rounded(float(value), type)

    def poison(self, type: IntegerType | FloatType) -> Scalar:
        return POISON

    def apply(
        self,
        name: str,
        operands: Sequence[Scalar],
        types: Sequence[IntegerType | FloatType],
        results: Sequence[IntegerType | FloatType],
        attributes: Mapping[str, Attribute],
    ) -> tuple[Scalar, ...]:
        short = short_name(name)
        width = types[0].width if types and isinstance(types[0], IntegerType) else 0
        context = ScalarOperation(short, width, types, results, attributes, self.is_source)
        if short == "select":
            chosen, *ways = operands
            return (POISON if chosen is POISON else ways[0 if chosen else 1],)
        if short == "freeze":
            return (0 if operands[0] is POISON else operands[0],)
        if short in DIVISIONS and (operands[1] is POISON or operands[1] == 0):
            raise UndefinedBehaviour(f"{name} by zero")
        if short not in INTEGERS and short not in FLOATS:
            raise NotInterpreted(name)
        if any(operand is POISON for operand in operands):
            check_poison_dividend(context, operands)
            return (POISON,) * len(results)
        if short in INTEGERS and all(isinstance(each, IntegerType) for each in types):
            return _tuple(INTEGERS[short](context, *operands))
        if short in FLOATS:
            return _tuple(float_result(context, operands, FLOATS[short](context, *operands)))
        raise NotInterpreted(name)

    def decide(self, condition: Scalar) -> bool:
        if condition is POISON:
            raise UndefinedBehaviour("a branch depends on poison")
        return bool(condition)

    def integer(self, value: Scalar, type: IntegerType) -> int:
        if value is POISON:
            raise UndefinedBehaviour("a size or a step is poison")
        return signed(value, type.width)

    def below(self, value: Scalar, type: IntegerType, size: int) -> int:
        if value is POISON:
            raise UndefinedBehaviour("an index into memory is poison")
        number = signed(value, type.width)
        if not 0 <= number < size:
            raise UndefinedBehaviour(f"index {number} is outside of {size} places")
        return number

    def unknown(
        self, key: object, operands: Sequence[Scalar], results: Sequence[Type]
    ) -> tuple[Scalar, ...]:
        found: list[Scalar] = []
        for at, type in enumerate(results):
            text = repr((key, at, tuple(operands)))
            number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest())
            if isinstance(type, IntegerType):
                found.append(number & ((1 << type.width) - 1))
            elif isinstance(type, FloatType):
                found.append(rounded(number % 4096 / 64 - 32, type))
            else:
                raise NotInterpreted(f"an unknown value of type {type}")
        return tuple(found)


def _tuple(result: Scalar) -> tuple[Scalar, ...]:
    return cast("tuple[Scalar, ...]", result) if isinstance(result, tuple) else (result,)
