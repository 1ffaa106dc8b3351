"""What a scalar operation on numbers depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from actiondbg.validation.domain import NotInterpreted, Scalar
from actiondbg.validation.program import Attribute
from actiondbg.validation.types import FloatType, IntegerType, signed


class _Poison:
    def __repr__(self) -> str:
        return "poison"


POISON: Final = _Poison()


@dataclass(frozen=True, slots=True)
class ScalarOperation:
    """What a scalar operation depends on beside its operands."""

    name: str  # without the dialect
    width: int  # bits of the operands, if they are integers
    types: Sequence[IntegerType | FloatType]  # of the operands
    results: Sequence[IntegerType | FloatType]  # the types of the results
    attributes: Mapping[str, Attribute]
    is_source: bool = True  # it is of the program before an action

    def signed(self, value: int) -> int:
        return signed(value, self.width)

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1

    @property
    def smallest(self) -> int:
        return -(1 << (self.width - 1))


# A function on numbers, which gets the operation first.
Function = Callable[..., Scalar]


def plain(function: Callable[..., Any]) -> Function:
    """Return a function that ignores the operation."""

    def apply(_: ScalarOperation, *operands: Scalar) -> Scalar:
        return function(*operands)

    return apply


def width_of(type: IntegerType | FloatType) -> int:
    """Return the bits of an integer type; raises NotInterpreted for another."""
    if not isinstance(type, IntegerType):
        raise NotInterpreted(f"an integer of type {type}")
    return type.width
