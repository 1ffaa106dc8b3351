"""Where the wrong elements of a result are: a map of characters, and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_ROWS, _COLUMNS = 16, 32  # of the map, at most
_PERIODS = (2, 4, 8, 16, 32, 64)
_NONE, _SOME, _ALL = ".", "+", "#"


def error_map(wrong: np.ndarray) -> str:
    """Return a map of the wrong elements; "" if none is wrong or all are.

    A character is a tile of the two dimensions that differ most, over all others: ``.`` has no
    wrong element, ``+`` some, ``#`` only wrong ones. A line of words comes first.
    """
    import numpy

    if not wrong.any() or wrong.all():
        return ""
    flat = wrong.reshape(1, -1) if wrong.ndim == 1 else wrong
    rows, columns = _dimensions(flat)
    others = tuple(each for each in range(flat.ndim) if each not in (rows, columns))
    share = flat.mean(axis=others) if others else flat.astype(numpy.float64)
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


def error_pattern(wrong: np.ndarray) -> str:
    """Return a sentence on a regularity of the wrong elements, or ""."""
    import numpy

    if not wrong.any():
        return ""
    if wrong.all():
        return "All elements are wrong."
    count = int(wrong.sum())
    words: list[str] = []
    for dimension, size in enumerate(wrong.shape):
        others = tuple(each for each in range(wrong.ndim) if each != dimension)
        indices = numpy.flatnonzero(wrong.any(axis=others))
        if indices.size == size:
            continue
        words.append(_words(f"d{dimension}", indices, size))
    found = [each for each in words if each]
    if not found:
        return ""
    subject = "The wrong element has" if count == 1 else f"All {count} wrong elements have"
    return f"{subject} {' and '.join(found)}."


def _words(name: str, indices: np.ndarray, size: int) -> str:
    """Return in words which indices of a dimension have wrong elements, or ""."""
    import numpy

    first, last = int(indices[0]), int(indices[-1])
    if indices.size == 1:
        return f"{name} = {first}"
    for period in _PERIODS:
        rests = numpy.unique(indices % period)
        every = numpy.flatnonzero(numpy.isin(numpy.arange(size) % period, rests))
        if period < size and rests.size < period and numpy.array_equal(every, indices):
            low, high = int(rests[0]), int(rests[-1])
            if rests.size == 1:
                return f"{name} % {period} = {low}"
            if high == period - 1 and high - low + 1 == rests.size:
                return f"{name} % {period} >= {low}"
            if low == 0 and high + 1 == rests.size:
                return f"{name} % {period} <= {high}"
    if last - first + 1 == indices.size:
        if last == size - 1:
            return f"{name} >= {first}"
        return f"{name} <= {last}" if first == 0 else f"{first} <= {name} <= {last}"
    return ""


def _dimensions(wrong: np.ndarray) -> tuple[int, int]:
    """Return the two dimensions whose indices differ most in how much is wrong, in order."""
    import numpy

    spread: list[float] = []
    for dimension in range(wrong.ndim):
        others = tuple(each for each in range(wrong.ndim) if each != dimension)
        spread.append(
            float(numpy.ptp(wrong.mean(axis=others))) if wrong.shape[dimension] > 1 else -1
        )
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
