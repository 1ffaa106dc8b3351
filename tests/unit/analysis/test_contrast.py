"""The contrast of a failed attempt with successes: pure ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actiondbg.analysis.contrast import Contrast, Example, contrast_of
from actiondbg.analysis.features import Feature, Value
from tests.fakes.session.past import attempt

USES = Feature("uses", "the result", "", 0)
CONSTANT = Feature("constant", "operand 1", "", 0)
DEFINER = Feature("definer", "operand 0", "", 0)
NAME = Feature("has", "the definer of operand 0", "fast", 1)
FAR = Feature("constant", "operand 0 of the definer of operand 0", "", 2)


def example(ordinal: int, succeeded: bool, features: dict[Feature, Value]) -> Example:
    result = "succeeded" if succeeded else "failed"
    return Example(attempt=attempt(ordinal, result), features=features)


def compared(failure: dict[Feature, Value], *others: tuple[bool, dict[Feature, Value]]) -> Contrast:
    first = example(1, False, failure)
    rest = [example(at, succeeded, found) for at, (succeeded, found) in enumerate(others, 2)]
    return contrast_of(first, rest)


def statements(contrast: Contrast) -> list[tuple[str, int, int, str | None]]:
    return [(one.statement, one.successes, one.failures, one.here) for one in contrast.findings]


def test_the_statement_that_separates_best_comes_first() -> None:
    found = compared(
        {USES: 3, CONSTANT: False},
        (True, {USES: 1, CONSTANT: True}),
        (True, {USES: 1, CONSTANT: True}),
        (False, {USES: 2, CONSTANT: True}),
    )
    assert (found.successes, found.failures) == (2, 2)
    assert statements(found) == [
        ("the result has one use", 2, 0, "3"),
        ("operand 1 is a constant", 2, 1, None),
    ]


def test_numbers_are_compared_with_thresholds() -> None:
    found = compared({USES: 1}, (True, {USES: 2}), (True, {USES: 4}), (False, {USES: 0}))
    assert statements(found)[0] == ("the number of uses of the result is 2 or more", 2, 0, "1")
    found = compared({USES: 7}, (True, {USES: 2}), (True, {USES: 4}), (False, {USES: 9}))
    assert statements(found)[0] == ("the number of uses of the result is 4 or less", 2, 0, "7")


def test_one_of_several_values_is_found_by_the_one_that_fails() -> None:
    found = compared(
        {DEFINER: "an argument of func.func"},
        (True, {DEFINER: "arith.constant"}),
        (True, {DEFINER: "arith.index_cast"}),
        (False, {DEFINER: "an argument of func.func"}),
    )
    assert statements(found)[0] == (
        "operand 0 is not defined by an argument of func.func",
        2,
        0,
        "an argument of func.func",
    )


def test_a_fact_that_is_listed_only_where_it_holds() -> None:
    found = compared({}, (True, {NAME: True}), (False, {}))
    assert statements(found) == [("the definer of operand 0 has the attribute fast", 1, 0, None)]
    found = compared({NAME: True}, (True, {}))
    assert statements(found) == [("the definer of operand 0 has no attribute fast", 1, 0, None)]


def test_equal_evidence_is_one_finding_and_the_nearest_statement_comes_first() -> None:
    features = {FAR: True, NAME: True, CONSTANT: True}
    [finding] = compared({FAR: False, CONSTANT: False}, (True, dict(features))).findings
    assert finding.statement == "operand 1 is a constant"
    assert finding.equivalent == [
        "the definer of operand 0 has the attribute fast",
        "operand 0 of the definer of operand 0 is a constant",
    ]
    assert finding.more == 0


def test_a_part_of_the_successes_is_left_out_where_a_condition_is_exact() -> None:
    found = compared(
        {USES: 3, DEFINER: "a"}, (True, {USES: 1, DEFINER: "b"}), (True, {USES: 1, DEFINER: "c"})
    )
    assert [one.successes for one in found.findings] == [2]


def test_what_holds_in_all_successes_comes_first() -> None:
    other: tuple[bool, dict[Feature, Value]] = (False, {USES: 1, CONSTANT: False})
    found = compared(
        {USES: 3, CONSTANT: False},
        (True, {USES: 1, CONSTANT: True}),
        (True, {USES: 1, CONSTANT: False}),
        *[other] * 8,
    )
    assert statements(found) == [
        ("the result has one use", 2, 8, "3"),
        ("operand 1 is a constant", 1, 0, None),
    ]


def test_an_exact_number_of_many_uses_is_no_condition() -> None:
    found = compared({USES: 3, FAR: False}, (True, {USES: 7, FAR: True}))
    assert found.findings[0].statement == "operand 0 of the definer of operand 0 is a constant"


DEFINED = Feature("definer", "operand 1", "", 0)
RELATED = Feature("same", "operand 0", "operand 0 of the definer of operand 1", 1)


def test_a_relation_comes_first_where_the_definer_is_that_of_the_success() -> None:
    success: dict[Feature, Value] = {DEFINED: "a", RELATED: True, CONSTANT: True}
    found = compared({DEFINED: "a", RELATED: False, CONSTANT: False}, (True, success))
    assert found.findings[0].statement == (
        "operand 0 and operand 0 of the definer of operand 1 are the same value"
    )
    found = compared({DEFINED: "b", RELATED: False, CONSTANT: False}, (True, success))
    assert found.findings[0].statement == "operand 1 is a constant"


def test_the_nearest_success_is_the_one_with_the_fewest_differences() -> None:
    near = {USES: 1, CONSTANT: True, DEFINER: "a"}
    found = compared(
        {USES: 3, CONSTANT: True, DEFINER: "a"},
        (True, {USES: 1, CONSTANT: False, DEFINER: "b"}),
        (True, near),
        (True, near),
    )
    assert found.nearest is not None and found.nearest.ordinal == 3
    assert [(one.statement, one.here) for one in found.differences] == [
        ("the result has one use", "3")
    ]


def test_nothing_is_said_without_a_success() -> None:
    found = compared({USES: 3}, (False, {USES: 1}))
    assert (found.successes, found.failures, found.findings) == (0, 2, [])
    assert found.nearest is None and found.differences == []


_FEATURES = st.dictionaries(
    st.sampled_from([USES, CONSTANT, NAME, FAR]), st.booleans() | st.integers(0, 3)
)


@given(_FEATURES, st.lists(st.tuples(st.booleans(), _FEATURES), max_size=12))
def test_every_statement_is_false_here_and_counted_right(
    failure: dict[Feature, Value], others: list[tuple[bool, dict[Feature, Value]]]
) -> None:
    found = compared(failure, *others)
    successes = sum(succeeded for succeeded, _ in others)
    assert (found.successes, found.failures) == (successes, 1 + len(others) - successes)
    assert len(found.findings) <= 3
    for one in found.findings:
        assert 0 < one.successes <= found.successes
        assert 0 <= one.failures < found.failures  # it does not hold in the failure itself
    needed = [one.successes == successes for one in found.findings]
    assert needed == sorted(needed, reverse=True)
