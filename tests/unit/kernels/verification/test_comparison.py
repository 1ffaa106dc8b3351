"""Results compared with expected ones, and the maps of what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from actiondbg.kernels.verification.comparison import compare
from actiondbg.kernels.verification.error_map import error_map, error_pattern
from actiondbg.kernels.verification.expectation import Expectation


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
    ],
)
def test_regular_errors_are_put_into_words(rows: slice, columns: slice, words: str) -> None:
    wrong = np.zeros((100, 70), bool)
    wrong[rows, columns] = True
    assert error_pattern(wrong) == f"All {wrong.sum()} wrong elements have {words}."


def test_the_lanes_of_a_vector_are_put_into_words() -> None:
    wrong = np.zeros((4, 64), bool)
    wrong[:, np.arange(64) % 16 >= 12] = True
    assert error_pattern(wrong) == "All 64 wrong elements have d1 % 16 >= 12."


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
