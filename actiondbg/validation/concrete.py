"""Scalars that are numbers, with poison."""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, cast

from actiondbg.validation.domain import (
    POISON,
    NotInterpreted,
    Scalar,
    UndefinedBehaviour,
    Unsettled,
    fast_math,
    is_set,
    overflow_flags,
    predicate,
)
from actiondbg.validation.floats import bits_of, from_bits, rounded, rounded_exactly
from actiondbg.validation.program import Attribute
from actiondbg.validation.scalar_operations import BY_NAME, DIVISIONS
from actiondbg.validation.types import BOOL, FloatType, IntegerType, Type, signed


@dataclass(frozen=True, slots=True)
class OperationOnNumbers:
    """What a scalar operation depends on beside its operands."""

    name: str  # in arith or math, without the dialect
    full_name: str  # with the dialect
    width: int  # bits of the operands, if they are integers
    types: Sequence[IntegerType | FloatType]  # of the operands
    results: Sequence[IntegerType | FloatType]  # the types of the results
    attributes: Mapping[str, Attribute]
    is_source: bool = True  # it is of the program before an action

    def signed(self, value: int) -> int:
        return signed(value, self.width)

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1

    @property
    def smallest(self) -> int:
        return -(1 << (self.width - 1))


# A function on numbers, which gets the operation first.
NumberFunction = Callable[..., Scalar]


def plain(function: Callable[..., Any]) -> NumberFunction:
    """Return a function that ignores the operation."""

    def apply(_: OperationOnNumbers, *operands: Scalar) -> Scalar:
        return function(*operands)

    return apply


def width_of(type: IntegerType | FloatType) -> int:
    """Return the bits of an integer type; raises NotInterpreted for another."""
    if not isinstance(type, IntegerType):
        raise NotInterpreted(f"an integer of type {type}")
    return type.width


# --- integers ---


def _wrapping(function: Callable[[int, int], int]) -> NumberFunction:
    """An operation that wraps around, or is poison with ``nsw`` and ``nuw``."""

    def apply(context: OperationOnNumbers, left: int, right: int) -> Scalar:
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


def _check_overflow(context: OperationOnNumbers, right: int) -> None:
    """Check the divisor of the smallest number.

    Raises:
        UndefinedBehaviour: the quotient overflows.
    """
    # The documentation of arith.remsi, but not of llvm.srem, leaves an overflow open: a target
    # has 0.
    is_open = context.name == "remsi" and context.full_name != "llvm.srem" and not context.is_source
    if right == -1 and not is_open:
        raise UndefinedBehaviour(f"{context.full_name} overflows")


def check_poison(context: OperationOnNumbers, operands: Sequence[Scalar]) -> None:
    """Check operands of which one is poison, which may be any number.

    Raises:
        UndefinedBehaviour: for some of these numbers, the operation has it.
    """
    if context.name in _SIGNED_DIVISIONS and operands[0] is POISON:
        _check_overflow(context, context.signed(operands[1]))
    if context.name == "ipowi":
        base, exponent = operands
        may_be_negative = exponent is POISON or context.signed(exponent) < 0
        if may_be_negative and (base is POISON or base == 0):
            raise UndefinedBehaviour("math.ipowi of 0 to a negative power")


def _divided(function: Callable[[int, int], int], *, is_signed: bool) -> NumberFunction:
    def apply(context: OperationOnNumbers, left: int, right: int) -> Scalar:
        if is_signed:
            left, right = context.signed(left), context.signed(right)
            if left == context.smallest:
                _check_overflow(context, right)
        if is_set(context.attributes, "exact") and left % right:
            return POISON
        return function(left, right) & context.mask

    return apply


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _ceiling(left: int, right: int) -> int:
    return -(-left // right)


def _remainder(left: int, right: int) -> int:
    return left - _truncated(left, right) * right


def _shift_left(context: OperationOnNumbers, value: int, amount: int) -> Scalar:
    if amount >= context.width:
        return POISON
    flags = overflow_flags(context.attributes)
    result = value << amount & context.mask
    if "nuw" in flags and result >> amount != value:
        return POISON
    if "nsw" in flags and context.signed(result) >> amount != context.signed(value):
        return POISON
    return result


def _shift_right(context: OperationOnNumbers, value: int, amount: int) -> Scalar:
    if amount >= context.width:
        return POISON
    if is_set(context.attributes, "exact") and value & ((1 << amount) - 1):
        return POISON
    number = context.signed(value) if context.name == "shrsi" else value
    return number >> amount & context.mask


def _extended(function: Callable[[int, int], int], is_signed: bool) -> NumberFunction:
    def apply(context: OperationOnNumbers, left: int, right: int) -> Scalar:
        if is_signed:
            left, right = context.signed(left), context.signed(right)
        result = function(left, right)
        return result & context.mask, result >> context.width & context.mask

    return apply


def _add_extended(context: OperationOnNumbers, left: int, right: int) -> Scalar:
    return left + right & context.mask, int(left + right > context.mask)


def _chosen(function: Callable[..., int], is_signed: bool) -> NumberFunction:
    def apply(context: OperationOnNumbers, left: int, right: int) -> Scalar:
        key = context.signed if is_signed else int
        return function(left, right, key=key)

    return apply


def _sign_extend(context: OperationOnNumbers, value: int) -> Scalar:
    return context.signed(value) & ((1 << width_of(context.results[0])) - 1)


def _is_negative(context: OperationOnNumbers, value: int) -> bool:
    """Whether ``nneg`` makes a result poison."""
    is_marked = is_set(context.attributes, "nneg") or context.attributes.get("nonNeg")
    return bool(is_marked) and context.signed(value) < 0


def _zero_extend(context: OperationOnNumbers, value: int) -> Scalar:
    if _is_negative(context, value):
        return POISON
    return value & ((1 << width_of(context.results[0])) - 1)


def _truncate(context: OperationOnNumbers, value: int) -> Scalar:
    width = width_of(context.results[0])
    result = value & ((1 << width) - 1)
    flags = overflow_flags(context.attributes)
    if "nuw" in flags and result != value:
        return POISON
    if "nsw" in flags and signed(result, width) != context.signed(value):
        return POISON
    return result


def _compare(context: OperationOnNumbers, left: int, right: int) -> Scalar:
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


def _or(context: OperationOnNumbers, left: int, right: int) -> Scalar:
    if is_set(context.attributes, "disjoint") and left & right:
        return POISON
    return left | right


def _power(context: OperationOnNumbers, base: int, exponent: int) -> Scalar:
    base, exponent = context.signed(base), context.signed(exponent)
    if exponent >= 0:
        return pow(base, exponent, 1 << context.width)
    if base == 0:
        raise UndefinedBehaviour("math.ipowi of 0 to a negative power")
    if base in (1, -1):
        return (base if exponent % 2 else 1) & context.mask
    return 0


def _absolute(context: OperationOnNumbers, value: int) -> Scalar:
    number = context.signed(value)
    if context.attributes.get("is_int_min_poison") and number == context.smallest:
        return POISON
    return abs(number) & context.mask


def bitcast(context: OperationOnNumbers, value: Scalar) -> Scalar:
    source, target = context.types[0], context.results[0]
    if isinstance(value, float) and value != value and not isinstance(target, FloatType):
        raise Unsettled("the bits of a NaN")
    bits = bits_of(value, source) if isinstance(source, FloatType) else int(value)
    return from_bits(bits, target) if isinstance(target, FloatType) else bits


def _zeros(function: Callable[[int, int], int]) -> NumberFunction:
    """Count the zeros on one side of a number, of so many bits."""

    def apply(context: OperationOnNumbers, value: int) -> Scalar:
        if not value:
            return POISON if context.attributes.get("is_zero_poison") else context.width
        return function(value, context.width)

    return apply


def _leading_zeros(value: int, width: int) -> int:
    return width - value.bit_length()


def _trailing_zeros(value: int, _: int) -> int:
    return (value & -value).bit_length() - 1


def _to_float(context: OperationOnNumbers, value: int) -> Scalar:
    if context.name == "uitofp" and _is_negative(context, value):
        return POISON
    number = context.signed(value) if context.name == "sitofp" else value
    return rounded_exactly(Fraction(number), context.results[0])


INTEGERS: dict[str, NumberFunction] = {
    "addi": _wrapping(operator.add),
    "subi": _wrapping(operator.sub),
    "muli": _wrapping(operator.mul),
    "addui_extended": _add_extended,
    "mulsi_extended": _extended(operator.mul, is_signed=True),
    "mului_extended": _extended(operator.mul, is_signed=False),
    "divsi": _divided(_truncated, is_signed=True),
    "floordivsi": _divided(int.__floordiv__, is_signed=True),
    "ceildivsi": _divided(_ceiling, is_signed=True),
    "remsi": _divided(_remainder, is_signed=True),
    "divui": _divided(int.__floordiv__, is_signed=False),
    "ceildivui": _divided(_ceiling, is_signed=False),
    "remui": _divided(operator.mod, is_signed=False),
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
    "ctlz": _zeros(_leading_zeros),
    "cttz": _zeros(_trailing_zeros),
    "sitofp": _to_float,
    "uitofp": _to_float,
}
_SIGNED_DIVISIONS = frozenset(name for name in DIVISIONS if name.endswith("si"))


# --- floating-point numbers ---


def float_results(
    context: OperationOnNumbers, operands: Sequence[Scalar], results: Sequence[Scalar]
) -> tuple[Scalar, ...]:
    """Round results, and make all of them poison where a flag excludes one."""
    found = tuple(
        rounded(result, type)
        if isinstance(result, float) and isinstance(type, FloatType)
        else result
        for result, type in zip(results, context.results, strict=True)
    )
    flags = fast_math(context.attributes) if context.attributes else frozenset[str]()
    if flags & {"nnan", "ninf"}:
        floats = [value for value in (*operands, *found) if isinstance(value, float)]
        is_excluded = ("nnan" in flags and any(map(math.isnan, floats))) or (
            "ninf" in flags and any(map(math.isinf, floats))
        )
        if is_excluded:
            return (POISON,) * len(found)
    return found


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


def _extreme(*, is_max: bool, ignores_nan: bool) -> NumberFunction:
    """The larger or the smaller; of zeros, by their signs."""

    def apply(_: OperationOnNumbers, left: float, right: float) -> float:
        if math.isnan(left) or math.isnan(right):
            if not ignores_nan:
                return math.nan
            return right if math.isnan(left) else left
        if left == right:
            positive = math.copysign(1, left) > 0
            return left if positive == is_max else right
        return max(left, right) if is_max else min(left, right)

    return apply


def _compare_floats(context: OperationOnNumbers, left: float, right: float) -> int:
    kind = predicate("arith.cmpf", context.attributes)
    if kind in ("false", "true"):
        return int(kind == "true")
    unordered = math.isnan(left) or math.isnan(right)
    if kind in ("ord", "uno"):
        return int(unordered == (kind == "uno"))
    if unordered:
        return int(kind.startswith("u"))
    return int(COMPARISONS[kind[1:]](left, right))


def _to_integer(context: OperationOnNumbers, value: float) -> Scalar:
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


def _multiply_add(context: OperationOnNumbers, left: float, right: float, addend: float) -> float:
    if not all(map(math.isfinite, (left, right))):
        return left * right + addend
    if not math.isfinite(addend):  # a product of doubles may overflow, the exact one does not
        return addend
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if exact == 0:
        return left * right + addend  # the signs of zeros
    target = context.results[0]
    assert isinstance(target, FloatType)
    return rounded_exactly(exact, target)


def _truncate_float(context: OperationOnNumbers, value: float) -> float:
    mode = context.attributes.get("roundingmode")
    if mode is not None:
        raise NotInterpreted("arith.truncf with a rounding mode")
    return value


def _guarded(function: Callable[..., float], overflow: float | None = None) -> NumberFunction:
    """A function of Python's math: NaN where it raises; where it overflows, what is given."""

    def apply(_: OperationOnNumbers, *operands: float) -> float:
        try:
            return function(*operands)
        except ValueError:
            return math.nan
        except OverflowError:
            if overflow is None:
                raise NotInterpreted(f"{function.__name__} of large numbers") from None
            return overflow

    return apply


def _logarithm(function: Callable[[float], float], pole: float = 0) -> NumberFunction:
    def apply(_: OperationOnNumbers, value: float) -> float:
        if value == pole:
            return -math.inf
        return math.nan if value < pole or math.isnan(value) else function(value)

    return apply


def _inverse_tanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) == 1 else math.atanh(value)


def _hyperbolic_sine(value: float) -> float:
    try:
        return math.sinh(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _whole(function: Callable[[float], float]) -> NumberFunction:
    """A function that rounds to a whole number, and keeps the sign of zero."""

    def apply(_: OperationOnNumbers, value: float) -> float:
        return math.copysign(function(value), value) if math.isfinite(value) else value

    return apply


def _half_away(value: float) -> float:
    whole = math.trunc(value)
    return whole + math.copysign(1, value) if abs(value - whole) >= 0.5 else whole


def _reciprocal_root(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return 1 / math.sqrt(value)


def _power_of_float(_: OperationOnNumbers, base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError) as error:
        if isinstance(error, ValueError) and base != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf


def _sine_and_cosine(_: OperationOnNumbers, value: float) -> Scalar:
    if math.isinf(value):
        return math.nan, math.nan
    return math.sin(value), math.cos(value)


def _integer_power(context: OperationOnNumbers, base: float, exponent: int) -> float:
    width = width_of(context.types[1])
    return _power_of_float(context, base, float(signed(exponent, width)))


def _is_normal(context: OperationOnNumbers, value: float) -> int:
    kind = context.types[0]
    assert isinstance(kind, FloatType)
    smallest = {"f64": 2.0**-1022, "f32": 2.0**-126, "bf16": 2.0**-126, "f16": 2.0**-14}
    if kind.name not in smallest:
        raise NotInterpreted(f"math.isnormal of {kind}")
    return int(math.isfinite(value) and abs(value) >= smallest[kind.name])


_OF_PYTHON = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "tanh", "asinh", "acosh", "atan2"),
    *("erf", "erfc"),
)
FLOATS: dict[str, NumberFunction] = {
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
    "extf": plain(float),
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
    "exp": _guarded(math.exp, overflow=math.inf),
    "exp2": _guarded(math.exp2, overflow=math.inf),
    "expm1": _guarded(math.expm1, overflow=math.inf),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": _logarithm(math.log1p, pole=-1),
    "powf": _power_of_float,
    "sincos": _sine_and_cosine,
    "fpowi": _integer_power,
    **{name: _guarded(getattr(math, name)) for name in _OF_PYTHON},
    "atanh": _guarded(_inverse_tanh),
    "sinh": plain(_hyperbolic_sine),
    "cosh": _guarded(math.cosh, overflow=math.inf),
    "isnan": plain(math.isnan),
    "isinf": plain(math.isinf),
    "isfinite": plain(math.isfinite),
    "isnormal": _is_normal,
}


# --- the domain ---


_OTHER_BITS = (-3, -2, -1, 1, 2, 3)  # units in the last place


def _is_exact(context: OperationOnNumbers, numbers: Sequence[float]) -> bool:
    """Whether an operation does not round; its result is the last of some finite numbers."""
    *operands, result = map(Fraction, numbers)
    match context.name, operands:
        case "addf", [left, right]:
            return left + right == result
        case "subf", [left, right]:
            return left - right == result
        case "mulf", [left, right]:
            return left * right == result
        case "divf", [left, right]:
            return left == result * right
        case "fma", [left, right, addend]:
            return left * right + addend == result
        case _:
            return BY_NAME[context.full_name].is_exact


class Concrete:
    """A domain of numbers: unsigned ints, floats, and ``POISON``.

    Args:
        is_source: whether the program is the one before an action.
        freezes_alike: whether each ``freeze`` of poison makes the same of it.
        chance: of other last bits, for operations of floats that round; None for the right ones.
    """

    def __init__(
        self,
        is_source: bool = True,
        *,
        freezes_alike: bool = False,
        chance: Random | None = None,
    ) -> None:
        self.is_source = is_source
        self._chance = chance
        self.frozen = 0  # how many values of poison the program has frozen
        self._freezes_alike = freezes_alike

    def constant(self, value: int | float, type: IntegerType | FloatType) -> Scalar:
        if value is POISON:  # an argument
            return POISON
        if isinstance(type, IntegerType):
            return int(value) & ((1 << type.width) - 1)
        return rounded(float(value), type)

    def poison(self, type: IntegerType | FloatType) -> Scalar:
        return POISON

    def apply(
        self,
        name: str,
        operands: Sequence[Scalar],
        types: Sequence[IntegerType | FloatType],
        results: Sequence[IntegerType | FloatType],
        attributes: Mapping[str, Attribute],
    ) -> tuple[Scalar, ...]:
        declared = BY_NAME.get(name)
        if declared is None:
            raise NotInterpreted(name)
        short = declared.name
        width = types[0].width if types and isinstance(types[0], IntegerType) else 0
        context = OperationOnNumbers(short, name, width, types, results, attributes, self.is_source)
        if short == "select":
            condition, *ways = operands
            chosen = POISON if condition is POISON else ways[0 if condition else 1]
            # By LangRef, flags of a selection are about its result, and not about the other way.
            return float_results(context, (), (chosen,))
        if short == "freeze":
            return (self._frozen(name, operands[0], results[0]),)
        if short in DIVISIONS and (operands[1] is POISON or operands[1] == 0):
            raise UndefinedBehaviour(f"{name} by zero")
        if any(operand is POISON for operand in operands):
            check_poison(context, operands)
            return (POISON,) * len(results)
        if short in INTEGERS and all(isinstance(each, IntegerType) for each in types):
            return _tuple(INTEGERS[short](context, *operands))
        if short in FLOATS:
            found = float_results(context, operands, _tuple(FLOATS[short](context, *operands)))
            return found if self._chance is None else self._varied(context, operands, found)
        raise NotInterpreted(name)

    def _varied(
        self, context: OperationOnNumbers, operands: Sequence[Scalar], found: tuple[Scalar, ...]
    ) -> tuple[Scalar, ...]:
        """Return other numbers nearby, if an operation rounds."""
        assert self._chance is not None
        type, value = context.results[0], found[0]
        if not isinstance(type, FloatType) or not isinstance(value, float) or len(found) > 1:
            return found
        numbers = [float(each) for each in (*operands, value)]
        if not value or not all(map(math.isfinite, numbers)) or _is_exact(context, numbers):
            return found
        ulps = self._chance.choice(_OTHER_BITS)
        return (from_bits(max(bits_of(value, type) + ulps, 0), type),)

    def _frozen(self, name: str, value: Scalar, type: IntegerType | FloatType) -> Scalar:
        """Return another number for each poison of the program, and 0 for the interpreter."""
        if value is not POISON:
            return value
        if name == "arith.freeze":
            return self.constant(0, type)
        self.frozen += 1
        number = 1 if self._freezes_alike else self.frozen
        if type == BOOL:
            return number % 2
        (found,) = self.unknown(("frozen", number), (), [type])
        return found

    def decide(self, condition: Scalar) -> bool:
        if condition is POISON:
            raise UndefinedBehaviour("a branch depends on poison")
        return bool(condition)

    def integer(self, value: Scalar, type: IntegerType) -> int:
        if value is POISON:
            raise UndefinedBehaviour("a size or a step is poison")
        return signed(value, type.width)

    def below(self, value: Scalar, type: IntegerType, size: int) -> int:
        if value is POISON:
            raise UndefinedBehaviour("an index into memory is poison")
        number = signed(value, type.width)
        if not 0 <= number < size:
            raise UndefinedBehaviour(f"index {number} is outside of {size} places")
        return number

    def unknown(
        self, key: object, operands: Sequence[Scalar], results: Sequence[Type]
    ) -> tuple[Scalar, ...]:
        found: list[Scalar] = []
        # Of a tensor, there are as many results as operands.
        given = hashlib.blake2b(repr((key, tuple(operands))).encode(), digest_size=16)
        for at, type in enumerate(results):
            hashed = given.copy()
            hashed.update(f" {at}".encode())
            number = int.from_bytes(hashed.digest())
            if isinstance(type, IntegerType):
                found.append(number & ((1 << type.width) - 1))
            elif isinstance(type, FloatType):
                found.append(rounded(number % 4096 / 64 - 32, type))
            else:
                raise NotInterpreted(f"an unknown value of type {type}")
        return tuple(found)


def _tuple(result: Scalar) -> tuple[Scalar, ...]:
    return cast("tuple[Scalar, ...]", result) if isinstance(result, tuple) else (result,)
