"""What the interpreter needs to know of scalars: numbers, or terms of a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from actiondbg.errors import ActiondbgError
from actiondbg.validation.program import Attribute
from actiondbg.validation.types import FloatType, IntegerType, Type

# A scalar of a domain, opaque to everything else: each value of it may be poison.
Scalar = Any


class _Poison:
    def __repr__(self) -> str:
        return "poison"


POISON: Final = _Poison()  # of the domain of numbers


class UndefinedBehaviour(Exception):
    """The program has no defined behaviour on this input, or path; says why."""

    operation: str = ""  # the one that has none; empty if unknown


class Race(UndefinedBehaviour):
    """Iterations race for memory, in a loop whose documentation forbids it."""


class Unsettled(Exception):
    """The result on this input is open, such as on the bits of a NaN; says why."""


class NotInterpreted(ActiondbgError):
    """An operation, a type or an attribute of which the interpreter knows no meaning."""


class OpenRace(NotInterpreted):
    """Iterations race for memory, and no documentation says what that means: runs say nothing."""


class OpenOrder(Unsettled, NotInterpreted):
    """The result on this input depends on an order that is open; of it, no proof knows."""


class OutOfBudget(ActiondbgError):
    """The interpretation took more steps, memory or paths than it may."""


class Domain(Protocol):
    """Scalars of integer and float types, and decisions about them."""

    # The program is the one before an action: where it is not certain that behaviour is defined, it
    # is not.
    is_source: bool

    def constant(self, value: int | float, type: IntegerType | FloatType) -> Scalar:
        """Return a constant; integers may be signed or unsigned, of the type's bits."""
        ...

    def poison(self, type: IntegerType | FloatType) -> Scalar:
        """Return poison."""
        ...

    def apply(
        self,
        name: str,
        operands: Sequence[Scalar],
        types: Sequence[IntegerType | FloatType],
        results: Sequence[IntegerType | FloatType],
        attributes: Mapping[str, Attribute],
    ) -> tuple[Scalar, ...]:
        """Return the results of a scalar operation of arith, index, math, or llvm, but a constant.

        Raises:
            UndefinedBehaviour: such as a division by zero.
            NotInterpreted: the domain has no such operation.
        """
        ...

    def decide(self, condition: Scalar) -> bool:
        """Return which way to take at a branch on an ``i1``.

        Raises:
            UndefinedBehaviour: the condition is poison.
        """
        ...

    def integer(self, value: Scalar, type: IntegerType) -> int:
        """Return a signed number for a size, or a step, which must be one.

        Raises:
            UndefinedBehaviour: the value is poison.
            NotInterpreted: the domain cannot enumerate the values.
        """
        ...

    def below(self, value: Scalar, type: IntegerType, size: int) -> int:
        """Return a number from 0 to size - 1 for an index into memory.

        Raises:
            UndefinedBehaviour: the value is poison, or outside.
        """
        ...

    def unknown(
        self,
        key: object,
        operands: Sequence[Scalar],
        results: Sequence[Type],
    ) -> tuple[Scalar, ...]:
        """Return scalars that depend on nothing but a key and operands: an unknown function.

        The key is hashable and printable: an operation's name, its attributes and its count.
        """
        ...
