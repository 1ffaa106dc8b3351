"""Scalar operations on terms; all NaNs are one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from actiondbg.validation.domain import NotInterpreted, fast_math, is_set, overflow_flags, predicate
from actiondbg.validation.proof.operation_on_terms import (
    Computed,
    OperationOnTerms,
    TermFunction,
    format_of,
    is_opaque,
    sort_of,
    width_of,
)
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.scalar_operations import BY_NAME
from actiondbg.validation.types import FloatType, IntegerType


def _wrapping(name: str) -> TermFunction:
    def apply(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
        terms = operation.terms
        flags = overflow_flags(operation.attributes)
        overflows = [
            terms.op(f"{prefix}{name}o", left, right)
            for flag, prefix in (("nsw", "bvs"), ("nuw", "bvu"))
            if flag in flags
        ]
        return Computed((terms.op(f"bv{name}", left, right),), terms.or_(*overflows))

    return apply


def _operation(name: str) -> TermFunction:
    def apply(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
        return Computed((operation.terms.op(name, left, right),))

    return apply


def _add_extended(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    terms = operation.terms
    overflow = terms.bit(terms.op("bvuaddo", left, right))
    return Computed((terms.op("bvadd", left, right), overflow))


def _multiply_extended(*, is_signed: bool) -> TermFunction:
    def apply(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
        terms = operation.terms
        width = left.width
        wide = [terms.extend(each, 2 * width, is_signed=is_signed) for each in (left, right)]
        product = terms.op("bvmul", *wide)
        low = terms.op("bvmul", left, right)
        return Computed((low, terms.extract(product, 2 * width - 1, width)))

    return apply


# --- division ---


def _is_zero(operation: OperationOnTerms, term: Term) -> Term:
    return operation.terms.eq(term, operation.terms.bv(0, term.width))


def _check_divisor(operation: OperationOnTerms, right: Term) -> None:
    operation.undefined_by(1, _is_zero(operation, right), "by zero")


def _check_overflow(operation: OperationOnTerms, left: Term, right: Term) -> None:
    """Say that the smallest number must not be divided by -1, nor poison, which may be any."""
    terms = operation.terms
    smallest = terms.eq(left, terms.bv(1 << (left.width - 1), left.width))
    may_be_smallest = terms.or_(operation.operands[0].poison, smallest)
    is_minus_one = terms.eq(right, terms.bv(-1, left.width))
    condition = terms.and_(may_be_smallest, is_minus_one)
    operation.around.undefined(condition, f"{operation.full_name} overflows")


def _unsigned_division(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    terms = operation.terms
    _check_divisor(operation, right)
    quotient = terms.op("bvudiv", left, right)
    if operation.name == "divui" and not is_set(operation.attributes, "exact"):
        return Computed((quotient,))
    has_rest = terms.not_(_is_zero(operation, terms.op("bvurem", left, right)))
    if operation.name == "divui":
        return Computed((quotient,), has_rest)
    more = terms.op("bvadd", quotient, terms.bv(1, left.width))
    return Computed((terms.ite(has_rest, more, quotient),))


def _signed_division(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    terms = operation.terms
    name = operation.name
    _check_divisor(operation, right)
    _check_overflow(operation, left, right)
    quotient = terms.op("bvsdiv", left, right)
    if name == "divsi" and not is_set(operation.attributes, "exact"):
        return Computed((quotient,))
    has_rest = terms.not_(_is_zero(operation, terms.op("bvsrem", left, right)))
    if name == "divsi":
        return Computed((quotient,), has_rest)
    zero = terms.bv(0, left.width)
    signs = [terms.op("bvslt", each, zero) for each in (left, right)]
    is_same = terms.eq(*signs)
    rounds = terms.and_(has_rest, is_same if name == "ceildivsi" else terms.not_(is_same))
    step = terms.bv(1 if name == "ceildivsi" else -1, left.width)
    return Computed((terms.ite(rounds, terms.op("bvadd", quotient, step), quotient),))


def _unsigned_remainder(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    _check_divisor(operation, right)
    return Computed((operation.terms.op("bvurem", left, right),))


def _signed_remainder(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    terms = operation.terms
    _check_divisor(operation, right)
    # The documentation of arith leaves open whether an overflow is undefined; its lowering to LLVM
    # makes it so. What an action makes of it may be either: the source has none, the target 0.
    if operation.around.is_source or operation.full_name == "llvm.srem":
        _check_overflow(operation, left, right)
    return Computed((terms.op("bvsrem", left, right),))


# --- bits ---


def _or(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    terms = operation.terms
    poison = None
    if is_set(operation.attributes, "disjoint"):
        poison = terms.not_(_is_zero(operation, terms.op("bvand", left, right)))
    return Computed((terms.op("bvor", left, right),), poison)


def _too_far(operation: OperationOnTerms, value: Term, amount: Term) -> Term:
    """Return where a shift is by the width or more."""
    terms = operation.terms
    width = value.width
    if width >= 1 << width:
        return terms.false
    return terms.not_(terms.op("bvult", amount, terms.bv(width, width)))


def _shift_left(operation: OperationOnTerms, value: Term, amount: Term) -> Computed:
    terms = operation.terms
    shifted = terms.op("bvshl", value, amount)
    poison = [_too_far(operation, value, amount)]
    flags = overflow_flags(operation.attributes)
    for flag, back in (("nsw", "bvashr"), ("nuw", "bvlshr")):
        if flag in flags:
            poison.append(terms.not_(terms.eq(terms.op(back, shifted, amount), value)))
    return Computed((shifted,), terms.or_(*poison))


def _shift_right(name: str) -> TermFunction:
    def apply(operation: OperationOnTerms, value: Term, amount: Term) -> Computed:
        terms = operation.terms
        shifted = terms.op(name, value, amount)
        poison = [_too_far(operation, value, amount)]
        if is_set(operation.attributes, "exact"):
            poison.append(terms.not_(terms.eq(terms.op("bvshl", shifted, amount), value)))
        return Computed((shifted,), terms.or_(*poison))

    return apply


def _larger(comparison: str, *, is_max: bool) -> TermFunction:
    def apply(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
        is_less = operation.terms.op(comparison, left, right)
        ways = (right, left) if is_max else (left, right)
        return Computed((operation.terms.ite(is_less, *ways),))

    return apply


def _resized(*, is_signed: bool) -> TermFunction:
    def apply(operation: OperationOnTerms, value: Term) -> Computed:
        terms = operation.terms
        resized = terms.resized(value, width_of(operation.results[0]), is_signed=is_signed)
        return Computed((resized,), is_negative(operation, value))

    return apply


def is_negative(operation: OperationOnTerms, value: Term) -> Term:
    """Return where ``nneg`` makes a result poison."""
    terms = operation.terms
    attributes = operation.attributes
    if not (attributes.get("nneg") or attributes.get("nonNeg")):
        return terms.false
    return terms.op("bvslt", value, terms.bv(0, value.width))


def _truncated(operation: OperationOnTerms, value: Term) -> Computed:
    terms = operation.terms
    result = terms.extract(value, width_of(operation.results[0]) - 1, 0)
    flags = overflow_flags(operation.attributes)
    poison = [
        terms.not_(terms.eq(terms.extend(result, value.width, is_signed=flag == "nsw"), value))
        for flag in ("nsw", "nuw")
        if flag in flags
    ]
    return Computed((result,), terms.or_(*poison))


def _compared_integers(operation: OperationOnTerms, left: Term, right: Term) -> Computed:
    terms = operation.terms
    kind = predicate("arith.cmpi", operation.attributes)
    if kind in ("eq", "ne"):
        same = terms.eq(left, right)
        return Computed((terms.bit(same if kind == "eq" else terms.not_(same)),))
    if kind[1] == "g":  # a > b is b < a
        left, right = right, left
    return Computed((terms.bit(terms.op(f"bv{kind[0]}l{kind[2]}", left, right)),))


# --- math ---


def _absolute(operation: OperationOnTerms, value: Term) -> Computed:
    terms = operation.terms
    zero = terms.bv(0, value.width)
    negated = terms.op("bvsub", zero, value)
    absolute = terms.ite(terms.op("bvslt", value, zero), negated, value)
    poison = None
    if operation.attributes.get("is_int_min_poison"):
        poison = terms.eq(value, terms.bv(1 << (value.width - 1), value.width))
    return Computed((absolute,), poison)


def _bits(operation: OperationOnTerms, value: Term) -> list[Term]:
    terms = operation.terms
    return [terms.truth(terms.extract(value, at, at)) for at in range(value.width)]


def _set_bits(operation: OperationOnTerms, value: Term) -> Computed:
    terms = operation.terms
    width = value.width
    count = terms.bv(0, width)
    for bit in _bits(operation, value):
        more = terms.op("bvadd", count, terms.bv(1, width))
        count = terms.ite(bit, more, count)
    return Computed((count,))


def _zeros(*, are_leading: bool) -> TermFunction:
    def apply(operation: OperationOnTerms, value: Term) -> Computed:
        terms = operation.terms
        width = value.width
        count = terms.bv(width, width)
        numbered = list(enumerate(_bits(operation, value)))
        for at, bit in numbered if are_leading else reversed(numbered):
            found = width - 1 - at if are_leading else at
            count = terms.ite(bit, terms.bv(found, width), count)
        poison = None
        if operation.attributes.get("is_zero_poison"):
            poison = _is_zero(operation, value)
        return Computed((count,), poison)

    return apply


def _power(operation: OperationOnTerms, base: Term, exponent: Term) -> Computed:
    """By squares; a negative power is what 1 divided by the positive one is."""
    terms = operation.terms
    width = base.width
    zero, one, minus_one = (terms.bv(value, width) for value in (0, 1, -1))
    is_negative = terms.op("bvslt", exponent, zero)
    # Poison may be any number.
    may_be_zero = terms.or_(operation.operands[0].poison, terms.eq(base, zero))
    may_be_negative = terms.or_(operation.operands[1].poison, is_negative)
    undefined = terms.and_(may_be_zero, may_be_negative)
    operation.around.undefined(undefined, "math.ipowi of 0 to a negative power")
    result, square = one, base
    bits = _bits(operation, exponent)
    for bit in bits[:-1]:
        result = terms.ite(bit, terms.op("bvmul", result, square), result)
        square = terms.op("bvmul", square, square)
    odd = terms.ite(bits[0], minus_one, one)
    inverse = terms.ite(terms.eq(base, minus_one), odd, zero)
    inverse = terms.ite(terms.eq(base, one), one, inverse)
    return Computed((terms.ite(is_negative, inverse, result),))


def _all(names: str, function: TermFunction) -> dict[str, TermFunction]:
    return dict.fromkeys(names.split(), function)


INTEGERS: dict[str, Callable[..., Computed]] = {
    "addi": _wrapping("add"),
    "subi": _wrapping("sub"),
    "muli": _wrapping("mul"),
    "addui_extended": _add_extended,
    "mulsi_extended": _multiply_extended(is_signed=True),
    "mului_extended": _multiply_extended(is_signed=False),
    **_all("divui ceildivui", _unsigned_division),
    **_all("divsi ceildivsi floordivsi", _signed_division),
    "remui": _unsigned_remainder,
    "remsi": _signed_remainder,
    "andi": _operation("bvand"),
    "ori": _or,
    "xori": _operation("bvxor"),
    "shli": _shift_left,
    "shrui": _shift_right("bvlshr"),
    "shrsi": _shift_right("bvashr"),
    "maxsi": _larger("bvslt", is_max=True),
    "minsi": _larger("bvslt", is_max=False),
    "maxui": _larger("bvult", is_max=True),
    "minui": _larger("bvult", is_max=False),
    "extsi": _resized(is_signed=True),
    "extui": _resized(is_signed=False),
    "index_cast": _resized(is_signed=True),
    "index_castui": _resized(is_signed=False),
    "trunci": _truncated,
    "cmpi": _compared_integers,
    "absi": _absolute,
    "ctpop": _set_bits,
    "ctlz": _zeros(are_leading=True),
    "cttz": _zeros(are_leading=False),
    "ipowi": _power,
}


# --- floating-point numbers ---


_NEAREST = "RNE"
# MLIR's rounding modes, by number.
_ROUNDING = ("RNE", "RTN", "RTP", "RTZ", "RNA")
# Flags that allow other results than the operation's own.
_LOOSE = frozenset({"reassoc", "arcp", "contract", "afn"})
_UNKNOWN_BITS = "bits of"
_FLAGS = frozenset({"fastmath", "fastmathFlags"})
_F32 = FloatType("f32")
_COMMUTATIVE = frozenset({"addf", "mulf", "maxnumf", "minnumf"})

FloatFunction = Callable[..., tuple[Term, ...]]


def float_operation(operation: OperationOnTerms, operands: Sequence[Term]) -> Computed:
    """Apply an operation that has a floating-point operand or result.

    Raises:
        NotInterpreted: there is no such operation.
    """
    flags = fast_math(operation.attributes) if operation.attributes else frozenset[str]()
    function = FLOATS.get(operation.name)
    is_known = function is not None or operation.name in CONVERSIONS
    declared = BY_NAME.get(operation.full_name)
    is_function = operation.full_name.startswith("math.") or (
        declared is not None and not declared.is_exact
    )
    if not is_known and not is_function:
        raise NotInterpreted(f"proof with {operation.full_name}")
    types = (*operation.types, *operation.results)
    if any(map(is_opaque, types)):
        floats = {str(each) for each in types if isinstance(each, FloatType)}
        is_widened = declared is not None and declared.is_widened
        if is_widened and "ninf" not in flags and floats == {"bf16"}:
            return _widened(operation, operands)
        return _on_bits(operation, operands, flags)
    if operation.name in CONVERSIONS:
        return CONVERSIONS[operation.name](operation, operands[0])
    results = function(operation, *operands) if function else _unknown(operation, operands)
    return _with_flags(operation, operands, results, flags)


def flagged_selection(operation: OperationOnTerms, chosen: Term) -> Computed:
    """Apply flags of fast math to a selection: they are about its result, not the other way.

    Raises:
        NotInterpreted: the solver does not know the format of the number.
    """
    flags = fast_math(operation.attributes) if operation.attributes else frozenset[str]()
    (type,) = operation.results
    if not flags or not isinstance(type, FloatType):
        return Computed((chosen,))
    if is_opaque(type):
        raise NotInterpreted(f"proof with flags of fast math on {type}")
    return _with_flags(operation, (chosen,), (chosen,), flags)


def _with_flags(
    operation: OperationOnTerms,
    operands: Sequence[Term],
    results: tuple[Term, ...],
    flags: frozenset[str],
) -> Computed:
    terms = operation.terms
    if flags & _LOOSE:
        results = _one_of_several(operation, operands, results, flags, terms.true)
    elif "nsz" in flags:
        zeros = [terms.fp_op("fp.isZero", each) for each in _floats((*operands, *results))]
        results = _one_of_several(operation, operands, results, flags, terms.or_(*zeros))
    floats = _floats((*operands, *results))
    poison: list[Term] = []
    for flag, name in (("nnan", "fp.isNaN"), ("ninf", "fp.isInfinite")):
        if flag in flags:
            poison.extend(terms.fp_op(name, each) for each in floats)
    return Computed(results, terms.or_(*poison))


def _floats(values: Sequence[Term]) -> list[Term]:
    return [each for each in values if isinstance(each.sort, tuple)]


def _one_of_several(
    operation: OperationOnTerms,
    operands: Sequence[Term],
    results: tuple[Term, ...],
    flags: frozenset[str],
    where: Term,
) -> tuple[Term, ...]:
    """Return one of the results that are allowed where a condition holds.

    The source may choose, and chooses the operation's own. The target's choice is not known, but if
    the source has the same operation on the same operands.
    """
    terms = operation.terms
    operation.around.approximate(terms.not_(where), f"{operation.full_name} leaves results open")
    operands = _ordered_operands(operation, operands)
    own = (flags & (_LOOSE | {"nsz"})) or frozenset({"open"})
    if not own & _LOOSE and ("open" in own or operation.around.is_source):
        choice = operation.around.choice()
        if choice is not None:
            condition = terms.and_(choice, where)
            return tuple(_other_zero(terms, condition, result) for result in results)
    key = (operation.name, tuple(operands), tuple(operation.results), tuple(sorted(own)))
    if operation.around.is_recorded(key) or operation.around.is_source:
        return results
    name = f"{operation.name} {' '.join(sorted(own))}"
    return tuple(
        terms.ite(where, terms.function(f"{name} {at}", operands, result.sort), result)
        for at, result in enumerate(results)
    )


def _other_zero(terms: Terms, condition: Term, result: Term) -> Term:
    """Return the zero of the other sign, where a condition holds and a result is zero."""
    if not isinstance(result.sort, tuple):
        return result
    is_zero = terms.fp_op("fp.isZero", result)
    return terms.ite(terms.and_(condition, is_zero), terms.fp_op("fp.neg", result), result)


def _ordered_operands(operation: OperationOnTerms, operands: Sequence[Term]) -> Sequence[Term]:
    if operation.name not in _COMMUTATIVE:
        return operands
    return sorted(operands, key=lambda term: term.number)


def _unknown(operation: OperationOnTerms, operands: Sequence[Term]) -> tuple[Term, ...]:
    """Return the results of an unknown function, the same for the same operands."""
    terms = operation.terms
    operation.around.approximate(terms.false, f"{operation.full_name} is an unknown function")
    others = [each for each in operation.attributes.items() if each[0] not in _FLAGS]
    types = [str(each) for each in (*operation.types, "to", *operation.results)]
    name = f"{operation.name} {' '.join(types)} {sorted(others)}"
    operands = _ordered_operands(operation, operands)
    return tuple(
        terms.function(f"{name} {at}", operands, sort_of(type))
        for at, type in enumerate(operation.results)
    )


def _on_bits(
    operation: OperationOnTerms, operands: Sequence[Term], flags: frozenset[str]
) -> Computed:
    """Apply an operation on numbers of which the solver knows the bits only."""
    terms = operation.terms
    value, name = operands[0], operation.name
    source, target = operation.types[0], operation.results[0]
    if flags:
        raise NotInterpreted(f"proof with flags of fast math on {source}")
    if name == "bitcast" and not (isinstance(source, FloatType) and isinstance(target, FloatType)):
        return Computed((value,))
    if name in ("negf", "absf"):
        sign = 1 << (value.width - 1)
        if name == "negf":
            return Computed((terms.op("bvxor", value, terms.bv(sign, value.width)),))
        return Computed((terms.op("bvand", value, terms.bv(sign - 1, value.width)),))
    if (name, str(source), str(target)) == ("extf", "bf16", "f32"):
        return Computed((_wide(terms, value),))
    has_mode = bool(operation.attributes.get("roundingmode"))
    if (name, str(source), str(target)) == ("truncf", "f32", "bf16") and not has_mode:
        return Computed((_narrow(operation, value),))
    return Computed(_unknown(operation, operands))


def _widened(operation: OperationOnTerms, operands: Sequence[Term]) -> Computed:
    """Compute with bf16 as with f32.

    It has more than twice the bits, so that the second rounding of the result of an operation is
    that of the exact one.
    """
    wide = replace(
        operation,
        types=[_F32 if is_opaque(each) else each for each in operation.types],
        results=[_F32 if is_opaque(each) else each for each in operation.results],
    )
    terms = operation.terms
    given = [
        _wide(terms, operand) if is_opaque(type) else operand
        for operand, type in zip(operands, operation.types, strict=True)
    ]
    computed = float_operation(wide, given)
    results = [
        _narrow(operation, term) if is_opaque(type) else term
        for term, type in zip(computed.terms, operation.results, strict=True)
    ]
    return Computed(tuple(results), computed.poison)


def _wide(terms: Terms, bits: Term) -> Term:
    """Return the f32 of a bf16, which is its upper half."""
    extended = terms.extend(bits, 32, is_signed=False)
    return terms.from_bits(terms.op("bvshl", extended, terms.bv(16, 32)), format_of(_F32))


def _narrow(operation: OperationOnTerms, term: Term) -> Term:
    """Return the bits of an f32 rounded to bf16: not known but of one that was widened.

    Those of a NaN are open.
    """
    terms = operation.terms
    is_nan = terms.fp_op("fp.isNaN", term)
    operation.around.approximate(terms.not_(is_nan), "the bits of a NaN are open")
    if term.op == "ite":
        return terms.ite(term.args[0], *(_narrow(operation, each) for each in term.args[1:]))
    if term.value is not None and not term.value & 0xFFFF:
        return terms.bv(term.value >> 16, 16)
    if term.op == "fp.from_bits":
        shift = term.args[0]
        if shift.op == "bvshl" and shift.args[1].value == 16:
            inner = shift.args[0]
            if inner.op == "zero_extend" and inner.args[0].width == 16:
                return inner.args[0]
    operation.around.approximate(terms.false, "what is rounded to bf16 is not known")
    return terms.function("rounded to bf16", [term], 16)


# --- bits ---


def bits_of(operation: OperationOnTerms, term: Term) -> Term:
    """Return the bits of a floating-point number; those of a computed NaN are not known."""
    terms = operation.terms
    if term.op == "fp.from_bits":
        return term.args[0]
    if term.op == "ite":
        ways = (bits_of(operation, each) for each in term.args[1:])
        return terms.ite(term.args[0], *ways)
    assert isinstance(term.sort, tuple)
    width = sum(term.sort)
    is_nan = terms.fp_op("fp.isNaN", term)
    operation.around.approximate(terms.not_(is_nan), "the bits of a NaN are open")
    if term.value is not None:
        return terms.bv(term.value, width)
    bits = terms.function(_UNKNOWN_BITS, [term], width)
    operation.around.define(terms.eq(terms.from_bits(bits, term.sort), term))
    return bits


def _bitcast(operation: OperationOnTerms, value: Term) -> tuple[Term, ...]:
    source, target = operation.types[0], operation.results[0]
    bits = bits_of(operation, value) if isinstance(source, FloatType) else value
    if isinstance(target, IntegerType):
        return (bits,)
    sort = format_of(target)
    if bits.op == "uf" and bits.params[0] == _UNKNOWN_BITS and bits.args[0].sort == sort:
        return (bits.args[0],)
    return (operation.terms.from_bits(bits, sort),)


def _copied_sign(operation: OperationOnTerms, value: Term, sign: Term) -> tuple[Term, ...]:
    terms = operation.terms
    bits = bits_of(operation, sign)
    is_set = terms.truth(terms.extract(bits, bits.width - 1, bits.width - 1))
    absolute = terms.fp_op("fp.abs", value)
    return (terms.ite(is_set, terms.fp_op("fp.neg", absolute), absolute),)


# --- arithmetic ---


def _plain(name: str, rounding: str = "") -> FloatFunction:
    def apply(operation: OperationOnTerms, *operands: Term) -> tuple[Term, ...]:
        return (operation.terms.fp_op(name, *operands, rounding=rounding),)

    return apply


def _extreme(*, is_max: bool, ignores_nan: bool) -> FloatFunction:
    def apply(operation: OperationOnTerms, left: Term, right: Term) -> tuple[Term, ...]:
        terms = operation.terms
        nans = [terms.fp_op("fp.isNaN", each) for each in (left, right)]
        low, high = (left, right) if is_max else (right, left)
        # Of equal numbers, which may be zeros of different signs, by the sign of the left one.
        is_negative = terms.fp_op("fp.isNegative", left)
        equal = (
            terms.ite(is_negative, right, left) if is_max else terms.ite(is_negative, left, right)
        )
        chosen = terms.ite(terms.fp_op("fp.eq", left, right), equal, left)
        chosen = terms.ite(terms.fp_op("fp.lt", low, high), right, chosen)
        if not ignores_nan:
            nan = terms.ite(nans[0], left, right)
            return (terms.ite(terms.or_(*nans), nan, chosen),)
        result = terms.ite(nans[0], right, terms.ite(nans[1], left, chosen))
        zeros = [terms.fp_op("fp.isZero", each) for each in (left, right)]
        signs = [terms.fp_op("fp.isNegative", each) for each in (left, right)]
        open_sign = terms.and_(*zeros, terms.not_(terms.eq(*signs)))
        return _one_of_several(operation, (left, right), (result,), frozenset(), open_sign)

    return apply


def _compared_floats(operation: OperationOnTerms, left: Term, right: Term) -> tuple[Term, ...]:
    terms = operation.terms
    kind = predicate("arith.cmpf", operation.attributes)
    if kind in ("false", "true"):
        return (terms.bv(int(kind == "true"), 1),)
    unordered = terms.or_(*(terms.fp_op("fp.isNaN", each) for each in (left, right)))
    if kind in ("ord", "uno"):
        return (terms.bit(unordered if kind == "uno" else terms.not_(unordered)),)
    holds = _ordered(terms, kind[1:], left, right)
    if kind[0] == "u":
        return (terms.bit(terms.or_(unordered, holds)),)
    return (terms.bit(terms.and_(terms.not_(unordered), holds)),)


def _ordered(terms: Terms, kind: str, left: Term, right: Term) -> Term:
    if kind in ("eq", "ne"):
        same = terms.fp_op("fp.eq", left, right)
        return same if kind == "eq" else terms.not_(same)
    if kind[0] == "g":
        left, right = right, left
    return terms.fp_op("fp.lt" if kind[1] == "t" else "fp.leq", left, right)


def _sine_and_cosine(operation: OperationOnTerms, value: Term) -> tuple[Term, ...]:
    """Return what ``math.sin`` and ``math.cos`` return."""
    parts = [
        replace(operation, name=name, results=operation.results[:1]) for name in ("sin", "cos")
    ]
    return tuple(_unknown(part, [value])[0] for part in parts)


# --- conversions ---


def _converted(operation: OperationOnTerms, value: Term) -> tuple[Term, ...]:
    mode = operation.attributes.get("roundingmode", 0)
    if not isinstance(mode, int):
        raise NotInterpreted(f"the rounding mode of {operation.full_name}")
    sort = format_of(operation.results[0])
    return (operation.terms.fp_op("fp.from_fp", value, rounding=_ROUNDING[mode], sort=sort),)


def _from_integer(operation: OperationOnTerms, value: Term) -> Computed:
    name = "fp.from_sbv" if operation.name == "sitofp" else "fp.from_ubv"
    sort = format_of(operation.results[0])
    result = operation.terms.fp_op(name, value, rounding=_NEAREST, sort=sort)
    return Computed((result,), is_negative(operation, value))


def _to_integer(operation: OperationOnTerms, value: Term) -> Computed:
    """Poison where the number, without its fraction, does not fit."""
    terms = operation.terms
    width = width_of(operation.results[0])
    is_signed = operation.name == "fptosi"
    whole = terms.fp_op("fp.roundToIntegral", value, rounding="RTZ")
    limit = _power_of_two(terms, width - 1 if is_signed else width, format_of(operation.types[0]))
    lowest = (
        terms.fp_op("fp.neg", limit) if is_signed else terms.fp(0, format_of(operation.types[0]))
    )
    fits = terms.and_(
        terms.not_(terms.fp_op("fp.isNaN", value)),
        terms.not_(terms.fp_op("fp.isInfinite", value)),
        terms.fp_op("fp.leq", lowest, whole),
        terms.fp_op("fp.lt", whole, limit),
    )
    name = "fp.to_sbv" if is_signed else "fp.to_ubv"
    return Computed((terms.fp_to_bv(name, value, "RTZ", width),), terms.not_(fits))


def _power_of_two(terms: Terms, power: int, sort: tuple[int, int]) -> Term:
    """Return a power of two; infinity if it is too large."""
    exponent, significand = sort
    biased = power + (1 << (exponent - 1)) - 1
    return terms.fp(min(biased, (1 << exponent) - 1) << (significand - 1), sort)


# --- classification ---


def _class(name: str) -> FloatFunction:
    def apply(operation: OperationOnTerms, value: Term) -> tuple[Term, ...]:
        terms = operation.terms
        return (terms.bit(terms.fp_op(name, value)),)

    return apply


def _is_finite(operation: OperationOnTerms, value: Term) -> tuple[Term, ...]:
    terms = operation.terms
    others = terms.or_(terms.fp_op("fp.isNaN", value), terms.fp_op("fp.isInfinite", value))
    return (terms.bit(terms.not_(others)),)


# Their results may be poison, though no flag says so.
CONVERSIONS: dict[str, Callable[[OperationOnTerms, Term], Computed]] = {
    **dict.fromkeys(("fptosi", "fptoui"), _to_integer),
    **dict.fromkeys(("sitofp", "uitofp"), _from_integer),
}
FLOATS: dict[str, FloatFunction] = {
    "addf": _plain("fp.add", _NEAREST),
    "subf": _plain("fp.sub", _NEAREST),
    "mulf": _plain("fp.mul", _NEAREST),
    "divf": _plain("fp.div", _NEAREST),
    "fma": _plain("fp.fma", _NEAREST),
    "sqrt": _plain("fp.sqrt", _NEAREST),
    "negf": _plain("fp.neg"),
    "absf": _plain("fp.abs"),
    "copysign": _copied_sign,
    "floor": _plain("fp.roundToIntegral", "RTN"),
    "ceil": _plain("fp.roundToIntegral", "RTP"),
    "trunc": _plain("fp.roundToIntegral", "RTZ"),
    "round": _plain("fp.roundToIntegral", "RNA"),
    "roundeven": _plain("fp.roundToIntegral", "RNE"),
    "maximumf": _extreme(is_max=True, ignores_nan=False),
    "minimumf": _extreme(is_max=False, ignores_nan=False),
    "maxnumf": _extreme(is_max=True, ignores_nan=True),
    "minnumf": _extreme(is_max=False, ignores_nan=True),
    "cmpf": _compared_floats,
    "extf": _converted,
    "truncf": _converted,
    "bitcast": _bitcast,
    "isnan": _class("fp.isNaN"),
    "isinf": _class("fp.isInfinite"),
    "isnormal": _class("fp.isNormal"),
    "isfinite": _is_finite,
    "sincos": _sine_and_cosine,
}
