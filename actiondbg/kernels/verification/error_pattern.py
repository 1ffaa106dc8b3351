"""What the wrong elements of a result have in common, in sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy

_LARGEST_PERIOD = 256
_LISTED = 4  # remainders that are named one by one
_FEWEST, _REPETITIONS = 3, 2  # indices, and of each remainder: fewer have a period by chance


@dataclass(frozen=True)
class _Condition:
    """A condition on the index of one dimension, in words, and the indices that meet it."""

    text: str
    indices: numpy.ndarray


def error_pattern(wrong: numpy.ndarray) -> str:
    """Return a sentence on the indices of the wrong elements, or "" if they have no regularity."""
    if not wrong.any():
        return ""
    if wrong.all():
        return "All elements are wrong."
    found = [_condition(wrong, dimension) for dimension in range(wrong.ndim)]
    text = " and ".join(each.text for each in found if each is not None)
    if not text:
        return ""
    count = int(wrong.sum())
    if count == 1:
        return f"The wrong element has {text}."
    fulfilled = prod(
        size if each is None else int(each.indices.sum())
        for size, each in zip(wrong.shape, found, strict=True)
    )
    exactly = ", and no other element has" if fulfilled == count else ""
    return f"All {count} wrong elements have {text}{exactly}."


def value_pattern(
    result: numpy.ndarray, expected: numpy.ndarray, wrong: numpy.ndarray, unwritten: numpy.ndarray
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
    rules: list[tuple[str, Callable[[], numpy.ndarray | bool]]] = [
        ("is unwritten memory, or computed from it", lambda: unwritten[wrong]),
        ("is NaN", lambda: numpy.isnan(got)),
        ("is infinite", lambda: numpy.isinf(got)),
        ("is 0", lambda: got == 0),
        ("is twice the expected value", lambda: got == 2 * wanted),
        ("is the expected value with the other sign", lambda: got == -wanted),
        (
            "is the expected value of the transposed index",
            lambda: square and got == expected.T[wrong],
        ),
    ]
    holding = (words for words, holds in rules if numpy.all(holds()))
    words = next(holding, "")
    return f"Each {words}." if words else ""


def _condition(wrong: numpy.ndarray, dimension: int) -> _Condition | None:
    """Find the condition that the indices of wrong elements meet in one dimension."""
    others = tuple(each for each in range(wrong.ndim) if each != dimension)
    hit = numpy.asarray(wrong.any(axis=others))
    indices = numpy.flatnonzero(hit)
    if indices.size == hit.size:
        return None
    name, first, last = f"d{dimension}", int(indices[0]), int(indices[-1])
    text = ""
    if indices.size >= _FEWEST:
        text = _periodic(hit, first, last, name)
    if not text and last - first + 1 == indices.size:
        text = _range(name, first, last, hit.size)
    return _Condition(text, hit) if text else None


def _periodic(hit: numpy.ndarray, first: int, last: int, name: str) -> str:
    """Return the period and the remainders of indices in words, or "".

    Where they begin late or end early, by a whole period at least, that is a condition, too.
    """
    index = numpy.arange(hit.size)
    for period in range(2, min(_LARGEST_PERIOD, last - first) + 1):
        remainders = numpy.unique(index[hit] % period)
        if remainders.size == period or hit.sum() < _REPETITIONS * remainders.size:
            continue
        met = numpy.isin(index % period, remainders)
        text = _remainders(f"{name} % {period}", period, remainders)
        if not text or not numpy.array_equal(met[first : last + 1], hit[first : last + 1]):
            continue
        if met[:first].any():
            text += f" and {name} >= {first}"
        if met[last + 1 :].any():
            text += f" and {name} <= {last}"
        return text
    return ""


def _remainders(term: str, period: int, remainders: numpy.ndarray) -> str:
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
