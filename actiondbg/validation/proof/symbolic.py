"""Scalars that are terms of a solver, on one path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from actiondbg.validation.domain import NotInterpreted, Scalar
from actiondbg.validation.floats import bits_of as bits_of_number
from actiondbg.validation.program import Attribute
from actiondbg.validation.proof.operation_on_terms import (
    Computed,
    OperationOnTerms,
    ScalarTerm,
    Surroundings,
    sort_of,
    width_of,
)
from actiondbg.validation.proof.scalars import INTEGERS, flagged_selection, float_operation
from actiondbg.validation.proof.terms import Term
from actiondbg.validation.scalar_operations import BY_NAME
from actiondbg.validation.types import FloatType, IntegerType, Type

_MOST_VALUES = 6  # of a size, or of a loop's bound, whose value is not known
_CHECKED = 256  # operations after which the time is looked at


@dataclass(eq=False)
class Symbolic(Surroundings):
    """A domain of terms, each with where it is poison."""

    _applied: int = 0
    # What each ``freeze`` made of a value, before the action and after it.
    _frozen_before: dict[ScalarTerm, list[Term]] = field(
        default_factory=dict[ScalarTerm, list[Term]]
    )
    _frozen_after: dict[ScalarTerm, list[Term]] = field(
        default_factory=dict[ScalarTerm, list[Term]]
    )
    _frozen_count: int = 0

    # --- scalars ---

    def constant(self, value: int | float, type: IntegerType | FloatType) -> Scalar:
        if isinstance(type, FloatType):
            sort = sort_of(type)
            bits = bits_of_number(float(value), type)
            if isinstance(sort, tuple):
                return ScalarTerm(self.terms.fp(bits, sort), self.terms.false)
            assert isinstance(sort, int)
            term = self.terms.bv(bits, sort)
        else:
            term = self.terms.bv(int(value), width_of(type))
        return ScalarTerm(term, self.terms.false)

    def poison(self, type: IntegerType | FloatType) -> Scalar:
        return ScalarTerm(self.constant(0, type).term, self.terms.true)

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
        declared = BY_NAME.get(name)
        short = name if declared is None else declared.name
        values: Sequence[ScalarTerm] = operands
        operation = OperationOnTerms(short, name, types, results, attributes, self, values)
        if short == "select":
            return (self._selected(operation, *values),)
        if short == "freeze":
            return (self._frozen(values[0]),)
        computed = _computed(operation, [value.term for value in values])
        poison = operation.poison
        if computed.poison is not None:
            poison = self.terms.or_(poison, computed.poison)
        return tuple([ScalarTerm(term, poison) for term in computed.terms])

    def _selected(
        self,
        operation: OperationOnTerms,
        condition: ScalarTerm,
        yes: ScalarTerm,
        no: ScalarTerm,
    ) -> ScalarTerm:
        terms = self.terms
        way = terms.truth(condition.term)
        poison = terms.or_(condition.poison, terms.ite(way, yes.poison, no.poison))
        computed = flagged_selection(operation, terms.ite(way, yes.term, no.term))
        return ScalarTerm(computed.terms[0], terms.or_(poison, computed.poison or terms.false))

    def _frozen(self, value: ScalarTerm) -> ScalarTerm:
        """Return anything in place of poison.

        The source may choose it for each ``freeze``, knowing what the target chooses: the first one
        of a value chooses as the first one of it in the target.
        """
        terms = self.terms
        if value.poison.value == 0:
            return value
        if self.is_source:
            self.approximate(terms.not_(value.poison), "freeze leaves a value of poison open")
        known = () if self.is_source else self._frozen_before.get(value, ())
        frozen = self._frozen_before if self.is_source else self._frozen_after
        made = frozen.setdefault(value, [])
        if len(made) < len(known):
            anything = known[len(made)]
        else:  # no function of the value: those of two equal values may differ
            self._frozen_count += 1
            anything = terms.var(f"frozen {self._frozen_count}", value.term.sort)
        made.append(anything)
        return ScalarTerm(terms.ite(value.poison, anything, value.term), terms.false)

    def settle_frozen(self) -> None:
        """Let the source choose where the target has no such ``freeze``.

        It is what the target made of the value, or what the value would be if it was no poison.
        """
        for value, made in self._frozen_before.items():
            others = self._frozen_after.get(value, [])
            for each in made[len(others) :]:
                self.define(self.terms.eq(each, (others or [value.term])[0]))

    # --- decisions ---

    def decide(self, condition: Scalar) -> bool:
        self.undefined(condition.poison, "a branch depends on poison")
        return self._explorer.decide(self.terms.truth(condition.term))

    def integer(self, value: Scalar, type: IntegerType) -> int:
        self.undefined(value.poison, "a size or a step is poison")
        return self._explorer.choose(value.term, _MOST_VALUES, "sizes and bounds")

    def below(self, value: Scalar, type: IntegerType, size: int) -> int:
        terms = self.terms
        term: Term = value.term
        if term.value is not None and term.value < size and value.poison.value == 0:
            return term.value
        self.undefined(value.poison, "an index into memory is poison")
        if size < 1 << (term.width - 1):
            inside = terms.op("bvult", term, terms.bv(size, term.width))
        else:  # each number that is not negative is inside
            inside = terms.not_(terms.op("bvslt", term, terms.bv(0, term.width)))
        self.undefined(terms.not_(inside), f"an index is outside of {size} places")
        return self._explorer.choose(term, size, "indices into memory")

    def unknown(
        self, key: object, operands: Sequence[Scalar], results: Sequence[Type]
    ) -> tuple[Scalar, ...]:
        terms = self.terms
        values: Sequence[ScalarTerm] = operands
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
            made.append(ScalarTerm(term, poison))
        return tuple(made)


def _computed(operation: OperationOnTerms, terms: Sequence[Term]) -> Computed:
    types = (*operation.types, *operation.results)
    if any(isinstance(each, FloatType) for each in types):
        return float_operation(operation, terms)
    if operation.name == "bitcast":
        return Computed((terms[0],))
    function = INTEGERS.get(operation.name)
    if function is None:
        raise NotInterpreted(f"proof with {operation.full_name}")
    return function(operation, *terms)
