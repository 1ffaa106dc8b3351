"""A result compared with the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from actiondbg.kernels.verification.expectation import Expectation

if TYPE_CHECKING:
    import numpy as np

_SHOWN = 5


@dataclass(frozen=True)
class ResultComparison:
    """How a result differs from the expected one.

    Attributes:
        wrong: of the shape of the result, true for a wrong element.
        error_ratio: the largest error by its bound; for equality, the largest error in steps of 1.
        first: the first wrong elements, a sentence each.
    """

    wrong: np.ndarray
    error_ratio: float
    first: tuple[str, ...]


def compare(result: np.ndarray, expectation: Expectation) -> ResultComparison:
    """Compare a result with the expected one; a NaN is wrong where no NaN is expected."""
    import numpy

    expected = expectation.values
    if expectation.bound is None:
        # An integer that overflows wraps around: so does this conversion.
        wanted = expected.astype(result.dtype)
        wrong = result != wanted
    else:
        wanted = expected
    actual = result.astype(numpy.float64)
    target = wanted.astype(numpy.float64)
    with numpy.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = numpy.abs(actual - target)
        error[(actual == target) | (numpy.isnan(actual) & numpy.isnan(target))] = 0.0
        if expectation.bound is None:
            wrong = error != 0.0
            ratio = error
        else:
            wrong = ~(error <= expectation.bound)
            ratio = error / expectation.bound
    finite = ratio[numpy.isfinite(ratio)]
    largest = float(finite.max(initial=0.0)) if finite.size == ratio.size else float("inf")
    return ResultComparison(wrong, largest, _first(wrong, result, wanted))


def _first(wrong: np.ndarray, result: np.ndarray, wanted: np.ndarray) -> tuple[str, ...]:
    import numpy

    sentences: list[str] = []
    for flat in numpy.flatnonzero(wrong)[:_SHOWN]:
        index = numpy.unravel_index(int(flat), wrong.shape)
        place = ", ".join(str(int(each)) for each in index)
        sentences.append(f"[{place}] is {result[index]!s}, expected {wanted[index]!s}")
    return tuple(sentences)
