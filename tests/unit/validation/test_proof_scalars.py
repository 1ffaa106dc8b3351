"""Terms of a solver mean what numbers mean: two implementations of each operation agree."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON, UndefinedBehaviour
from actiondbg.validation.proof.exploration import Explorer, ProofLimits
from actiondbg.validation.proof.operation_on_terms import ScalarTerm
from actiondbg.validation.proof.solver import Solver
from actiondbg.validation.proof.symbolic import Symbolic
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.types import BOOL, INDEX, FloatType, IntegerType
from tests.scalar_cases import (
    BF16,
    F16,
    F32,
    F64,
    Scalar,
    any_number,
    fast,
    flags,
    special,
)

pytest.importorskip("bitwuzla")

UNDEFINED = "undefined"


class Operation:
    """An operation on unknowns, in terms.

    Args:
        name: of the operation.
        types: of its operands.
        results: the types of its results.
        attributes: of the operation.
    """

    def __init__(
        self,
        name: str,
        types: Sequence[Scalar],
        results: Sequence[Scalar],
        attributes: Mapping[str, Any],
    ) -> None:
        self.described = (name, types, results, attributes)
        self._terms = Terms()
        self._solver = Solver()
        self._explorer = Explorer(self._terms, self._solver, ProofLimits())
        self._domain = Symbolic(self._terms, self._explorer)
        self._operands = [self._unknown(at, type) for at, type in enumerate(types)]
        self._results = self._domain.apply(name, self._operands, types, results, attributes)
        self._defined = self._terms.and_(*self._explorer.conditions)

    def _unknown(self, at: int, type: Scalar) -> ScalarTerm:
        poison = self._terms.var(f"poison {at}", "Bool")
        if isinstance(type, IntegerType):
            return ScalarTerm(self._terms.var(f"{at}", type.width), poison)
        sort = self._domain.constant(0.0, type).term.sort
        if isinstance(sort, int):
            return ScalarTerm(self._terms.var(f"{at}", sort), poison)
        bits = self._terms.var(f"{at}", sum(sort))
        return ScalarTerm(self._terms.from_bits(bits, sort), poison)

    def disagreement(self, rows: Sequence[Sequence[Any]]) -> Sequence[Any] | None:
        """Return operands for which the numbers' domain has another result."""
        cases = [self._differs(row) for row in rows]
        conditions = [self._terms.or_(*cases), *self._domain.approximations]
        answer = self._solver.check(conditions, cases, seconds=60)
        assert answer.status != "unknown"
        if answer.status == "unsat":
            return None
        return rows[answer.values.index(1)]

    def _differs(self, row: Sequence[Any]) -> Term:
        terms = self._terms
        name, types, results, attributes = self.described
        is_given = [
            given.poison
            if value is POISON
            else terms.and_(terms.not_(given.poison), self._is(given.term, value, type))
            for given, value, type in zip(self._operands, row, types, strict=True)
        ]
        expected = outcome(name, row, types, results, attributes)
        if expected == UNDEFINED:
            return terms.and_(*is_given, self._defined)
        differs = [
            terms.not_(found.poison)
            if value is POISON
            else terms.or_(found.poison, terms.not_(self._is(found.term, value, type)))
            for found, value, type in zip(self._results, expected, results, strict=True)
        ]
        return terms.and_(*is_given, terms.or_(terms.not_(self._defined), *differs))

    def _is(self, term: Term, value: Any, type: Scalar) -> Term:
        return self._terms.eq(term, self._domain.constant(value, type).term)


def outcome(
    name: str,
    row: Sequence[Any],
    types: Sequence[Scalar],
    results: Sequence[Scalar],
    attributes: Mapping[str, Any],
) -> Any:
    try:
        return Concrete().apply(name, row, types, results, attributes)
    except UndefinedBehaviour:
        return UNDEFINED


def every(types: Sequence[Scalar]) -> list[tuple[Any, ...]]:
    """Return all operands of small integer types, poison among them."""
    values: list[list[Any]] = []
    for type in types:
        assert isinstance(type, IntegerType)
        values.append([*range(1 << type.width), POISON])
    return list(product(*values))


def some(types: Sequence[Scalar], count: int = 60) -> list[tuple[Any, ...]]:
    """Return operands at which something may happen, and random ones."""
    chosen = random.Random(f"{types}")
    rows = [tuple(chosen.choice(special(type)) for type in types) for _ in range(count)]
    rows += [tuple(any_number(chosen, type) for type in types) for _ in range(count)]
    return rows


BINARY = [
    *("addi", "subi", "muli", "divui", "divsi", "ceildivui", "ceildivsi", "floordivsi"),
    *("remui", "remsi", "andi", "ori", "xori", "shli", "shrui", "shrsi"),
    *("maxsi", "maxui", "minsi", "minui"),
]
FLAGGED: list[tuple[str, dict[str, Any]]] = [
    *((f"arith.{name}", {}) for name in BINARY),
    *(
        (f"arith.{name}", flags(*names))
        for name in ("addi", "subi", "muli", "shli")
        for names in (("nsw",), ("nuw",), ("nsw", "nuw"))
    ),
    *((f"arith.{name}", {"isExact": True}) for name in ("divui", "divsi", "shrui", "shrsi")),
    ("llvm.or", {"isDisjoint": True}),
    ("math.ipowi", {}),
]
EXTENDED = ("addui_extended", "mulsi_extended", "mului_extended")
UNARY = ("math.absi", "math.ctlz", "math.cttz", "math.ctpop")


@pytest.mark.parametrize(("name", "attributes"), FLAGGED)
@pytest.mark.parametrize("width", [1, 3, 4])
def test_integers_of_few_bits_agree(name: str, attributes: dict[str, Any], width: int) -> None:
    types = [IntegerType(width)] * 2
    operation = Operation(name, types, types[:1], attributes)
    assert operation.disagreement(every(types)) is None


@pytest.mark.parametrize(("name", "attributes"), FLAGGED)
def test_integers_of_eight_bits_agree(name: str, attributes: dict[str, Any]) -> None:
    types = [IntegerType(8)] * 2
    operation = Operation(name, types, types[:1], attributes)
    assert operation.disagreement(some(types)) is None


@pytest.mark.parametrize("name", ["add", "sub", "mul", "divs", "divu", "ceildivs", "ceildivu"])
def test_indices_agree(name: str) -> None:
    operation = Operation(f"index.{name}", [INDEX] * 2, [INDEX], {})
    assert operation.disagreement(some([INDEX] * 2, 12)) is None


@pytest.mark.parametrize(
    "name",
    ["floordivs", "rems", "remu", "maxs", "maxu", "mins", "minu", "shl", "shrs", "shru"],
)
def test_other_operations_on_indices_agree(name: str) -> None:
    operation = Operation(f"index.{name}", [INDEX] * 2, [INDEX], {})
    assert operation.disagreement(some([INDEX] * 2, 12)) is None


@pytest.mark.parametrize("name", EXTENDED)
def test_extended_results_agree(name: str) -> None:
    type = IntegerType(3)
    second = BOOL if name == "addui_extended" else type
    operation = Operation(f"arith.{name}", [type] * 2, [type, second], {})
    assert operation.disagreement(every([type] * 2)) is None


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("width", [1, 3, 6])
def test_functions_of_an_integer_agree(name: str, width: int) -> None:
    types = [IntegerType(width)]
    operation = Operation(name, types, types, {})
    assert operation.disagreement(every(types)) is None


@pytest.mark.parametrize("predicate", range(10))
def test_comparisons_of_integers_agree(predicate: int) -> None:
    types = [IntegerType(3)] * 2
    operation = Operation("arith.cmpi", types, [BOOL], {"predicate": predicate})
    assert operation.disagreement(every(types)) is None


@pytest.mark.parametrize(
    ("name", "source", "target", "attributes"),
    [
        ("arith.extsi", 3, 5, {}),
        ("arith.extui", 3, 5, {}),
        ("llvm.zext", 3, 5, {"nonNeg": True}),
        ("arith.trunci", 5, 3, {}),
        ("arith.trunci", 5, 3, flags("nsw")),
        ("arith.trunci", 5, 3, flags("nuw")),
        ("arith.trunci", 5, 1, flags("nsw", "nuw")),
        ("arith.bitcast", 4, 4, {}),
    ],
)
def test_conversions_of_integers_agree(
    name: str, source: int, target: int, attributes: dict[str, Any]
) -> None:
    types = [IntegerType(source)]
    operation = Operation(name, types, [IntegerType(target)], attributes)
    assert operation.disagreement(every(types)) is None


@pytest.mark.parametrize("name", ["arith.index_cast", "arith.index_castui"])
@pytest.mark.parametrize("width", [5, 80])
def test_casts_of_indices_agree(name: str, width: int) -> None:
    wide = Operation(name, [IntegerType(width)], [INDEX], {})
    assert wide.disagreement(some([IntegerType(width)])) is None
    back = Operation(name, [INDEX], [IntegerType(width)], {})
    assert back.disagreement(some([INDEX])) is None


def test_a_selection_agrees() -> None:
    types = [BOOL, IntegerType(2), IntegerType(2)]
    assert Operation("arith.select", types, types[1:2], {}).disagreement(every(types)) is None


# --- floats ---

FLOAT_OPERATIONS: list[tuple[str, int, dict[str, Any]]] = [
    *((f"arith.{name}", 2, {}) for name in ("addf", "subf", "mulf", "divf")),
    *((f"arith.{name}", 2, {}) for name in ("maximumf", "minimumf", "maxnumf", "minnumf")),
    *((f"arith.{name}", 2, fast("nnan")) for name in ("addf", "mulf", "maxnumf")),
    *((f"arith.{name}", 2, fast("nnan", "ninf")) for name in ("subf", "divf")),
    ("arith.negf", 1, {}),
    *((f"math.{name}", 1, {}) for name in ("absf", "sqrt", "ceil", "floor", "trunc")),
    *((f"math.{name}", 1, {}) for name in ("round", "roundeven")),
    ("math.fma", 3, {}),
]


@pytest.mark.parametrize(("name", "count", "attributes"), FLOAT_OPERATIONS)
@pytest.mark.parametrize("type", [F16, F32], ids=str)
def test_floats_agree(name: str, count: int, attributes: dict[str, Any], type: FloatType) -> None:
    types = [type] * count
    operation = Operation(name, types, [type], attributes)
    assert operation.disagreement(some(types, 25)) is None


def test_the_sign_of_a_number_is_copied() -> None:
    operation = Operation("math.copysign", [F32] * 2, [F32], {})
    rows = [row for row in some([F32] * 2) if not math.isnan(row[1])]
    assert operation.disagreement(rows) is None


@pytest.mark.parametrize("name", ["maximumf", "minimumf", "minnumf"])
def test_operations_on_bfloats_that_need_no_rounding_agree(name: str) -> None:
    operation = Operation(f"arith.{name}", [BF16] * 2, [BF16], {})
    rows = [row for row in some([BF16] * 2) if not any(map(math.isnan, row))]
    assert operation.disagreement(rows) is None


@pytest.mark.parametrize("name", ["addf", "mulf", "maximumf"])
def test_doubles_agree(name: str) -> None:
    operation = Operation(f"arith.{name}", [F64] * 2, [F64], {})
    assert operation.disagreement(some([F64] * 2, 10)) is None


@pytest.mark.parametrize("predicate", range(16))
@pytest.mark.parametrize("attributes", [{}, fast("nnan")], ids=["plain", "nnan"])
@pytest.mark.parametrize("type", [F32, BF16], ids=str)
def test_comparisons_of_floats_agree(
    predicate: int, attributes: dict[str, Any], type: FloatType
) -> None:
    given = {"predicate": predicate, **attributes}
    operation = Operation("arith.cmpf", [type] * 2, [BOOL], given)
    assert operation.disagreement(some([type] * 2)) is None


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "isnormal"])
def test_classes_of_floats_agree(name: str) -> None:
    operation = Operation(f"math.{name}", [F32], [BOOL], {})
    assert operation.disagreement(some([F32])) is None


@pytest.mark.parametrize(
    ("name", "source", "target", "attributes"),
    [
        *((name, F32, IntegerType(8), {}) for name in ("arith.fptosi", "arith.fptoui")),
        *((name, F16, IntegerType(32), {}) for name in ("arith.fptosi", "arith.fptoui")),
        *((name, F64, IntegerType(64), {}) for name in ("arith.fptosi", "arith.fptoui")),
        *((name, F32, BOOL, {}) for name in ("arith.fptosi", "arith.fptoui")),
        *((name, BF16, IntegerType(8), {}) for name in ("arith.fptosi", "arith.fptoui")),
        *((name, IntegerType(8), F32, {}) for name in ("arith.sitofp", "arith.uitofp")),
        *((name, IntegerType(32), F32, {}) for name in ("arith.sitofp", "arith.uitofp")),
        *((name, IntegerType(64), F32, {}) for name in ("arith.sitofp", "arith.uitofp")),
        *((name, IntegerType(64), F16, {}) for name in ("arith.sitofp", "arith.uitofp")),
        *((name, BOOL, F32, {}) for name in ("arith.sitofp", "arith.uitofp")),
        ("llvm.uitofp", IntegerType(8), F32, {"nonNeg": True}),
        ("arith.extf", F16, F32, {}),
        ("arith.extf", F32, F64, {}),
        ("arith.extf", F16, F32, fast("nnan")),
        ("arith.truncf", F32, F16, {}),
        ("arith.truncf", F64, F32, {}),
        ("arith.extf", BF16, F32, {}),
        ("arith.bitcast", F32, IntegerType(32), {}),
        ("arith.bitcast", IntegerType(32), F32, {}),
        ("arith.bitcast", IntegerType(16), F16, {}),
    ],
)
def test_conversions_of_floats_agree(
    name: str, source: Scalar, target: Scalar, attributes: dict[str, Any]
) -> None:
    operation = Operation(name, [source], [target], attributes)
    rows = [row for row in some([source]) if not is_nan_bits(name, row[0])]
    assert operation.disagreement(rows) is None


def is_nan_bits(name: str, value: Any) -> bool:
    """Whether bits of a NaN are asked for, which are open."""
    return name == "arith.bitcast" and isinstance(value, float) and math.isnan(value)


BIT_VECTORS = [
    *("bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor", "bvudiv", "bvurem", "bvsdiv", "bvsrem"),
    *("bvshl", "bvlshr", "bvashr", "bvult", "bvule", "bvslt", "bvsle"),
    *("bvsaddo", "bvuaddo", "bvssubo", "bvusubo", "bvsmulo", "bvumulo"),
]


@pytest.mark.parametrize("name", BIT_VECTORS)
def test_constants_are_computed_as_the_solver_does(name: str) -> None:
    terms = Terms()
    left, right = terms.var("left", 3), terms.var("right", 3)
    computed = terms.op(name, left, right)
    differs = [
        terms.and_(
            terms.eq(left, terms.bv(a, 3)),
            terms.eq(right, terms.bv(b, 3)),
            terms.not_(terms.eq(computed, terms.op(name, terms.bv(a, 3), terms.bv(b, 3)))),
        )
        for a in range(8)
        for b in range(8)
    ]
    assert Solver().check([terms.or_(*differs)]).status == "unsat"


@pytest.mark.parametrize("name", BIT_VECTORS)
@pytest.mark.parametrize("constant", [0, 1, 4, 7])
def test_operations_with_one_constant_are_simplified_right(name: str, constant: int) -> None:
    terms = Terms()
    given, hidden = terms.var("given", 3), terms.var("hidden", 3)
    is_constant = terms.eq(hidden, terms.bv(constant, 3))
    pairs = [
        (terms.op(name, given, terms.bv(constant, 3)), terms.op(name, given, hidden)),
        (terms.op(name, terms.bv(constant, 3), given), terms.op(name, hidden, given)),
    ]
    differs = terms.or_(*(terms.not_(terms.eq(*pair)) for pair in pairs))
    assert Solver().check([is_constant, differs]).status == "unsat"
    same = terms.var("same", 3)
    both = terms.eq(terms.op(name, given, given), terms.op(name, given, same))
    assert Solver().check([terms.eq(given, same), terms.not_(both)]).status == "unsat"


def test_a_disagreement_is_found() -> None:
    type = IntegerType(3)
    operation = Operation("arith.addi", [type] * 2, [type], {})
    operation.described = ("arith.subi", [type] * 2, [type], {})
    found = operation.disagreement(every([type] * 2))
    assert found is not None
    left, right = found
    assert (left + right) % 8 != (left - right) % 8
