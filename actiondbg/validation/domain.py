"""What the interpreter needs to know of scalars, numbers or terms, and of operations on them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol

from actiondbg.errors import ActiondbgError
from actiondbg.validation.program import Attribute, OpaqueAttribute
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


class UnknownEffect(NotInterpreted):
    """An unknown operation or function may change memory; says so in a sentence."""


class OpenRace(NotInterpreted):
    """Iterations race for memory, and no documentation says what that means: runs say nothing."""


class OpenOrder(Unsettled, NotInterpreted):
    """The result on this input depends on an order that is open; of it, no proof knows."""


class OutOfBudget(ActiondbgError):
    """The interpretation took more steps, memory or paths than it may."""


def reason(error: Exception) -> str:
    """Return why something is not known, in words."""
    text = str(error).rstrip(".")
    is_noun = isinstance(error, NotInterpreted) and not isinstance(error, UnknownEffect)
    return f"{text} has no meaning here" if is_noun else text


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
        self, key: object, operands: Sequence[Scalar], results: Sequence[Type]
    ) -> tuple[Scalar, ...]:
        """Return scalars that depend on nothing but a key and operands: an unknown function.

        The key is hashable and printable: an operation's name, its attributes and its count.
        """
        ...


_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_LISTED = re.compile(r"<(.*)>")
_FAST = frozenset({"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"})


def overflow_flags(attributes: Mapping[str, Attribute]) -> frozenset[str]:
    """Return ``nsw`` and ``nuw`` if they are set."""
    return _words(attributes.get("overflowFlags"))


def is_set(attributes: Mapping[str, Attribute], name: str) -> bool:
    """Whether a unit attribute, or one of a dialect with its name, is set: ``exact``."""
    return bool(attributes.get(f"is{name.capitalize()}") or attributes.get(name))


def fast_math(attributes: Mapping[str, Attribute]) -> frozenset[str]:
    """Return the flags of fast math; ``fast`` is all of them."""
    found = _words(attributes.get("fastmath")) | _words(attributes.get("fastmathFlags"))
    return _FAST if "fast" in found else found


def predicate(name: str, attributes: Mapping[str, Attribute]) -> str:
    """Return the predicate of a comparison: ``slt``, ``oeq``.

    Raises:
        NotInterpreted: it cannot be read.
    """
    value = attributes.get("predicate", attributes.get("pred"))
    known = _FLOAT_PREDICATES if name.endswith(("cmpf", "fcmp")) else _INTEGER_PREDICATES
    if isinstance(value, int) and 0 <= value < len(known):
        return known[value]
    words = [] if not isinstance(value, OpaqueAttribute) else value.text.strip("<>").split()
    if words and words[-1] in known:
        return words[-1]
    raise NotInterpreted(f"the predicate of {name}")


def _words(attribute: Attribute | None) -> frozenset[str]:
    return _listed(attribute.text) if isinstance(attribute, OpaqueAttribute) else frozenset()


@lru_cache
def _listed(text: str) -> frozenset[str]:
    found = _LISTED.search(text)
    words = {word.strip() for word in found[1].split(",")} if found else set[str]()
    return frozenset(words - {"none", ""})


def reduction_kind(attributes: Mapping[str, Attribute]) -> str:
    """Return how a reduction of vectors combines: ``add``, ``maxnumf``."""
    kind = attributes.get("kind")
    return kind.text.partition("<")[2].rstrip("> ") if isinstance(kind, OpaqueAttribute) else "add"
