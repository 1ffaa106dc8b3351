"""A result compared with the expected one: what is wrong, and what wrong elements share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from actiondbg.kernels.execution.buffers import unwritten
from actiondbg.kernels.packages import np
from actiondbg.kernels.verification.expectation import Expectation

_ROWS, _COLUMNS = 16, 32  # of the map, at most
_NONE, _SOME, _ALL = ".", "+", "#"
_LARGEST_PERIOD = 256
_LISTED = 4  # remainders that are named one by one
_FEWEST, _REPETITIONS = 3, 2  # indices, and of each remainder: fewer have a period by chance
_SHOWN = 5
# The ratio of a NaN or an infinity: reports have finite numbers.
_INFINITE = 1e30


def error_map(wrong: np.ndarray) -> str:
    """Return a map of the wrong elements; "" if none is wrong or all are.

    A character is a tile of the two dimensions that differ most, over all others: ``.`` has no
    wrong element, ``+`` some, ``#`` only wrong ones. A line of words comes first.
    """
    if not wrong.any() or wrong.all():
        return ""
    flat = wrong.reshape(1, -1) if wrong.ndim == 1 else wrong
    rows, columns = _dimensions(flat)
    others = tuple(each for each in range(flat.ndim) if each not in (rows, columns))
    share = flat.mean(axis=others) if others else flat.astype(np.float64)
    height, width = _tile(share.shape[0], _ROWS), _tile(share.shape[1], _COLUMNS)
    lines = [
        "".join(
            _character(share[top : top + height, left : left + width])
            for left in range(0, share.shape[1], width)
        )
        for top in range(0, share.shape[0], height)
    ]
    head = f"d{rows} by d{columns}" if wrong.ndim > 1 else "d0"
    return "\n".join([f"{head}, a character is {height} x {width} elements:", *lines])


def _dimensions(wrong: np.ndarray) -> tuple[int, int]:
    """Return the two dimensions whose indices differ most in how much is wrong, in order."""
    spread: list[float] = []
    for dimension in range(wrong.ndim):
        others = tuple(each for each in range(wrong.ndim) if each != dimension)
        spread.append(float(np.ptp(wrong.mean(axis=others))) if wrong.shape[dimension] > 1 else -1)
    chosen = sorted(sorted(range(wrong.ndim), key=lambda each: -spread[each])[:2])
    return chosen[0], chosen[1]


def _tile(size: int, most: int) -> int:
    """Return the least power of two that shows a dimension in so many characters."""
    tile = 1
    while -(-size // tile) > most:
        tile *= 2
    return tile


def _character(share: np.ndarray) -> str:
    if not share.any():
        return _NONE
    return _ALL if (share == 1).all() else _SOME


# A condition on the index of one dimension, in words, and the indices that meet it.
_Condition = tuple[str, "np.ndarray"]


def error_pattern(wrong: np.ndarray) -> str:
    """Return a sentence on the indices of the wrong elements, or "" if they have no regularity."""
    if not wrong.any():
        return ""
    if wrong.all():
        return "All elements are wrong."
    found = [_condition(wrong, dimension) for dimension in range(wrong.ndim)]
    text = " and ".join(each[0] for each in found if each is not None)
    if not text:
        return ""
    count = int(wrong.sum())
    if count == 1:
        return f"The wrong element has {text}."
    fulfilled = prod(
        size if each is None else int(each[1].sum())
        for size, each in zip(wrong.shape, found, strict=True)
    )
    exactly = ", and no other element has" if fulfilled == count else ""
    return f"All {count} wrong elements have {text}{exactly}."


def value_pattern(
    result: np.ndarray, expected: np.ndarray, wrong: np.ndarray, unwritten: np.ndarray
) -> str:
    """Return a sentence on the values of the wrong elements, or "".

    Args:
        result: of the kernel, in float64.
        expected: in float64.
        wrong: true for each wrong element.
        unwritten: true for each element that is as its memory was before the call.
    """
    if int(wrong.sum()) < 2:
        return ""
    got, wanted = result[wrong], expected[wrong]
    square = result.ndim == 2 and result.shape[0] == result.shape[1]
    rules: list[tuple[str, Callable[[], np.ndarray | bool]]] = [
        ("is unwritten memory, or computed from it", lambda: unwritten[wrong]),
        ("is NaN", lambda: np.isnan(got)),
        ("is infinite", lambda: np.isinf(got)),
        ("is 0", lambda: got == 0),
        ("is twice the expected value", lambda: got == 2 * wanted),
        ("is the expected value with the other sign", lambda: got == -wanted),
        (
            "is the expected value of the transposed index",
            lambda: square and got == expected.T[wrong],
        ),
    ]
    holding = (words for words, holds in rules if np.all(holds()))
    words = next(holding, "")
    return f"Each {words}." if words else ""


def _condition(wrong: np.ndarray, dimension: int) -> _Condition | None:
    """Find the condition that the indices of wrong elements meet in one dimension."""
    others = tuple(each for each in range(wrong.ndim) if each != dimension)
    hit = np.asarray(wrong.any(axis=others))
    indices = np.flatnonzero(hit)
    if indices.size == hit.size:
        return None
    name, first, last = f"d{dimension}", int(indices[0]), int(indices[-1])
    text = ""
    if indices.size >= _FEWEST:
        text = _periodic(hit, first, last, name)
    if not text and last - first + 1 == indices.size:
        text = _range(name, first, last, hit.size)
    return (text, hit) if text else None


def _periodic(hit: np.ndarray, first: int, last: int, name: str) -> str:
    """Return the period and the remainders of indices in words, or "".

    Where they begin late or end early, by a whole period at least, that is a condition, too.
    """
    index = np.arange(hit.size)
    for period in range(2, min(_LARGEST_PERIOD, last - first) + 1):
        remainders = np.unique(index[hit] % period)
        if remainders.size == period or hit.sum() < _REPETITIONS * remainders.size:
            continue
        met = np.isin(index % period, remainders)
        text = _remainders(f"{name} % {period}", period, remainders)
        if not text or not np.array_equal(met[first : last + 1], hit[first : last + 1]):
            continue
        if met[:first].any():
            text += f" and {name} >= {first}"
        if met[last + 1 :].any():
            text += f" and {name} <= {last}"
        return text
    return ""


def _remainders(term: str, period: int, remainders: np.ndarray) -> str:
    first, last = int(remainders[0]), int(remainders[-1])
    if last - first + 1 == remainders.size:
        return _range(term, first, last, period)
    if remainders.size <= _LISTED:
        return f"{term} in {{{', '.join(map(str, remainders))}}}"
    return ""


def _range(term: str, first: int, last: int, size: int) -> str:
    if first == last:
        return f"{term} = {first}"
    if last == size - 1:
        return f"{term} >= {first}"
    return f"{term} <= {last}" if first == 0 else f"{first} <= {term} <= {last}"


@dataclass(frozen=True)
class ResultComparison:
    """How a result differs from the expected one.

    Attributes:
        wrong: of the shape of the result, true for a wrong element.
        error_ratio: the largest error by its bound; for equality, the largest error in steps of 1.
        first: the first wrong elements, a sentence each.
        pattern: sentences on what the wrong elements have in common, or "".
    """

    wrong: np.ndarray
    error_ratio: float
    first: tuple[str, ...]
    pattern: str


def compare(result: np.ndarray, expectation: Expectation) -> ResultComparison:
    """Compare a result with the expected one.

    -0.0 equals 0.0, unless the expectation has signed zeros; a NaN is right where one is expected,
    and was written; an infinity is right where the expected value is too large for the type.
    """
    if result.dtype == np.bool_:  # of which other bytes than 0 and 1 are wrong
        result = result.view(np.uint8)
    if not result.shape:  # NumPy computes scalars of it
        return compare(result.reshape(1), expectation.reshaped((1,)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ml_dtypes warns of conversions of NaN
        # An integer that overflows wraps around: so does this conversion.
        rounded = expectation.values.astype(result.dtype)
        actual, target = result.astype(np.float64), rounded.astype(np.float64)
        if expectation.bound is not None:
            target = np.where(np.isinf(target), target, expectation.values)
        error = np.abs(actual - target)
        both_nan = np.isnan(actual) & np.isnan(target) & ~unwritten(result)
        error[(actual == target) | both_nan] = 0.0
        if expectation.signed_zeros:
            is_zero = (actual == 0.0) & (target == 0.0)
            error[is_zero & (np.signbit(actual) != np.signbit(target))] = np.inf
        ratio = error if expectation.bound is None else error / expectation.bound
        ratio[error == 0.0] = 0.0  # where NaN is expected, the bound is NaN, too
        wrong = error != 0.0 if expectation.bound is None else ~(ratio <= 1.0)
    ratio = np.nan_to_num(ratio, nan=_INFINITE, posinf=_INFINITE)
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
    wrong: np.ndarray, result: np.ndarray, wanted: np.ndarray, empty: np.ndarray
) -> tuple[str, ...]:
    sentences: list[str] = []
    for flat in np.flatnonzero(wrong)[:_SHOWN]:
        index = np.unravel_index(int(flat), wrong.shape)
        place = ", ".join(str(int(each)) for each in index)
        got = f"{result[index]!s}{' (unwritten memory)' if empty[index] else ''}"
        sentences.append(f"[{place}] is {got}, expected {wanted[index]!s}")
    return tuple(sentences)
