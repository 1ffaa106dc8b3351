"""Where the wrong elements of a result are: a map of characters."""

from __future__ import annotations

import numpy as np

_ROWS, _COLUMNS = 16, 32  # of the map, at most
_NONE, _SOME, _ALL = ".", "+", "#"


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
