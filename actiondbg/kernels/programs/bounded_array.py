"""Arrays with bounds of their rounding errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import erf

import numpy as np

from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.model.element_type import ElementType


@dataclass(frozen=True)
class BoundedArray:
    """Values in float64, int64 or bool, each with a bound of its error.

    Attributes:
        values: as if computed without rounding.
        errors: to first order, in units of the roundoff of the accumulator; 0 for what is exact.
        exact: whether the values are those that a kernel computes if the operands are integers
            and all absolute values are below 2 to the precision.
    """

    values: np.ndarray
    errors: np.ndarray
    exact: bool = True


def exact_array(values: np.ndarray) -> BoundedArray:
    """Return an array without errors, such as an operand."""
    return BoundedArray(values, np.zeros((1,) * values.ndim))


def computed(
    name: str, kind: str, operands: list[BoundedArray], accumulator: ElementType
) -> BoundedArray:
    """Return the result of an operation of the dialect arith or math.

    Args:
        name: of the operation, such as ``arith.addf``.
        kind: the type of the result, such as ``f32``.
        operands: of shapes that NumPy broadcasts.
        accumulator: whose roundoff is the unit of errors.

    Raises:
        Unsupported: the operation is unknown.
    """
    function = _FUNCTIONS.get(name)
    if function is None:
        raise Unsupported(f"The reference does not interpret {name}.")
    with np.errstate(all="ignore"):
        result = function(*operands)
        if not kind.startswith(("f", "bf")):
            return replace(result, values=_wrapped(result.values, kind))
        if name in _UNROUNDED:
            return result
        unit = accumulator.unit_roundoff
        weight = _element(kind).unit_roundoff / unit if unit else 1.0
        return replace(result, errors=result.errors + weight * np.abs(result.values))


def _element(kind: str) -> ElementType:
    try:
        return ElementType(kind)
    except ValueError as error:
        raise Unsupported(f"The reference does not interpret the type {kind}.") from error


def _wrapped(values: np.ndarray, kind: str) -> np.ndarray:
    """Return integers as two's complement of their width."""
    if kind == "i1":
        return values if values.dtype == np.bool_ else (values & 1).astype(bool)
    values = values.astype(np.int64)
    if kind == "index" or int(kind[1:]) >= 64:
        return values
    half = 1 << (int(kind[1:]) - 1)
    return (values + half) % (2 * half) - half


def signed(array: BoundedArray) -> BoundedArray:
    """Return numbers; true is -1, as the sign is the only bit."""
    if array.values.dtype != np.bool_:
        return array
    return replace(array, values=-array.values.astype(np.int64))


_Binary = Callable[[BoundedArray, BoundedArray], BoundedArray]


def _linear(function: np.ufunc) -> _Binary:
    """Return a sum or a difference: the errors add up."""

    def apply(x: BoundedArray, y: BoundedArray) -> BoundedArray:
        x, y = signed(x), signed(y)
        values = function(x.values, y.values)
        return BoundedArray(values, x.errors + y.errors, x.exact and y.exact)

    return apply


def _extreme(function: np.ufunc) -> _Binary:
    """Return a maximum or a minimum: the larger error counts."""

    def apply(x: BoundedArray, y: BoundedArray) -> BoundedArray:
        x, y = signed(x), signed(y)
        errors = np.maximum(x.errors, y.errors)
        return BoundedArray(function(x.values, y.values), errors, x.exact and y.exact)

    return apply


def _product(x: BoundedArray, y: BoundedArray) -> BoundedArray:
    errors = abs(x.values) * y.errors + abs(y.values) * x.errors
    return BoundedArray(x.values * y.values, errors, x.exact and y.exact)


def _quotient(x: BoundedArray, y: BoundedArray) -> BoundedArray:
    values = x.values / y.values
    return BoundedArray(values, (x.errors + abs(values) * y.errors) / abs(y.values), exact=False)


def _selection(condition: BoundedArray, x: BoundedArray, y: BoundedArray) -> BoundedArray:
    values = np.where(condition.values, x.values, y.values)
    errors = np.where(condition.values, x.errors, y.errors)
    return BoundedArray(values, errors, condition.exact and x.exact and y.exact)


def _negation(x: BoundedArray) -> BoundedArray:
    return replace(x, values=-x.values)


def _same(x: BoundedArray) -> BoundedArray:
    return x


def _as_float(x: BoundedArray) -> BoundedArray:
    return BoundedArray(signed(x).values.astype(np.float64), x.errors, x.exact)


def _unsigned(x: BoundedArray) -> BoundedArray:
    if x.values.dtype != np.bool_:
        raise Unsupported("The reference interprets unsigned extensions of i1 only.")
    return BoundedArray(x.values.astype(np.int64), x.errors, x.exact)


def _unsigned_as_float(x: BoundedArray) -> BoundedArray:
    return _as_float(_unsigned(x))


def _bitwise(function: np.ufunc) -> _Binary:
    def apply(x: BoundedArray, y: BoundedArray) -> BoundedArray:
        return BoundedArray(function(x.values, y.values), x.errors, x.exact and y.exact)

    return apply


def _function(
    value: Callable[[np.ndarray], np.ndarray], slope: Callable[[np.ndarray], np.ndarray]
) -> Callable[[BoundedArray], BoundedArray]:
    """Return a function of one argument.

    Args:
        value: of the function.
        slope: a bound of the absolute derivative.
    """

    def apply(x: BoundedArray) -> BoundedArray:
        values = value(x.values)
        # A library's function may be wrong by some units in the last place.
        return BoundedArray(values, slope(x.values) * x.errors + 2 * abs(values), exact=False)

    return apply


def _fused(x: BoundedArray, y: BoundedArray, z: BoundedArray) -> BoundedArray:
    return _linear(np.add)(_product(x, y), z)


def _absolute(x: BoundedArray) -> BoundedArray:
    return replace(x, values=abs(x.values))


_FUNCTIONS: dict[str, Callable[..., BoundedArray]] = {
    "arith.addf": _linear(np.add),
    "arith.addi": _linear(np.add),
    "arith.subf": _linear(np.subtract),
    "arith.subi": _linear(np.subtract),
    "arith.mulf": _product,
    "arith.muli": _product,
    "arith.divf": _quotient,
    "arith.maximumf": _extreme(np.maximum),
    "arith.maxnumf": _extreme(np.fmax),
    "arith.maxsi": _extreme(np.maximum),
    "arith.minimumf": _extreme(np.minimum),
    "arith.minnumf": _extreme(np.fmin),
    "arith.minsi": _extreme(np.minimum),
    "arith.negf": _negation,
    "arith.select": _selection,
    "arith.extf": _same,
    "arith.truncf": _same,
    "arith.extsi": signed,
    "arith.trunci": _same,
    "arith.extui": _unsigned,
    "arith.sitofp": _as_float,
    "arith.uitofp": _unsigned_as_float,
    "arith.index_cast": signed,
    "arith.andi": _bitwise(np.bitwise_and),
    "arith.ori": _bitwise(np.bitwise_or),
    "arith.xori": _bitwise(np.bitwise_xor),
    "math.absf": _absolute,
    "math.absi": _absolute,
    "math.fma": _fused,
    "math.exp": _function(np.exp, np.exp),
    "math.exp2": _function(np.exp2, np.exp2),
    "math.log": _function(np.log, lambda x: 1 / abs(x)),
    "math.log2": _function(np.log2, lambda x: 1.5 / abs(x)),
    "math.sqrt": _function(np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "math.rsqrt": _function(lambda x: x**-0.5, lambda x: 0.5 * x**-1.5),
    "math.tanh": _function(np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "math.sin": _function(np.sin, lambda x: abs(np.cos(x))),
    "math.cos": _function(np.cos, lambda x: abs(np.sin(x))),
    "math.erf": _function(np.vectorize(erf, otypes=[float]), lambda x: 1.13 * np.exp(-x * x)),
}
# Their results are operands, or exact in the type of the result.
_UNROUNDED = frozenset(
    (
        *("arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf"),
        *("arith.negf", "arith.select", "arith.extf", "math.absf"),
    )
)
