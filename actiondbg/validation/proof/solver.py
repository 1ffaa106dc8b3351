"""The solver of queries: Bitwuzla."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from actiondbg.errors import ActiondbgError
from actiondbg.validation.proof.terms import BOOL, Sort, Term, have

_KINDS = {
    "not": "NOT", "and": "AND", "or": "OR", "=": "EQUAL", "ite": "ITE",
    "bvadd": "BV_ADD", "bvsub": "BV_SUB", "bvmul": "BV_MUL",
    "bvand": "BV_AND", "bvor": "BV_OR", "bvxor": "BV_XOR",
    "bvudiv": "BV_UDIV", "bvurem": "BV_UREM", "bvsdiv": "BV_SDIV", "bvsrem": "BV_SREM",
    "bvshl": "BV_SHL", "bvlshr": "BV_SHR", "bvashr": "BV_ASHR",
    "bvult": "BV_ULT", "bvule": "BV_ULE", "bvslt": "BV_SLT", "bvsle": "BV_SLE",
    "bvsaddo": "BV_SADD_OVERFLOW", "bvuaddo": "BV_UADD_OVERFLOW",
    "bvssubo": "BV_SSUB_OVERFLOW", "bvusubo": "BV_USUB_OVERFLOW",
    "bvsmulo": "BV_SMUL_OVERFLOW", "bvumulo": "BV_UMUL_OVERFLOW",
    "extract": "BV_EXTRACT", "zero_extend": "BV_ZERO_EXTEND", "sign_extend": "BV_SIGN_EXTEND",
    "fp.add": "FP_ADD", "fp.sub": "FP_SUB", "fp.mul": "FP_MUL", "fp.div": "FP_DIV",
    "fp.fma": "FP_FMA", "fp.sqrt": "FP_SQRT", "fp.abs": "FP_ABS", "fp.neg": "FP_NEG",
    "fp.roundToIntegral": "FP_RTI", "fp.eq": "FP_EQUAL", "fp.lt": "FP_LT", "fp.leq": "FP_LEQ",
    "fp.isNaN": "FP_IS_NAN", "fp.isInfinite": "FP_IS_INF", "fp.isZero": "FP_IS_ZERO",
    "fp.isNormal": "FP_IS_NORMAL", "fp.isSubnormal": "FP_IS_SUBNORMAL",
    "fp.isNegative": "FP_IS_NEG", "fp.isPositive": "FP_IS_POS",
    "fp.from_bits": "FP_TO_FP_FROM_BV", "fp.from_fp": "FP_TO_FP_FROM_FP",
    "fp.from_sbv": "FP_TO_FP_FROM_SBV", "fp.from_ubv": "FP_TO_FP_FROM_UBV",
    "fp.to_sbv": "FP_TO_SBV", "fp.to_ubv": "FP_TO_UBV",
}  # fmt: skip
# What is taken as an unknown function at first: the solver's work on them is the most.
_HEAVY = frozenset(
    {
        *("bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem"),
        *("fp.add", "fp.sub", "fp.mul", "fp.div", "fp.fma", "fp.sqrt", "fp.from_fp"),
    }
)
_LIGHT_BITS = 8  # up to which bit-vectors are never heavy


class SolverMissing(ActiondbgError):
    """The solver is not installed."""


class SolverFailed(ActiondbgError):
    """The solver cannot read a query."""


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """What the solver found."""

    status: Literal["sat", "unsat", "unknown"]  # whether the conditions can all hold
    values: tuple[int, ...] = ()  # the bits of the terms that were asked for, if they can


class Solver:
    """Answers queries, each within some seconds.

    Raises:
        SolverMissing: Bitwuzla is not installed.
    """

    def __init__(self, seconds: float = 10) -> None:
        try:
            self._bitwuzla: Any = import_module("bitwuzla")
        except ImportError as error:
            raise SolverMissing("Proof needs Bitwuzla: pip install bitwuzla") from error
        self.seconds = seconds
        self._exact = _Translation(self._bitwuzla, self._bitwuzla.TermManager())

    @cached_property
    def _abstract(self) -> _Translation:
        return _Translation(self._bitwuzla, self._bitwuzla.TermManager(), _HEAVY)

    def check(
        self, conditions: Iterable[Term], wanted: Sequence[Term] = (), seconds: float | None = None
    ) -> SolverAnswer:
        """Return whether Boolean terms can all hold, and values of wanted terms for which they do.

        Raises:
            SolverFailed: a term is none of the solver's.
        """
        kept = [each for each in dict.fromkeys(conditions) if each.value != 1]
        if any(each.value == 0 for each in kept):
            return SolverAnswer("unsat")
        if not kept and not wanted:
            return SolverAnswer("sat")
        limit = self.seconds if seconds is None else min(seconds, self.seconds)
        if limit <= 0:
            return SolverAnswer("unknown")
        began = time.monotonic()
        try:
            is_hard = have(kept, is_heavy)
            if is_hard and self._query(self._abstract, kept, (), limit).status == "unsat":
                return SolverAnswer("unsat")
            limit -= time.monotonic() - began
            return self._query(self._exact, kept, wanted, max(limit, 0.01))
        except self._bitwuzla.BitwuzlaException as error:
            raise SolverFailed(f"the solver cannot read a query: {error}") from error

    def _query(
        self,
        translation: _Translation,
        conditions: Sequence[Term],
        wanted: Sequence[Term],
        limit: float,
    ) -> SolverAnswer:
        bitwuzla = self._bitwuzla
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, bool(wanted))
        options.set(bitwuzla.Option.TIME_LIMIT_PER, max(int(limit * 1000), 1))
        solver = bitwuzla.Bitwuzla(translation.manager, options)
        for each in conditions:
            solver.assert_formula(translation.translated(each))
        result = solver.check_sat()
        if result == bitwuzla.Result.UNSAT:
            return SolverAnswer("unsat")
        if result != bitwuzla.Result.SAT:
            return SolverAnswer("unknown")
        values = (solver.get_value(translation.translated(each)) for each in wanted)
        return SolverAnswer("sat", tuple(map(_bits, values)))


def _bits(value: Any) -> int:
    """Return the bits of a value: a Boolean one is a bool, any other its digits."""
    found = value.value(2, False)
    return int(found) if isinstance(found, bool) else int(found, 2)


def is_heavy(term: Term) -> bool:
    """Whether an operation costs a solver much."""
    if term.op not in _HEAVY:
        return False
    if isinstance(term.sort, int):
        return term.sort > _LIGHT_BITS and all(each.op != "const" for each in term.args)
    return True


@dataclass
class _Translation:
    """Terms as the solver's; some operations as unknown functions."""

    _bitwuzla: Any
    manager: Any
    _abstracted: frozenset[str] = frozenset()
    _terms: dict[Term, Any] = field(default_factory=dict[Term, Any])
    _functions: dict[tuple[object, ...], Any] = field(default_factory=dict[tuple[object, ...], Any])

    def translated(self, term: Term) -> Any:
        """Return the solver's term."""
        found = self._terms.get(term)
        if found is not None:
            return found
        pending = [term]  # a stack: terms of a long loop are nested deeply
        while pending:
            top = pending[-1]
            missing = [each for each in top.args if each not in self._terms]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            if top not in self._terms:
                self._terms[top] = self._made(top)
        return self._terms[term]

    def _made(self, term: Term) -> Any:
        args = [self._terms[each] for each in term.args]
        if term.op == "const":
            return self._constant(term)
        if term.op == "var":
            return self.manager.mk_const(self._sort(term.sort), str(term.params[0]))
        if term.op == "uf" or (term.op in self._abstracted and is_heavy(term)):
            return self._applied(term, args)
        kind = getattr(self._bitwuzla.Kind, _KINDS[term.op])
        indices = [each for each in term.params if isinstance(each, int)]
        if term.op.startswith("fp.from_") and isinstance(term.sort, tuple):
            indices = list(term.sort)
        modes = [each for each in term.params if isinstance(each, str)]
        rounding = [
            self.manager.mk_rm_value(getattr(self._bitwuzla.RoundingMode, each)) for each in modes
        ]
        return self.manager.mk_term(kind, [*rounding, *args], indices)

    def _applied(self, term: Term, args: list[Any]) -> Any:
        key = (term.op, term.params, tuple(each.sort for each in term.args), term.sort)
        function = self._functions.get(key)
        if function is None:
            sort = self.manager.mk_fun_sort([each.sort() for each in args], self._sort(term.sort))
            function = self.manager.mk_const(sort, f"function{len(self._functions)}")
            self._functions[key] = function
        return self.manager.mk_term(self._bitwuzla.Kind.APPLY, [function, *args])

    def _constant(self, term: Term) -> Any:
        value = term.value
        assert value is not None
        if term.sort == BOOL:
            return self.manager.mk_true() if value else self.manager.mk_false()
        if isinstance(term.sort, tuple):
            bits = self.manager.mk_bv_value(self.manager.mk_bv_sort(sum(term.sort)), value)
            kind = self._bitwuzla.Kind.FP_TO_FP_FROM_BV
            return self.manager.mk_term(kind, [bits], list(term.sort))
        return self.manager.mk_bv_value(self._sort(term.sort), value)

    def _sort(self, sort: Sort) -> Any:
        if isinstance(sort, int):
            return self.manager.mk_bv_sort(sort)
        if isinstance(sort, tuple):
            return self.manager.mk_fp_sort(*sort)
        return self.manager.mk_bool_sort()
