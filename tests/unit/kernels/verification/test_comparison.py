"""Results compared with expected ones, and the maps of what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from actiondbg.kernels.execution.buffers import poison
from actiondbg.kernels.verification.expectation import Expectation
from actiondbg.kernels.verification.result_check import compare, error_map, error_pattern


def _equal(values: list[float]) -> Expectation:
    return Expectation([], np.array(values), None, "equal")


def test_equal_results_are_right_whatever_the_sign_of_zero() -> None:
    found = compare(np.array([1.0, -0.0, np.inf], np.float32), _equal([1.0, 0.0, np.inf]))
    assert not found.wrong.any()
    assert found.error_ratio == 0.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3.0000002])
def test_a_wrong_element_is_named(value: float) -> None:
    found = compare(np.array([1, 2, value], np.float32), _equal([1.0, 2.0, 3.0]))
    assert found.wrong.tolist() == [False, False, True]
    assert found.first[0].startswith("[2] is ")
    assert found.first[0].endswith(", expected 3.0")


def test_a_bound_decides() -> None:
    expectation = Expectation([], np.array([1.0, 2.0]), np.array([0.1, 0.1]), "bound")
    found = compare(np.array([1.05, 2.2], np.float32), expectation)
    assert found.wrong.tolist() == [False, True]
    assert found.error_ratio == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("bound", [None, np.array([np.nan, np.nan, 0.1])])
def test_nan_is_right_where_it_is_expected_and_written(bound: np.ndarray | None) -> None:
    expectation = Expectation([], np.array([np.nan, np.nan, 3.0]), bound, "bound")
    result = np.array([np.nan, poison(np.dtype(np.float32))[0], 3.0], np.float32)
    assert compare(result, expectation).wrong.tolist() == [False, True, False]


def test_integers_wrap_around() -> None:
    expectation = Expectation([], np.array([2**31 + 5]), None, "equal")
    assert not compare(np.array([-(2**31) + 5], np.int32), expectation).wrong.any()


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (slice(64, None), slice(None), "d0 >= 64"),
        (slice(None), slice(0, 10), "d1 <= 9"),
        (slice(3, 4), slice(None), "d0 = 3"),
        (slice(5, 21), slice(7, 9), "5 <= d0 <= 20 and 7 <= d1 <= 8"),
        (slice(1, None, 2), slice(None), "d0 % 2 = 1"),
        (slice(None), slice(3, None, 24), "d1 % 24 = 3"),
        (slice(21, 50, 8), slice(None), "d0 % 8 = 5 and d0 >= 21 and d0 <= 45"),
    ],
)
def test_regular_errors_are_put_into_words(rows: slice, columns: slice, words: str) -> None:
    wrong = np.zeros((100, 70), bool)
    wrong[rows, columns] = True
    assert (
        error_pattern(wrong)
        == f"All {wrong.sum()} wrong elements have {words}, and no other element has."
    )


def test_the_lanes_of_a_vector_are_put_into_words() -> None:
    wrong = np.zeros((4, 64), bool)
    wrong[:, np.arange(64) % 16 >= 12] = True
    assert (
        error_pattern(wrong)
        == "All 64 wrong elements have d1 % 16 >= 12, and no other element has."
    )


def test_a_rule_that_right_elements_meet_too_says_nothing_of_them() -> None:
    wrong = np.zeros((4, 64), bool)
    wrong[:, np.arange(64) % 16 >= 12] = True
    wrong[2, 13] = False
    assert error_pattern(wrong) == "All 63 wrong elements have d1 % 16 >= 12."


def test_remainders_without_order_are_listed() -> None:
    wrong = np.isin(np.arange(64) % 8, [0, 3, 5])
    assert error_pattern(wrong) == (
        "All 24 wrong elements have d0 % 8 in {0, 3, 5}, and no other element has."
    )


@pytest.mark.parametrize("indices", [[3, 40], [3, 20, 40], [1, 2, 5, 11, 31, 47]])
def test_scattered_elements_have_no_rule(indices: list[int]) -> None:
    wrong = np.zeros(64, bool)
    wrong[indices] = True
    assert error_pattern(wrong) == ""


RIGHT = np.arange(1.0, 17.0).reshape(4, 4)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (RIGHT * 0, " Each is 0."),
        (RIGHT * np.nan, " Each is NaN."),
        (RIGHT * np.inf, " Each is infinite."),
        (RIGHT * 2, " Each is twice the expected value."),
        (-RIGHT, " Each is the expected value with the other sign."),
        (RIGHT + 1, ""),
    ],
)
def test_what_wrong_values_have_in_common_is_put_into_words(result: np.ndarray, words: str) -> None:
    found = compare(result.astype(np.float32), Expectation([], RIGHT, None, "equal"))
    assert found.pattern == f"All elements are wrong.{words}"


def test_a_transposed_result_is_put_into_words() -> None:
    found = compare(RIGHT.T.astype(np.float32), Expectation([], RIGHT, None, "equal"))
    assert found.pattern == "Each is the expected value of the transposed index."


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "int32", "bfloat16"])
def test_unwritten_memory_is_recognised(name: str) -> None:
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name, name))
    result = np.arange(1, 9).astype(dtype)
    result[5:] = poison(dtype)[0]
    found = compare(result, _equal([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]))
    assert found.wrong.sum() == 3
    assert "(unwritten memory)" in found.first[0]
    assert found.pattern == (
        "All 3 wrong elements have d0 >= 5, and no other element has. "
        "Each is unwritten memory, or computed from it."
    )


def test_what_is_too_large_for_the_type_is_expected_to_be_infinite() -> None:
    expectation = Expectation([], np.array([70000.0, 2.0]), np.array([10.0, 0.1]), "bound")
    found = compare(np.array([np.inf, 2.0], np.float16), expectation)
    assert not found.wrong.any()
    assert compare(np.array([np.nan, 2.0], np.float16), expectation).wrong[0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_ratio_is_a_number_in_json(value: float) -> None:
    for expectation in (_equal([1.0]), Expectation([], np.ones(1), np.ones(1), "bound")):
        assert compare(np.array([value], np.float32), expectation).error_ratio == 1e30


def test_a_map_shows_the_wrong_tiles() -> None:
    wrong = np.zeros((4, 64), bool)
    wrong[2:, 40:] = True
    wrong[0, 0] = True
    assert error_map(wrong).splitlines() == [
        "d0 by d1, a character is 1 x 2 elements:",
        "+" + "." * 31,
        "." * 32,
        "." * 20 + "#" * 12,
        "." * 20 + "#" * 12,
    ]


def test_a_map_takes_the_dimensions_that_differ_most() -> None:
    wrong = np.zeros((2, 3, 4, 5), bool)
    wrong[:, 1, :, 3:] = True
    assert error_map(wrong).splitlines() == [
        "d1 by d3, a character is 1 x 1 elements:",
        ".....",
        "...##",
        ".....",
    ]


def test_no_map_without_a_difference() -> None:
    assert error_map(np.ones((4, 4), bool)) == ""
    assert error_map(np.zeros((4, 4), bool)) == ""


def test_nan_is_right_where_it_is_expected() -> None:
    expectation = Expectation([], np.array([np.nan, np.nan]), np.array([np.nan, 1.0]), "bound")
    found = compare(np.array([np.nan, 1.0], np.float32), expectation)
    assert found.wrong.tolist() == [False, True]


def test_a_scalar_is_compared() -> None:
    expectation = Expectation([], np.array(2.0), np.array(0.1), "bound")
    assert compare(np.array(2.05, np.float32), expectation).wrong.tolist() == [False]
    assert compare(np.array(3.0, np.float32), expectation).wrong.tolist() == [True]
