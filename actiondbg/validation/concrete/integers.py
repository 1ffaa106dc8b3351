"""Integer operations on numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from actiondbg.validation.concrete.operation import (
    POISON,
    Function,
    ScalarOperation,
    plain,
    width_of,
)
from actiondbg.validation.domain import Scalar, UndefinedBehaviour, Unsettled
from actiondbg.validation.flags import is_set, overflow_flags, predicate
from actiondbg.validation.floats import bits_of, from_bits, rounded_exactly
from actiondbg.validation.types import FloatType, signed


def _wrapping(function: Callable[[int, int], int]) -> Function:
    """An operation that wraps around, or is poison with ``nsw`` and ``nuw``."""

    def apply(context: ScalarOperation, left: int, right: int) -> Scalar:
        flags = overflow_flags(context.attributes)
        result = function(left, right) & context.mask
        if "nuw" in flags and function(left, right) != result:
            return POISON
        if "nsw" in flags:
            exact = function(context.signed(left), context.signed(right))
            if exact != context.signed(result):
                return POISON
        return result

    return apply


def _check_overflow(context: ScalarOperation, right: int) -> None:
    """Check the divisor of the smallest number.

    Raises:
        UndefinedBehaviour: the quotient overflows.
    """
    # The documentation of arith.remsi leaves an overflow open: a target has 0.
    is_open = context.name == "remsi" and not context.is_source
    if right == -1 and not is_open:
        raise UndefinedBehaviour(f"{context.name} overflows")


def check_poison_dividend(context: ScalarOperation, operands: Sequence[Scalar]) -> None:
    """Check a division of poison, which may be any number."""
    if context.name in _SIGNED_DIVISIONS and operands[0] is POISON:
        _check_overflow(context, context.signed(operands[1]))


def _signed_division(function: Callable[[int, int], int]) -> Function:
    def apply(context: ScalarOperation, left: int, right: int) -> Scalar:
        left, right = context.signed(left), context.signed(right)
        if left == context.smallest:
            _check_overflow(context, right)
        if is_set(context.attributes, "exact") and left % right:
            return POISON
        return function(left, right) & context.mask

    return apply


def _unsigned_division(function: Callable[[int, int], int]) -> Function:
    def apply(context: ScalarOperation, left: int, right: int) -> Scalar:
        if is_set(context.attributes, "exact") and left % right:
            return POISON
        return function(left, right)

    return apply


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _ceiling(left: int, right: int) -> int:
    return -(-left // right)


def _remainder(left: int, right: int) -> int:
    return left - _truncated(left, right) * right


def _shift_left(context: ScalarOperation, value: int, amount: int) -> Scalar:
    if amount >= context.width:
        return POISON
    flags = overflow_flags(context.attributes)
    result = value << amount & context.mask
    if "nuw" in flags and result >> amount != value:
        return POISON
    if "nsw" in flags and context.signed(result) >> amount != context.signed(value):
        return POISON
    return result


def _shift_right(context: ScalarOperation, value: int, amount: int) -> Scalar:
    if amount >= context.width:
        return POISON
    if is_set(context.attributes, "exact") and value & ((1 << amount) - 1):
        return POISON
    number = context.signed(value) if context.name == "shrsi" else value
    return number >> amount & context.mask


def _extended(function: Callable[[int, int], int], is_signed: bool) -> Function:
    def apply(context: ScalarOperation, left: int, right: int) -> Scalar:
        if is_signed:
            left, right = context.signed(left), context.signed(right)
        result = function(left, right)
        return result & context.mask, result >> context.width & context.mask

    return apply


def _add_extended(context: ScalarOperation, left: int, right: int) -> Scalar:
    return left + right & context.mask, int(left + right > context.mask)


def _chosen(function: Callable[..., int], is_signed: bool) -> Function:
    def apply(context: ScalarOperation, left: int, right: int) -> Scalar:
        key = context.signed if is_signed else int
        return function(left, right, key=key)

    return apply


def _sign_extend(context: ScalarOperation, value: int) -> Scalar:
    return context.signed(value) & ((1 << width_of(context.results[0])) - 1)


def _is_negative(context: ScalarOperation, value: int) -> bool:
    """Whether ``nneg`` makes a result poison."""
    is_marked = is_set(context.attributes, "nneg") or context.attributes.get("nonNeg")
    return bool(is_marked) and context.signed(value) < 0


def _zero_extend(context: ScalarOperation, value: int) -> Scalar:
    if _is_negative(context, value):
        return POISON
    return value & ((1 << width_of(context.results[0])) - 1)


def _truncate(context: ScalarOperation, value: int) -> Scalar:
    width = width_of(context.results[0])
    result = value & ((1 << width) - 1)
    flags = overflow_flags(context.attributes)
    if "nuw" in flags and result != value:
        return POISON
    if "nsw" in flags and signed(result, width) != context.signed(value):
        return POISON
    return result


def _compare(context: ScalarOperation, left: int, right: int) -> Scalar:
    kind = predicate("arith.cmpi", context.attributes)
    if kind.startswith("s"):
        left, right = context.signed(left), context.signed(right)
    return int(COMPARISONS[kind[-2:]](left, right))


COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _or(context: ScalarOperation, left: int, right: int) -> Scalar:
    if context.attributes.get("isDisjoint") and left & right:
        return POISON
    return left | right


def _power(context: ScalarOperation, base: int, exponent: int) -> Scalar:
    base, exponent = context.signed(base), context.signed(exponent)
    if exponent >= 0:
        return pow(base, exponent, 1 << context.width)
    if base == 0:
        raise UndefinedBehaviour("math.ipowi of 0 to a negative power")
    if base in (1, -1):
        return (base if exponent % 2 else 1) & context.mask
    return 0


def _absolute(context: ScalarOperation, value: int) -> Scalar:
    number = context.signed(value)
    return abs(number) & context.mask


def bitcast(context: ScalarOperation, value: Scalar) -> Scalar:
    source, target = context.types[0], context.results[0]
    if isinstance(value, float) and value != value and not isinstance(target, FloatType):
        raise Unsettled("the bits of a NaN")
    bits = bits_of(value, source) if isinstance(source, FloatType) else int(value)
    return from_bits(bits, target) if isinstance(target, FloatType) else bits


def _leading_zeros(context: ScalarOperation, value: int) -> int:
    return context.width - value.bit_length()


def _trailing_zeros(context: ScalarOperation, value: int) -> int:
    return (value & -value).bit_length() - 1 if value else context.width


def _to_float(context: ScalarOperation, value: int) -> Scalar:
    if context.name == "uitofp" and _is_negative(context, value):
        return POISON
    number = context.signed(value) if context.name == "sitofp" else value
    return rounded_exactly(Fraction(number), context.results[0])


INTEGERS: dict[str, Function] = {
    "addi": _wrapping(operator.add),
    "subi": _wrapping(operator.sub),
    "muli": _wrapping(operator.mul),
    "addui_extended": _add_extended,
    "mulsi_extended": _extended(operator.mul, is_signed=True),
    "mului_extended": _extended(operator.mul, is_signed=False),
    "divsi": _signed_division(_truncated),
    "floordivsi": _signed_division(int.__floordiv__),
    "ceildivsi": _signed_division(_ceiling),
    "remsi": _signed_division(_remainder),
    "divui": _unsigned_division(int.__floordiv__),
    "ceildivui": _unsigned_division(_ceiling),
    "remui": _unsigned_division(operator.mod),
    "andi": plain(int.__and__),
    "ori": _or,
    "xori": plain(int.__xor__),
    "shli": _shift_left,
    "shrsi": _shift_right,
    "shrui": _shift_right,
    "maxsi": _chosen(max, is_signed=True),
    "minsi": _chosen(min, is_signed=True),
    "maxui": _chosen(max, is_signed=False),
    "minui": _chosen(min, is_signed=False),
    "extsi": _sign_extend,
    "extui": _zero_extend,
    "trunci": _truncate,
    "index_cast": _sign_extend,
    "index_castui": _zero_extend,
    "cmpi": _compare,
    "bitcast": bitcast,
    "absi": _absolute,
    "ipowi": _power,
    "ctpop": plain(int.bit_count),
    "ctlz": _leading_zeros,
    "cttz": _trailing_zeros,
    "sitofp": _to_float,
    "uitofp": _to_float,
}
_SIGNED_DIVISIONS = frozenset({"divsi", "floordivsi", "ceildivsi", "remsi"})
DIVISIONS = _SIGNED_DIVISIONS | {"divui", "ceildivui", "remui"}
