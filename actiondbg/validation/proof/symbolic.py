"""Scalars that are terms of a solver, on one path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actiondbg.validation.domain import NotInterpreted, Scalar, UndefinedBehaviour
from actiondbg.validation.flags import fast_math, short_name
from actiondbg.validation.floats import bits_of as bits_of_number
from actiondbg.validation.program import Attribute
from actiondbg.validation.proof.exploration import Explorer
from actiondbg.validation.proof.floats import float_operation
from actiondbg.validation.proof.integers import INTEGERS
from actiondbg.validation.proof.operation import (
    Computed,
    ScalarOperation,
    Side,
    Value,
    sort_of,
    width_of,
)
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.types import FloatType, IntegerType, Type

_CHECKED = 256  # operations after which the time is looked at


class UndefinedTarget(Exception):
    """The target may have no defined behaviour where the source has one.

    Args:
        condition: where.
        why: what it does.
    """

    def __init__(self, condition: Term, why: str) -> None:
        super().__init__(why)
        self.condition = condition
        self.why = why


class Undecided(Exception):
    """The solver did not find an answer in time."""


class Symbolic:
    """A domain of terms, each with where it is poison.

    Args:
        terms: what makes them.
        explorer: follows the paths.
        has_choices: whether each sign of zero that is open is a choice of its own.

    Attributes:
        side: which function runs: undefined behaviour of the source ends the path, that of the
            target is a difference.
        approximations: conditions under which results are exact, with what is open elsewhere.
        choices: of the source, which may take the best ones.
        open_signs: how many signs of zero are open in the source.
    """

    def __init__(self, terms: Terms, explorer: Explorer, *, has_choices: bool = False) -> None:
        self.side = Side.SOURCE
        self.approximations: dict[Term, str] = {}
        self._terms = terms
        self._explorer = explorer
        self.choices: list[Term] = []
        self.open_signs = 0
        self._applied = 0
        self._has_choices = has_choices
        self._targets_choices = 0
        self._recorded: set[tuple[object, ...]] = set()
        self._frozen_count: dict[tuple[Side, Value], int] = {}

    @property
    def terms(self) -> Terms:
        """What makes terms."""
        return self._terms

    # --- scalars ---

    def constant(self, value: int | float, type: IntegerType | FloatType) -> Scalar:
        if isinstance(type, FloatType):
            sort = sort_of(type)
            bits = bits_of_number(float(value), type)
            if isinstance(sort, tuple):
                return Value(self._terms.fp(bits, sort), self._terms.false)
            assert isinstance(sort, int)
            term = self._terms.bv(bits, sort)
        else:
            term = self._terms.bv(int(value), width_of(type))
        return Value(term, self._terms.false)

    def poison(self, type: IntegerType | FloatType) -> Scalar:
        return Value(self.constant(0, type).term, self._terms.true)

    def apply(
        self,
        name: str,
        operands: Sequence[Scalar],
        types: Sequence[IntegerType | FloatType],
        results: Sequence[IntegerType | FloatType],
        attributes: Mapping[str, Attribute],
    ) -> tuple[Scalar, ...]:
        self._applied += 1
        if self._applied % _CHECKED == 0:
            self._explorer.check_time()
        short = short_name(name)
        values: Sequence[Value] = operands
        if short == "select":
            if fast_math(attributes):
                raise NotInterpreted(f"{name} with flags of fast math")
            return (self._selected(*values),)
        if short == "freeze":
            return (self._frozen(values[0]),)
        operation = ScalarOperation(short, name, types, results, attributes, self, values)
        computed = _computed(operation, [value.term for value in values])
        poison = operation.poison
        if computed.poison is not None:
            poison = self._terms.or_(poison, computed.poison)
        return tuple([Value(term, poison) for term in computed.terms])

    def _selected(self, condition: Value, yes: Value, no: Value) -> Value:
        terms = self._terms
        way = terms.truth(condition.term)
        poison = terms.or_(condition.poison, terms.ite(way, yes.poison, no.poison))
        return Value(terms.ite(way, yes.term, no.term), poison)

    def _frozen(self, value: Value) -> Value:
        """Return anything in place of poison: the first one of the source is that of the target."""
        terms = self._terms
        if value.poison.value == 0:
            return value
        self.approximate(terms.not_(value.poison), "freeze leaves a value of poison open")
        key = (self.side, value)
        number = self._frozen_count[key] = self._frozen_count.get(key, 0) + 1
        name = f"frozen {number}"
        anything = terms.function(name, [value.term, value.poison], value.term.sort)
        return Value(terms.ite(value.poison, anything, value.term), terms.false)

    # --- what operations say ---

    def undefined(self, condition: Term, why: str) -> None:
        """Go on only where a condition does not hold; a target where it can hold differs.

        Raises:
            UndefinedBehaviour: the source has no other way.
            UndefinedTarget: the target has it on this path.
        """
        if condition.value == 0:
            return
        if self.side is Side.SOURCE:
            if condition.value == 1:
                raise UndefinedBehaviour(why)
            self._explorer.assume(self._terms.not_(condition))
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
        if self.side is Side.SOURCE:
            self._recorded.add(key)
        return key in self._recorded

    def choice(self) -> Term | None:
        """Return a condition that chooses one of two results; None if the first one is taken."""
        if self.side is Side.SOURCE:
            self.open_signs += 1
        if not self._has_choices:
            return None
        if self.side is Side.TARGET:
            self._targets_choices += 1
            return self._terms.var(f"choice {self._targets_choices} after", "Bool")
        self.choices.append(self._terms.var(f"choice {self.open_signs} before", "Bool"))
        return self.choices[-1]

    # --- decisions ---

    def decide(self, condition: Scalar) -> bool:
        self.undefined(condition.poison, "a branch depends on poison")
        return self._explorer.decide(self._terms.truth(condition.term))

    def integer(self, value: Scalar, type: IntegerType) -> int:
        self.undefined(value.poison, "a size or a step is poison")
        return self._explorer.choose(value.term, self._explorer.limits.values, "sizes and bounds")

    def below(self, value: Scalar, type: IntegerType, size: int) -> int:
        terms = self._terms
        term: Term = value.term
        if term.value is not None and term.value < size and value.poison.value == 0:
            return term.value
        self.undefined(value.poison, "an index into memory is poison")
        if size < 1 << (term.width - 1):
            inside = terms.op("bvult", term, terms.bv(size, term.width))
        else:  # each number that is not negative is inside
            inside = terms.not_(terms.op("bvslt", term, terms.bv(0, term.width)))
        self.undefined(terms.not_(inside), f"an index is outside of 0 to {size - 1}")
        return self._explorer.choose(term, size, "indices into memory")

    def unknown(
        self, key: object, operands: Sequence[Scalar], results: Sequence[Type]
    ) -> tuple[Scalar, ...]:
        terms = self._terms
        values: Sequence[Value] = operands
        self.approximate(terms.false, "the program has an operation of which nothing is known")
        args: list[Term] = []
        for value in values:
            args.append(value.term)
            if value.poison.value != 0:
                args.append(value.poison)
        any_poison = terms.or_(*(value.poison for value in values))
        made: list[Scalar] = []
        for at, type in enumerate(results):
            name = f"unknown {key!r} {at} {len(args)}"
            term = terms.function(name, args, sort_of(type))
            poison = terms.false
            if any_poison.value != 0:
                poison = terms.and_(any_poison, terms.function(f"{name} poison", args, "Bool"))
            made.append(Value(term, poison))
        return tuple(made)


def _computed(operation: ScalarOperation, terms: Sequence[Term]) -> Computed:
    types = (*operation.types, *operation.results)
    if any(isinstance(each, FloatType) for each in types):
        return float_operation(operation, terms)
    if operation.name == "bitcast":
        return Computed((terms[0],))
    function = INTEGERS.get(operation.name)
    if function is None:
        raise NotInterpreted(f"proof with {operation.full_name}")
    return function(operation, *terms)
