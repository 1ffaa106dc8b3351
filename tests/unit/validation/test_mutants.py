"""Rewrites made wrong on purpose: each is found, and the right ones next to them are left alone.

The rewrites are in tests/inputs/mutants, a file for each dialect. A case has a function before, a
wrong version of it, and a right one that differs from the wrong one in what makes it wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from actiondbg.validation.function_judgement import FunctionJudgement, JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge
from tests.paths import INPUTS

_LIMITS = JudgementLimits(seconds=5, inputs=24)
# The least number of cases of a dialect: a file that is read wrongly must not pass.
_DIALECTS = {
    "arith": 20,
    "scf_cf": 16,
    "affine": 11,
    "vector": 14,
    "tensor": 10,
    "memref": 13,
    "linalg": 12,
    "outside": 6,
}
# Why a wrong version cannot be confirmed without real runs.
_UNCONFIRMED = {
    "loop_that_goes_around_all_numbers": "after the action, the run takes too many steps",
    "cosine_instead_of_sine": "which is not confirmed",
    "sign_of_an_exponent": "which is not confirmed",
    "root_instead_of_its_reciprocal": "which is not confirmed",
    "copy_returned_as_the_memory_itself": "argument buffer 0 after), which is not confirmed",
    "scattered_to_swapped_places": "which is not confirmed",
}
# What nothing is known of, and alone decides.
_UNKNOWN = {
    "operands_of_an_unknown_operation": "nothing is known of foo.combine",
    "attribute_of_an_unknown_operation": "nothing is known of foo.scale",
    "unknown_operation_replaced": "nothing is known of foo.double",
    "unknown_operation_removed": "nothing is known of foo.barrier",
    "unknown_operation_without_results": "nothing is known of foo.note",
    "unknown_operation_with_a_region": "foo.region has no meaning here",
    "condition_of_an_unknown_operation": "nothing is known of foo.negated, foo.test",
    "outside_function_called_once_less": "nothing is known of @get",
    "outside_function_replaced": "nothing is known of @square",
    "tensor_of_unknown_rank": "an argument of type tensor<*xi32> has no meaning here",
}


class _Case(NamedTuple):
    """A function, and the versions that a rewrite made of it, by what they are."""

    before: str
    versions: dict[str, str]


def _cases(name: str) -> dict[str, _Case]:
    """Return the cases of a file by their titles."""
    _, *texts = (INPUTS / "mutants" / f"{name}.mlir").read_text().split("// ==== ")
    return dict(_case(text) for text in texts)


def _case(text: str) -> tuple[str, _Case]:
    title, _, body = text.partition("\n")
    before, *versions = body.split("// ---- ")
    parts = [version.partition("\n") for version in versions]
    return title, _Case(before, {kind: after for kind, _, after in parts})


CASES = {name: _cases(name) for name in _DIALECTS}
_LISTED = [
    pytest.param(case, id=f"{name}-{title}")
    for name, cases in CASES.items()
    for title, case in cases.items()
]
UNCONFIRMED = _cases("unconfirmed")
UNKNOWN = _cases("unknown")


def _judgement(before: str, after: str) -> FunctionJudgement:
    """Return the judgement of @f, which is the only one: no other function differs."""
    (judgement,) = ModuleJudge(_LIMITS).judge(Query(before, after))
    assert judgement.symbol == "f"
    return judgement


@pytest.mark.parametrize(("name", "least"), _DIALECTS.items(), ids=list(_DIALECTS))
def test_a_dialect_has_its_cases(name: str, least: int) -> None:
    assert len(CASES[name]) >= least
    assert {tuple(case.versions) for case in CASES[name].values()} == {("wrong", "right")}


def test_the_cases_apart_are_listed() -> None:
    assert UNCONFIRMED.keys() == _UNCONFIRMED.keys()
    assert UNKNOWN.keys() == _UNKNOWN.keys()


@pytest.mark.parametrize("case", _LISTED)
def test_a_wrong_rewrite_is_different(case: _Case) -> None:
    judgement = _judgement(case.before, case.versions["wrong"])
    assert judgement.verdict == "different", judgement.detail
    assert judgement.counterexample is not None
    assert judgement.counterexample.confirmed.startswith("confirmed by the solver")


@pytest.mark.parametrize("case", _LISTED)
def test_a_right_rewrite_is_equivalent(case: _Case) -> None:
    judgement = _judgement(case.before, case.versions["right"])
    assert judgement.verdict == "equivalent", judgement.detail


@pytest.mark.parametrize("title", _UNCONFIRMED)
def test_a_wrong_rewrite_that_cannot_be_confirmed_is_not_known(title: str) -> None:
    case = UNCONFIRMED[title]
    judgement = _judgement(case.before, case.versions["wrong"])
    assert judgement.verdict == "unknown"
    assert _UNCONFIRMED[title] in judgement.detail


@pytest.mark.parametrize("title", _UNCONFIRMED)
def test_a_right_rewrite_next_to_it_is_equivalent(title: str) -> None:
    case = UNCONFIRMED[title]
    judgement = _judgement(case.before, case.versions["right"])
    assert judgement.verdict == "equivalent", judgement.detail


@pytest.mark.parametrize("way", ["forwards", "backwards"])
@pytest.mark.parametrize("title", _UNKNOWN)
def test_what_depends_on_something_unknown_is_not_known(title: str, way: str) -> None:
    case = UNKNOWN[title]
    texts = [case.before, case.versions["changed"]]
    before, after = texts if way == "forwards" else reversed(texts)
    judgement = _judgement(before, after)
    assert judgement.verdict == "unknown", judgement.detail
    assert _UNKNOWN[title] in judgement.detail
