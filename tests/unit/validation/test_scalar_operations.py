"""Scalar operations are declared once; numbers and terms mean the same by each of their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest

from actiondbg.validation import concrete
from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON, UndefinedBehaviour, Unsettled
from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge
from actiondbg.validation.program import OpaqueAttribute, Operation, Value
from actiondbg.validation.proof import scalars
from actiondbg.validation.proof.exploration import Explorer, ProofLimits
from actiondbg.validation.proof.operation_on_terms import UndefinedTarget
from actiondbg.validation.proof.solver import Solver
from actiondbg.validation.proof.symbolic import Symbolic
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.scalar_operations import BY_NAME, SCALAR_OPERATIONS
from actiondbg.validation.strictness import is_approximated
from actiondbg.validation.types import FloatType, IntegerType
from tests.elements import some
from tests.scalar_cases import F32, F64, Case, Scalar, cases, has_cases

pytest.importorskip("bitwuzla")

NUMBERS = {*concrete.INTEGERS, *concrete.FLOATS}
TERMS = {*scalars.INTEGERS, *scalars.FLOATS, *scalars.CONVERSIONS}
# Each domain has them in a function of its own, as they take poison.
OF_DOMAINS = {"select", "freeze"}
NO_TERMS = {"remf": "the solver's remainder is IEEE's, not C's"}
APPROXIMATED_WITH_TERMS = {
    "fma": "a function of the solver",
    "sincos": "the functions sin and cos",
}
# Operations on scalars of MLIR that have no entry.
NOT_DECLARED = {
    "arith.constant": "an operation of the machine",
    "index.constant": "an operation of the machine",
    "index.bool.constant": "an operation of the machine",
    "index.sizeof": "the target's",
    "arith.scaling_extf": "on types that the solver does not know",
    "arith.scaling_truncf": "on types that the solver does not know",
    "math.clampf": "its lowerings differ in which operand is the lower bound",
}
UNDEFINED = "undefined"
OPERATIONS = {each.name: each for each in SCALAR_OPERATIONS}
COMPARED = [name for name in OPERATIONS if name not in NO_TERMS and has_cases(OPERATIONS[name])]


def test_numbers_have_all_operations() -> None:
    assert {*OPERATIONS} - OF_DOMAINS == NUMBERS


def test_terms_have_all_exact_operations() -> None:
    exact = {each.name for each in SCALAR_OPERATIONS if each.is_exact}
    assert exact - OF_DOMAINS - {*NO_TERMS} == TERMS - {*APPROXIMATED_WITH_TERMS}
    assert {*APPROXIMATED_WITH_TERMS} <= TERMS - exact


def test_exact_operations_are_compared() -> None:
    missing = {each.name for each in SCALAR_OPERATIONS if each.is_exact and not has_cases(each)}
    assert missing == {"freeze"}


def test_names_are_unique() -> None:
    names = [name for each in SCALAR_OPERATIONS for name in each.names]
    assert len({*names}) == len(names) == len(BY_NAME)
    assert len(OPERATIONS) == len(SCALAR_OPERATIONS)


@pytest.mark.parametrize("dialect", ["arith", "index", "math", "llvm"])
def test_names_are_those_of_mlir(dialect: str) -> None:
    module = import_module(f"mlir.dialects._{dialect}_ops_gen")
    found = {
        name
        for each in vars(module).values()
        if (name := getattr(each, "OPERATION_NAME", "")).startswith(f"{dialect}.")
    }
    declared = {name for name in BY_NAME if name.startswith(f"{dialect}.")} - {"arith.freeze"}
    assert declared <= found
    if dialect != "llvm":
        assert found - declared == {each for each in NOT_DECLARED if each.startswith(dialect)}


@pytest.mark.parametrize("name", BY_NAME)
def test_an_operation_is_as_strict_as_declared(name: str) -> None:
    operation = Operation(name, (Value(F32),), (Value(F32),), {})
    assert is_approximated(operation) != BY_NAME[name].is_exact


def outcome(case: Case, row: Sequence[Any], is_source: bool) -> Any:
    try:
        return Concrete(is_source).apply(case.name, row, case.types, case.results, case.attributes)
    except UndefinedBehaviour:
        return UNDEFINED


class ConstantTerms:
    """A case in terms that are constants."""

    def __init__(self, case: Case, is_source: bool) -> None:
        self._case = case
        self._terms = Terms()
        explorer = Explorer(self._terms, Solver(), ProofLimits())
        self._domain = Symbolic(self._terms, explorer, is_source=is_source)
        self._explorer = explorer
        self.settled = 0  # rows of which the terms say what they are

    def differs(self, row: Sequence[Any], expected: Any) -> Term:
        """Return whether the result differs from that on numbers."""
        terms, case, domain = self._terms, self._case, self._domain
        operands = [
            domain.poison(type) if value is POISON else domain.constant(value, type)
            for value, type in zip(row, case.types, strict=True)
        ]
        domain.approximations.clear()
        try:
            found = domain.apply(case.name, operands, case.types, case.results, case.attributes)
        except (UndefinedBehaviour, UndefinedTarget):
            return terms.boolean(expected != UNDEFINED)
        assert not self._explorer.conditions
        if expected == UNDEFINED:
            return terms.true
        exact = terms.and_(*domain.approximations)
        self.settled += exact.value != 0
        differing = [
            terms.not_(each.poison)
            if value is POISON
            else terms.or_(each.poison, terms.not_(self._is(each.term, value, type)))
            for each, value, type in zip(found, expected, case.results, strict=True)
        ]
        return terms.and_(exact, terms.or_(*differing))

    def _is(self, term: Term, value: Any, type: Scalar) -> Term:
        terms = self._terms
        if str(type) == "bf16" and math.isnan(value):  # by bits, of which several are a NaN
            absolute = terms.op("bvand", term, terms.bv(0x7FFF, 16))
            return terms.op("bvult", terms.bv(0x7F80, 16), absolute)
        return terms.eq(term, self._domain.constant(value, type).term)


def disagreement(case: Case, is_source: bool, count: int = 40) -> object:
    """Return operands for which numbers and terms differ; None if there are none."""
    known = ConstantTerms(case, is_source)
    rows: list[tuple[Sequence[Any], Any]] = []
    for row in case.rows(count):
        try:
            rows.append((row, outcome(case, row, is_source)))
        except Unsettled:
            continue
    differences = [known.differs(*row) for row in rows]
    assert known.settled or _is_open(case), f"nothing is compared of {case}"
    open_ones = [each for each in differences if each.value != 0]
    if not open_ones:
        return None
    answer = Solver().check([Terms().or_(*open_ones)], open_ones, seconds=60)
    assert answer.status != "unknown"
    if answer.status == "unsat":
        return None
    return case, rows[differences.index(open_ones[answer.values.index(1)])]


def _is_open(case: Case) -> bool:
    """Whether the terms of a case are an unknown function: results are rounded to bf16."""
    types = {str(each) for each in (*case.types, *case.results)}
    return "bf16" in types


@pytest.mark.parametrize("is_source", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("name", COMPARED)
def test_numbers_and_terms_agree(name: str, is_source: bool) -> None:
    known = [case for case in cases(OPERATIONS[name]) if not _has_flags_on_bits(case)]
    for case in some(known):
        assert disagreement(case, is_source) is None


def _has_flags_on_bits(case: Case) -> bool:
    """Whether a proof refuses a case: flags of fast math on bf16, which is not widened for all."""
    flags = case.attributes.get("fastmath")
    if flags is None or FloatType("bf16") not in case.types:
        return False
    return "ninf" in flags.text or not BY_NAME[case.name].is_widened


def test_a_wrong_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(concrete.INTEGERS, "absi", concrete.plain(int))
    (case, *_) = cases(OPERATIONS["absi"])
    case = Case(case.name, [IntegerType(8)], [IntegerType(8)], case.attributes)
    assert disagreement(case, is_source=True) is not None


@pytest.mark.parametrize("value", [1000.0, -1000.0])
def test_a_hyperbolic_sine_overflows(value: float) -> None:
    found = Concrete().apply("math.sinh", (value,), (F32,), (F32,), {})
    assert found == (math.copysign(math.inf, value),)


@pytest.mark.parametrize("addend", [math.inf, -math.inf])
def test_the_product_of_a_fused_sum_does_not_overflow(addend: float) -> None:
    case = Case("math.fma", [F64] * 3, [F64])
    assert outcome(case, (1e300, 1e300, addend), is_source=True) == (addend,)
    assert outcome(case, (-1e300, 1e300, addend), is_source=True) == (addend,)


def test_a_remainder_of_llvm_overflows_after_an_action() -> None:
    types = [IntegerType(8)] * 2
    for name, expected in (("llvm.srem", UNDEFINED), ("arith.remsi", (0,))):
        assert outcome(Case(name, types, types[:1]), (0x80, 0xFF), is_source=False) == expected
        assert outcome(Case(name, types, types[:1]), (0x80, 0xFF), is_source=True) == UNDEFINED


def test_both_results_of_sincos_are_rounded() -> None:
    sine, cosine = Concrete().apply("math.sincos", [1.0], [F32], [F32] * 2, {})
    assert (sine, cosine) == (0.8414709568023682, 0.5403022766113281)


@pytest.mark.parametrize(
    ("flag", "excluded", "allowed"),
    [("nnan", math.nan, math.inf), ("ninf", -math.inf, math.nan), ("fast", math.nan, 1.0)],
)
def test_a_selection_excludes_numbers_as_its_result_only(
    flag: str, excluded: float, allowed: float
) -> None:
    flags = {"fastmathFlags": OpaqueAttribute(f"#llvm.fastmath<{flag}>")}
    types = [IntegerType(1), F32, F32]
    results = [
        Concrete().apply("llvm.select", [condition, excluded, allowed], types, [F32], flags)
        for condition in (1, 0)
    ]
    assert results[0] == (POISON,)
    assert repr(results[1]) == repr((allowed,))


_SELECT = """
func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {{
  %r = llvm.select %c, %x, %y {{fastmathFlags = #llvm.fastmath<{}>}} : i1, f32
  return %r : f32
}}
"""
_SELECT_OF_OTHER_CONDITION = """
func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {{
  %true = arith.constant true
  %n = arith.xori %c, %true : i1
  %r = llvm.select %n, %y, %x {{fastmathFlags = #llvm.fastmath<{}>}} : i1, f32
  return %r : f32
}}
"""
_OTHER_SELECT = _SELECT.replace("%x, %y {{", "%x, %x {{")
_PLAIN = "none"


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (_SELECT.format("fast"), _SELECT_OF_OTHER_CONDITION.format("fast"), "equivalent"),
        (_SELECT.format("nnan"), _SELECT_OF_OTHER_CONDITION.format("nnan"), "equivalent"),
        (_SELECT.format("nnan"), _SELECT.format(_PLAIN), "equivalent"),
        (_SELECT.format(_PLAIN), _SELECT.format("nnan"), "different"),
        (_SELECT.format(_PLAIN), _SELECT.format("nsz"), "unknown"),
        (_SELECT.format("nnan"), _OTHER_SELECT.format("nnan"), "different"),
    ],
)
def test_selections_with_flags_have_verdicts(before: str, after: str, verdict: str) -> None:
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(before, after))
    assert found.verdict == verdict


_ABS = '"llvm.intr.abs"(%x) <{{is_int_min_poison = {}}}> : (i8) -> i8'
_CTLZ = '"llvm.intr.ctlz"(%x) <{{is_zero_poison = {}}}> : (i8) -> i8'
_ONE_LINE = """
func.func @f(%x: i8) -> i8 {
  %minus = arith.constant -1 : i8
  %zero = arith.constant 0 : i8
  %r = {line}
  return %r : i8
}
"""


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("arith.andi %zero, %x : i8", "llvm.srem %x, %minus : i8", "different"),
        ("arith.andi %zero, %x : i8", "arith.remsi %x, %minus : i8", "equivalent"),
        ("llvm.srem %x, %minus : i8", "arith.andi %zero, %x : i8", "equivalent"),
        ("math.absi %x : i8", _ABS.format("true"), "different"),
        ("math.absi %x : i8", _ABS.format("false"), "equivalent"),
        ("math.ctlz %x : i8", _CTLZ.format("true"), "different"),
    ],
)
def test_operations_of_llvm_have_verdicts(before: str, after: str, verdict: str) -> None:
    texts = [_ONE_LINE.replace("{line}", line) for line in (before, after)]
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(*texts))
    assert found.verdict == verdict


def test_sine_and_cosine_are_the_same_in_one_operation() -> None:
    text = """
func.func @f(%x: f32) -> (f32, f32) {{
  {lines}
  return %s, %c : f32, f32
}}
"""
    two = "%s = math.sin %x : f32\n  %c = math.cos %x : f32"
    one, swapped = (f"{names} = math.sincos %x : f32" for names in ("%s, %c", "%c, %s"))
    # A difference needs a second way that sees it: to a proof, both are functions.
    for lines, verdict in ((one, "equivalent"), (swapped, "unknown")):
        texts = [text.format(lines=each) for each in (two, lines)]
        (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(*texts))
        assert found.verdict == verdict
