"""Floating-point operations on numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from actiondbg.validation.concrete.integers import COMPARISONS, bitcast
from actiondbg.validation.concrete.operation import (
    POISON,
    Function,
    ScalarOperation,
    plain,
    width_of,
)
from actiondbg.validation.domain import NotInterpreted, Scalar
from actiondbg.validation.flags import fast_math, predicate
from actiondbg.validation.floats import rounded, rounded_exactly
from actiondbg.validation.types import FloatType, signed


def float_result(context: ScalarOperation, operands: Sequence[Scalar], result: Scalar) -> Scalar:
    """Round a result, and make it poison where a flag excludes it."""
    target = context.results[0]
    if isinstance(result, float) and isinstance(target, FloatType):
        result = rounded(result, target)
    flags = fast_math(context.attributes) if context.attributes else frozenset[str]()
    if flags & {"nnan", "ninf"}:
        floats = [value for value in (*operands, result) if isinstance(value, float)]
        if "nnan" in flags and any(map(math.isnan, floats)):
            return POISON
        if "ninf" in flags and any(map(math.isinf, floats)):
            return POISON
    return result


def _division(left: float, right: float) -> float:
    if right:
        return left / right
    if math.isnan(left) or left == 0 or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, math.copysign(1, left) * math.copysign(1, right))


def _float_remainder(left: float, right: float) -> float:
    if math.isinf(left) or right == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.fmod(left, right), left)


def _extreme(*, is_max: bool, ignores_nan: bool) -> Function:
    """The larger or the smaller; of zeros, by their signs."""

    def apply(_: ScalarOperation, left: float, right: float) -> float:
        if math.isnan(left) or math.isnan(right):
            if not ignores_nan:
                return math.nan
            return right if math.isnan(left) else left
        if left == right:
            positive = math.copysign(1, left) > 0
            return left if positive == is_max else right
        return max(left, right) if is_max else min(left, right)

    return apply


def _compare_floats(context: ScalarOperation, left: float, right: float) -> int:
    kind = predicate("arith.cmpf", context.attributes)
    if kind in ("false", "true"):
        return int(kind == "true")
    unordered = math.isnan(left) or math.isnan(right)
    if kind in ("ord", "uno"):
        return int(unordered == (kind == "uno"))
    if unordered:
        return int(kind.startswith("u"))
    return int(COMPARISONS[kind[1:]](left, right))


def _to_integer(context: ScalarOperation, value: float) -> Scalar:
    width = width_of(context.results[0])
    if not math.isfinite(value):
        return POISON
    number = math.trunc(value)
    is_signed = context.name == "fptosi"
    low = -(1 << (width - 1)) if is_signed else 0
    high = (1 << (width - 1 if is_signed else width)) - 1
    if not low <= number <= high:
        return POISON
    return number & ((1 << width) - 1)


def _multiply_add(context: ScalarOperation, left: float, right: float, addend: float) -> float:
    if not all(map(math.isfinite, (left, right, addend))):
        return left * right + addend
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if exact == 0:
        return left * right + addend  # the signs of zeros
    target = context.results[0]
    assert isinstance(target, FloatType)
    return rounded_exactly(exact, target)


def _truncate_float(context: ScalarOperation, value: float) -> float:
    mode = context.attributes.get("roundingmode")
    if mode is not None:
        raise NotInterpreted("arith.truncf with a rounding mode")
    return value


def _guarded(function: Callable[..., float]) -> Function:
    """A function of Python's math: where it raises, NaN or an infinity."""

    def apply(_: ScalarOperation, *operands: float) -> float:
        try:
            return function(*operands)
        except ValueError:
            return math.nan
        except OverflowError:
            raise NotInterpreted(f"{function.__name__} of large numbers") from None

    return apply


def _logarithm(function: Callable[[float], float], pole: float = 0) -> Function:
    def apply(_: ScalarOperation, value: float) -> float:
        if value == pole:
            return -math.inf
        return math.nan if value < pole or math.isnan(value) else function(value)

    return apply


def _inverse_tanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) == 1 else math.atanh(value)


def _same(value: float) -> float:
    return value


def _exponential(function: Callable[[float], float]) -> Function:
    def apply(_: ScalarOperation, value: float) -> float:
        try:
            return function(value)
        except OverflowError:
            return math.inf

    return apply


def _whole(function: Callable[[float], float]) -> Function:
    """A function that rounds to a whole number, and keeps the sign of zero."""

    def apply(_: ScalarOperation, value: float) -> float:
        return math.copysign(function(value), value) if math.isfinite(value) else value

    return apply


def _half_away(value: float) -> float:
    whole = math.trunc(value)
    return whole + math.copysign(1, value) if abs(value - whole) >= 0.5 else whole


def _reciprocal_root(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return 1 / math.sqrt(value)


def _power_of_float(_: ScalarOperation, base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError) as error:
        if isinstance(error, ValueError) and base != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf


def _integer_power(context: ScalarOperation, base: float, exponent: int) -> float:
    width = width_of(context.types[1])
    return _power_of_float(context, base, float(signed(exponent, width)))


def _is_normal(context: ScalarOperation, value: float) -> int:
    kind = context.types[0]
    assert isinstance(kind, FloatType)
    smallest = {"f64": 2.0**-1022, "f32": 2.0**-126, "bf16": 2.0**-126, "f16": 2.0**-14}
    if kind.name not in smallest:
        raise NotInterpreted(f"math.isnormal of {kind}")
    return int(math.isfinite(value) and abs(value) >= smallest[kind.name])


FLOATS: dict[str, Function] = {
    "addf": plain(operator.add),
    "subf": plain(operator.sub),
    "mulf": plain(operator.mul),
    "divf": plain(_division),
    "remf": plain(_float_remainder),
    "negf": plain(operator.neg),
    "maximumf": _extreme(is_max=True, ignores_nan=False),
    "minimumf": _extreme(is_max=False, ignores_nan=False),
    "maxnumf": _extreme(is_max=True, ignores_nan=True),
    "minnumf": _extreme(is_max=False, ignores_nan=True),
    "cmpf": _compare_floats,
    "extf": plain(_same),
    "truncf": _truncate_float,
    "fptosi": _to_integer,
    "fptoui": _to_integer,
    "bitcast": bitcast,
    "fma": _multiply_add,
    "absf": plain(abs),
    "copysign": plain(math.copysign),
    "sqrt": _guarded(math.sqrt),
    "rsqrt": _guarded(_reciprocal_root),
    "cbrt": _guarded(math.cbrt),
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "trunc": _whole(math.trunc),
    "round": _whole(_half_away),
    "roundeven": _whole(round),
    "exp": _exponential(math.exp),
    "exp2": _exponential(math.exp2),
    "expm1": _exponential(math.expm1),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": _logarithm(math.log1p, pole=-1),
    "powf": _power_of_float,
    "fpowi": _integer_power,
    **{
        name: _guarded(getattr(math, name))
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "tanh")
    },
    **{name: _guarded(getattr(math, name)) for name in ("asinh", "acosh", "atan2")},
    "atanh": _guarded(_inverse_tanh),
    "cosh": _exponential(math.cosh),
    "erf": _guarded(math.erf),
    "erfc": _guarded(math.erfc),
    "isnan": plain(math.isnan),
    "isinf": plain(math.isinf),
    "isfinite": plain(math.isfinite),
    "isnormal": _is_normal,
}
