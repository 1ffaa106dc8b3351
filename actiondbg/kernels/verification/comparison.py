"""A result compared with the expected one."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy

from actiondbg.kernels.execution.buffers import unwritten
from actiondbg.kernels.verification.error_pattern import error_pattern, value_pattern
from actiondbg.kernels.verification.expectation import Expectation

_SHOWN = 5
# The ratio of a NaN or an infinity: reports have finite numbers.
_INFINITE = 1e30


@dataclass(frozen=True)
class ResultComparison:
    """How a result differs from the expected one.

    Attributes:
        wrong: of the shape of the result, true for a wrong element.
        error_ratio: the largest error by its bound; for equality, the largest error in steps of 1.
        first: the first wrong elements, a sentence each.
        pattern: sentences on what the wrong elements have in common, or "".
    """

    wrong: numpy.ndarray
    error_ratio: float
    first: tuple[str, ...]
    pattern: str


def compare(result: numpy.ndarray, expectation: Expectation) -> ResultComparison:
    """Compare a result with the expected one.

    -0.0 equals 0.0, unless the expectation has signed zeros; a NaN is right where one is expected,
    and was written; an infinity is right where the expected value is too large for the type.
    """
    if result.dtype == numpy.bool_:  # of which other bytes than 0 and 1 are wrong
        result = result.view(numpy.uint8)
    if not result.shape:  # NumPy computes scalars of it
        return compare(result.reshape(1), expectation.reshaped((1,)))
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ml_dtypes warns of conversions of NaN
        # An integer that overflows wraps around: so does this conversion.
        rounded = expectation.values.astype(result.dtype)
        actual, target = result.astype(numpy.float64), rounded.astype(numpy.float64)
        if expectation.bound is not None:
            target = numpy.where(numpy.isinf(target), target, expectation.values)
        error = numpy.abs(actual - target)
        both_nan = numpy.isnan(actual) & numpy.isnan(target) & ~unwritten(result)
        error[(actual == target) | both_nan] = 0.0
        if expectation.signed_zeros:
            is_zero = (actual == 0.0) & (target == 0.0)
            error[is_zero & (numpy.signbit(actual) != numpy.signbit(target))] = numpy.inf
        ratio = error if expectation.bound is None else error / expectation.bound
        ratio[error == 0.0] = 0.0  # where NaN is expected, the bound is NaN, too
        wrong = error != 0.0 if expectation.bound is None else ~(ratio <= 1.0)
    ratio = numpy.nan_to_num(ratio, nan=_INFINITE, posinf=_INFINITE)
    empty = unwritten(result) & wrong
    shown = rounded if expectation.bound is None else expectation.values
    patterns = (error_pattern(wrong), value_pattern(actual, target, wrong, empty))
    return ResultComparison(
        wrong,
        float(min(ratio.max(initial=0.0), _INFINITE)),
        _first(wrong, result, shown, empty),
        " ".join(filter(None, patterns)),
    )


def _first(
    wrong: numpy.ndarray, result: numpy.ndarray, wanted: numpy.ndarray, empty: numpy.ndarray
) -> tuple[str, ...]:
    sentences: list[str] = []
    for flat in numpy.flatnonzero(wrong)[:_SHOWN]:
        index = numpy.unravel_index(int(flat), wrong.shape)
        place = ", ".join(str(int(each)) for each in index)
        got = f"{result[index]!s}{' (unwritten memory)' if empty[index] else ''}"
        sentences.append(f"[{place}] is {got}, expected {wanted[index]!s}")
    return tuple(sentences)
