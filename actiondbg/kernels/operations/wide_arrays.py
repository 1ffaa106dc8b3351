"""Arrays of references: exact products and sums in float64 and int64."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_EXACT = 2**53  # float64 holds all integers up to this


def widen(array: np.ndarray) -> np.ndarray:
    """Return an array of float64, or int64 for integers."""
    import numpy

    return array.astype(numpy.float64 if _is_float(array) else numpy.int64)


def maximum(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the larger elements, as arith.maximumf: NaN propagates, and -0.0 is below 0.0."""
    import numpy

    if not _is_float(lhs):
        return numpy.maximum(lhs, rhs)
    signs = numpy.maximum(numpy.copysign(1.0, lhs), numpy.copysign(1.0, rhs))
    are_zeros = (lhs == 0) & (rhs == 0)
    return numpy.where(are_zeros, numpy.copysign(0.0, signs), numpy.maximum(lhs, rhs))


def minimum(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return the smaller elements, as arith.minimumf."""
    return -maximum(-lhs, -rhs)


def absolute_product(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    import numpy

    return product(numpy.abs(lhs), numpy.abs(rhs))


def product(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Return ``lhs @ rhs`` of wide arrays.

    Integers are multiplied in float64 where that is exact: NumPy's product of integers is slow.
    """
    import numpy

    if _is_float(lhs) or not lhs.size or not rhs.size:
        return lhs @ rhs
    bound = lhs.shape[-1] * int(numpy.abs(lhs).max()) * int(numpy.abs(rhs).max())
    if bound >= _EXACT:
        return lhs @ rhs
    return (lhs.astype(numpy.float64) @ rhs.astype(numpy.float64)).astype(numpy.int64)


def _is_float(array: np.ndarray) -> bool:
    return array.dtype.kind not in "iub"  # bf16 of ml_dtypes is of kind V
