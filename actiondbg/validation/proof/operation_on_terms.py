"""What a scalar operation on terms depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from actiondbg.validation.domain import NotInterpreted, UndefinedBehaviour
from actiondbg.validation.program import Attribute
from actiondbg.validation.proof.exploration import Explorer
from actiondbg.validation.proof.terms import Sort, Term, Terms
from actiondbg.validation.types import FloatType, IntegerType, Type

# The formats that the solver knows: bits of the exponent, and of the significand with its hidden
# bit. Any other number is its bits, of which arithmetic makes nobody knows what.
_FORMATS = {"f16": (5, 11), "f32": (8, 24), "f64": (11, 53)}
_BFLOAT = "bf16"
_BYTE = "f8"


@dataclass(frozen=True, slots=True)
class ScalarTerm:
    """A scalar; no tuple, which a complex number is."""

    term: Term  # what it is, where it is not poison
    poison: Term


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


class UndefinedTarget(Exception):
    """The target may have no defined behaviour where the source has one: a condition, and why."""

    def __init__(self, condition: Term, why: str) -> None:
        super().__init__(why)
        self.condition = condition
        self.why = why


class Undecided(Exception):
    """The solver did not find an answer in time."""


@dataclass(eq=False)
class Surroundings:
    """What operations say beside their results, on one path."""

    terms: Terms  # what makes terms
    _explorer: Explorer  # follows the paths
    has_choices: bool = False  # whether each sign of zero that is open is a choice of its own
    # Whether the program before the action runs: its undefined behaviour ends the path, that of the
    # other one is a difference.
    is_source: bool = True
    # Conditions under which results are exact, with what is open elsewhere.
    approximations: dict[Term, str] = field(default_factory=dict[Term, str])
    # Of the source, which may take the best ones.
    choices: list[Term] = field(default_factory=list[Term])
    open_signs: int = 0  # how many signs of zero are open in the source
    _targets_choices: int = 0
    _recorded: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])

    def undefined(self, condition: Term, why: str) -> None:
        """Go on only where a condition does not hold; a target where it can hold differs.

        Raises:
            UndefinedBehaviour: the source has no other way.
            UndefinedTarget: the target has it on this path.
        """
        if condition.value == 0:
            return
        if self.is_source:
            if condition.value == 1:
                raise UndefinedBehaviour(why)
            self._explorer.assume(self.terms.not_(condition))
            return
        answer = self._explorer.ask([condition])
        if answer.status == "sat":
            raise UndefinedTarget(condition, why)
        if answer.status == "unknown":
            raise Undecided(f"whether {why}")

    def approximate(self, exact: Term, why: str) -> None:
        """Say that a result is one of several that are allowed, but where a condition holds."""
        if exact.value != 1:
            self.approximations.setdefault(exact, why)

    def define(self, condition: Term) -> None:
        """Say what a new unknown is."""
        self._explorer.define(condition)

    def is_recorded(self, key: tuple[object, ...]) -> bool:
        """Whether the source has a result that is one of several; it records that it has."""
        if self.is_source:
            self._recorded.add(key)
        return key in self._recorded

    def choice(self) -> Term | None:
        """Return a condition that chooses one of two results; None if the first one is taken."""
        if self.is_source:
            self.open_signs += 1
        if not self.has_choices:
            return None
        if not self.is_source:
            self._targets_choices += 1
            return self.terms.var(f"choice {self._targets_choices} after", "Bool")
        self.choices.append(self.terms.var(f"choice {self.open_signs} before", "Bool"))
        return self.choices[-1]


@dataclass(frozen=True, slots=True)
class OperationOnTerms:
    """A scalar operation on terms."""

    name: str  # in arith or math, without the dialect
    full_name: str  # with the dialect
    types: Sequence[IntegerType | FloatType]  # of the operands
    results: Sequence[IntegerType | FloatType]  # the types of the results
    attributes: Mapping[str, Attribute]
    around: Surroundings  # the domain
    operands: Sequence[ScalarTerm]  # with where they are poison

    @property
    def terms(self) -> Terms:
        return self.around.terms

    @property
    def poison(self) -> Term:
        """Where an operand is poison."""
        return self.terms.or_(*(operand.poison for operand in self.operands))

    def undefined_by(self, at: int, condition: Term, why: str) -> None:
        """Say where an operand has it so, whatever the others are; poison has, too."""
        either = self.terms.or_(self.operands[at].poison, condition)
        self.around.undefined(either, f"{self.full_name} {why}")


@dataclass(frozen=True, slots=True)
class Computed:
    """The results of an operation."""

    terms: tuple[Term, ...]  # one for each result
    poison: Term | None = None  # where they are poison, though no operand is


TermFunction = Callable[..., Computed]
