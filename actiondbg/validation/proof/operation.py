"""What a scalar operation on terms depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.program import Attribute
from actiondbg.validation.proof.terms import Sort, Term, Terms
from actiondbg.validation.types import FloatType, IntegerType, Type

# The formats that the solver knows: bits of the exponent, and of the significand with its hidden
# bit. Any other number is its bits, of which arithmetic makes nobody knows what.
_FORMATS = {"f16": (5, 11), "f32": (8, 24), "f64": (11, 53)}
_BFLOAT = "bf16"
_BYTE = "f8"


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar; no tuple, which a complex number is.

    Args:
        term: what it is, where it is not poison.
        poison: whether it is.
    """

    term: Term
    poison: Term


class Side(Enum):
    """Which of the functions runs: what the program was, or what an action made of it."""

    SOURCE = "before"
    TARGET = "after"


def sort_of(type: Type) -> Sort:
    """Return the sort of the terms of a type.

    Raises:
        NotInterpreted: it has none.
    """
    if isinstance(type, IntegerType) and type.width:
        return type.width
    if isinstance(type, FloatType) and type.name in _FORMATS:
        return _FORMATS[type.name]
    if isinstance(type, FloatType) and type.name.startswith((_BFLOAT, _BYTE)):
        return 16 if type.name == _BFLOAT else 8
    raise NotInterpreted(f"proof with the type {type}")


def format_of(type: Type) -> tuple[int, int]:
    """Return the sort of a floating-point type."""
    sort = sort_of(type)
    if not isinstance(sort, tuple):
        raise NotInterpreted(f"a float of type {type}")
    return sort


def width_of(type: Type) -> int:
    """Return the bits of an integer type."""
    if isinstance(type, IntegerType) and type.width:
        return type.width
    raise NotInterpreted(f"an integer of type {type}")


def is_opaque(type: Type) -> bool:
    """Whether the solver knows a floating-point type by its bits only."""
    return isinstance(type, FloatType) and isinstance(sort_of(type), int)


class Surroundings(Protocol):
    """What an operation may tell the domain, beside its results."""

    @property
    def terms(self) -> Terms:
        """What makes terms."""
        ...

    @property
    def side(self) -> Side:
        """Which function runs."""
        ...

    def undefined(self, condition: Term, why: str) -> None:
        """Say where the operation has no defined behaviour."""
        ...

    def approximate(self, exact: Term, why: str) -> None:
        """Say that a result is one of several that are allowed, but where a condition holds."""
        ...

    def define(self, condition: Term) -> None:
        """Say what a new unknown is."""
        ...

    def is_recorded(self, key: tuple[object, ...]) -> bool:
        """Whether the source has a result that is one of several; it records that it has."""
        ...

    def choice(self) -> Term | None:
        """Return a condition that chooses one of two results; None if the first one is taken."""
        ...


@dataclass(frozen=True, slots=True)
class ScalarOperation:
    """A scalar operation on terms.

    Args:
        name: in arith or math, without the dialect.
        full_name: with the dialect.
        types: of the operands.
        results: the types of the results.
        attributes: of the operation.
        around: the domain.
        operands: with where they are poison.
    """

    name: str
    full_name: str
    types: Sequence[IntegerType | FloatType]
    results: Sequence[IntegerType | FloatType]
    attributes: Mapping[str, Attribute]
    around: Surroundings
    operands: Sequence[Value]

    @property
    def terms(self) -> Terms:
        return self.around.terms

    @property
    def poison(self) -> Term:
        """Where an operand is poison."""
        return self.terms.or_(*(operand.poison for operand in self.operands))

    def undefined(self, condition: Term, why: str) -> None:
        """Say where the operation has no defined behaviour, for operands that are not poison."""
        known = self.terms.not_(self.poison)
        self.around.undefined(self.terms.and_(known, condition), f"{self.full_name} {why}")

    def undefined_by(self, at: int, condition: Term, why: str) -> None:
        """Say where an operand has it so, whatever the others are; poison has, too."""
        either = self.terms.or_(self.operands[at].poison, condition)
        self.around.undefined(either, f"{self.full_name} {why}")


@dataclass(frozen=True, slots=True)
class Computed:
    """The results of an operation.

    Args:
        terms: one for each result.
        poison: where they are poison, though no operand is.
    """

    terms: tuple[Term, ...]
    poison: Term | None = None


Function = Callable[..., Computed]
