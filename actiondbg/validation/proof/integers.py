"""Integer operations on terms."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg.validation.flags import is_set, overflow_flags, predicate
from actiondbg.validation.proof.operation import Computed, Function, ScalarOperation, width_of
from actiondbg.validation.proof.terms import Term


def _wrapping(name: str) -> Function:
    def apply(operation: ScalarOperation, left: Term, right: Term) -> Computed:
        terms = operation.terms
        flags = overflow_flags(operation.attributes)
        overflows = [
            terms.op(f"{prefix}{name}o", left, right)
            for flag, prefix in (("nsw", "bvs"), ("nuw", "bvu"))
            if flag in flags
        ]
        return Computed((terms.op(f"bv{name}", left, right),), terms.or_(*overflows))

    return apply


def _plain(name: str) -> Function:
    def apply(operation: ScalarOperation, left: Term, right: Term) -> Computed:
        return Computed((operation.terms.op(name, left, right),))

    return apply


def _add_extended(operation: ScalarOperation, left: Term, right: Term) -> Computed:
    terms = operation.terms
    overflow = terms.bit(terms.op("bvuaddo", left, right))
    return Computed((terms.op("bvadd", left, right), overflow))


def _multiply_extended(*, is_signed: bool) -> Function:
    def apply(operation: ScalarOperation, left: Term, right: Term) -> Computed:
        terms = operation.terms
        width = left.width
        wide = [terms.extend(each, 2 * width, is_signed=is_signed) for each in (left, right)]
        product = terms.op("bvmul", *wide)
        low = terms.op("bvmul", left, right)
        return Computed((low, terms.extract(product, 2 * width - 1, width)))

    return apply


# --- division ---


def _is_zero(operation: ScalarOperation, term: Term) -> Term:
    return operation.terms.eq(term, operation.terms.bv(0, term.width))


def _check_divisor(operation: ScalarOperation, right: Term) -> None:
    operation.undefined_by(1, _is_zero(operation, right), "by zero")


def _check_overflow(operation: ScalarOperation, left: Term, right: Term) -> None:
    """Say that the smallest number must not be divided by -1, nor poison, which may be any."""
    terms = operation.terms
    smallest = terms.eq(left, terms.bv(1 << (left.width - 1), left.width))
    may_be_smallest = terms.or_(operation.operands[0].poison, smallest)
    is_minus_one = terms.eq(right, terms.bv(-1, left.width))
    condition = terms.and_(may_be_smallest, is_minus_one)
    operation.around.undefined(condition, f"{operation.full_name} overflows")


def _unsigned_division(operation: ScalarOperation, left: Term, right: Term) -> Computed:
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


def _signed_division(operation: ScalarOperation, left: Term, right: Term) -> Computed:
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


def _unsigned_remainder(operation: ScalarOperation, left: Term, right: Term) -> Computed:
    _check_divisor(operation, right)
    return Computed((operation.terms.op("bvurem", left, right),))


def _signed_remainder(operation: ScalarOperation, left: Term, right: Term) -> Computed:
    terms = operation.terms
    _check_divisor(operation, right)
    # The documentation of arith leaves open whether an overflow is undefined; its lowering to LLVM
    # makes it so. What an action makes of it may be either: the source has none, the target 0.
    if operation.around.is_source or operation.full_name == "llvm.srem":
        _check_overflow(operation, left, right)
    return Computed((terms.op("bvsrem", left, right),))


# --- bits ---


def _or(operation: ScalarOperation, left: Term, right: Term) -> Computed:
    terms = operation.terms
    poison = None
    if is_set(operation.attributes, "disjoint"):
        poison = terms.not_(_is_zero(operation, terms.op("bvand", left, right)))
    return Computed((terms.op("bvor", left, right),), poison)


def _too_far(operation: ScalarOperation, value: Term, amount: Term) -> Term:
    """Return where a shift is by the width or more."""
    terms = operation.terms
    width = value.width
    if width >= 1 << width:
        return terms.false
    return terms.not_(terms.op("bvult", amount, terms.bv(width, width)))


def _shift_left(operation: ScalarOperation, value: Term, amount: Term) -> Computed:
    terms = operation.terms
    shifted = terms.op("bvshl", value, amount)
    poison = [_too_far(operation, value, amount)]
    flags = overflow_flags(operation.attributes)
    for flag, back in (("nsw", "bvashr"), ("nuw", "bvlshr")):
        if flag in flags:
            poison.append(terms.not_(terms.eq(terms.op(back, shifted, amount), value)))
    return Computed((shifted,), terms.or_(*poison))


def _shift_right(name: str) -> Function:
    def apply(operation: ScalarOperation, value: Term, amount: Term) -> Computed:
        terms = operation.terms
        shifted = terms.op(name, value, amount)
        poison = [_too_far(operation, value, amount)]
        if is_set(operation.attributes, "exact"):
            poison.append(terms.not_(terms.eq(terms.op("bvshl", shifted, amount), value)))
        return Computed((shifted,), terms.or_(*poison))

    return apply


def _extreme(comparison: str, *, is_max: bool) -> Function:
    def apply(operation: ScalarOperation, left: Term, right: Term) -> Computed:
        is_less = operation.terms.op(comparison, left, right)
        ways = (right, left) if is_max else (left, right)
        return Computed((operation.terms.ite(is_less, *ways),))

    return apply


def _resized(*, is_signed: bool) -> Function:
    def apply(operation: ScalarOperation, value: Term) -> Computed:
        terms = operation.terms
        resized = terms.resized(value, width_of(operation.results[0]), is_signed=is_signed)
        return Computed((resized,), is_negative(operation, value))

    return apply


def is_negative(operation: ScalarOperation, value: Term) -> Term:
    """Return where ``nneg`` makes a result poison."""
    terms = operation.terms
    attributes = operation.attributes
    if not (attributes.get("nneg") or attributes.get("nonNeg")):
        return terms.false
    return terms.op("bvslt", value, terms.bv(0, value.width))


def _truncated(operation: ScalarOperation, value: Term) -> Computed:
    terms = operation.terms
    result = terms.extract(value, width_of(operation.results[0]) - 1, 0)
    flags = overflow_flags(operation.attributes)
    poison = [
        terms.not_(terms.eq(terms.extend(result, value.width, is_signed=flag == "nsw"), value))
        for flag in ("nsw", "nuw")
        if flag in flags
    ]
    return Computed((result,), terms.or_(*poison))


def _compared(operation: ScalarOperation, left: Term, right: Term) -> Computed:
    terms = operation.terms
    kind = predicate("arith.cmpi", operation.attributes)
    if kind in ("eq", "ne"):
        same = terms.eq(left, right)
        return Computed((terms.bit(same if kind == "eq" else terms.not_(same)),))
    if kind[1] == "g":  # a > b is b < a
        left, right = right, left
    return Computed((terms.bit(terms.op(f"bv{kind[0]}l{kind[2]}", left, right)),))


# --- math ---


def _absolute(operation: ScalarOperation, value: Term) -> Computed:
    terms = operation.terms
    zero = terms.bv(0, value.width)
    negated = terms.op("bvsub", zero, value)
    absolute = terms.ite(terms.op("bvslt", value, zero), negated, value)
    poison = None
    if operation.attributes.get("is_int_min_poison"):
        poison = terms.eq(value, terms.bv(1 << (value.width - 1), value.width))
    return Computed((absolute,), poison)


def _bits(operation: ScalarOperation, value: Term) -> list[Term]:
    terms = operation.terms
    return [terms.truth(terms.extract(value, at, at)) for at in range(value.width)]


def _set_bits(operation: ScalarOperation, value: Term) -> Computed:
    terms = operation.terms
    width = value.width
    count = terms.bv(0, width)
    for bit in _bits(operation, value):
        more = terms.op("bvadd", count, terms.bv(1, width))
        count = terms.ite(bit, more, count)
    return Computed((count,))


def _zeros(*, are_leading: bool) -> Function:
    def apply(operation: ScalarOperation, value: Term) -> Computed:
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


def _power(operation: ScalarOperation, base: Term, exponent: Term) -> Computed:
    """By squares; a negative power is what 1 divided by the positive one is."""
    terms = operation.terms
    width = base.width
    zero, one, minus_one = (terms.bv(value, width) for value in (0, 1, -1))
    is_negative = terms.op("bvslt", exponent, zero)
    undefined = terms.and_(is_negative, terms.eq(base, zero))
    operation.undefined(undefined, "of 0 to a negative power")
    result, square = one, base
    bits = _bits(operation, exponent)
    for bit in bits[:-1]:
        result = terms.ite(bit, terms.op("bvmul", result, square), result)
        square = terms.op("bvmul", square, square)
    odd = terms.ite(bits[0], minus_one, one)
    inverse = terms.ite(terms.eq(base, minus_one), odd, zero)
    inverse = terms.ite(terms.eq(base, one), one, inverse)
    return Computed((terms.ite(is_negative, inverse, result),))


def _all(names: str, function: Function) -> dict[str, Function]:
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
    "andi": _plain("bvand"),
    "ori": _or,
    "xori": _plain("bvxor"),
    "shli": _shift_left,
    "shrui": _shift_right("bvlshr"),
    "shrsi": _shift_right("bvashr"),
    "maxsi": _extreme("bvslt", is_max=True),
    "minsi": _extreme("bvslt", is_max=False),
    "maxui": _extreme("bvult", is_max=True),
    "minui": _extreme("bvult", is_max=False),
    "extsi": _resized(is_signed=True),
    "extui": _resized(is_signed=False),
    "index_cast": _resized(is_signed=True),
    "index_castui": _resized(is_signed=False),
    "trunci": _truncated,
    "cmpi": _compared,
    **_all("absi llvm.intr.abs", _absolute),
    "ctpop": _set_bits,
    **_all("ctlz llvm.intr.ctlz", _zeros(are_leading=True)),
    **_all("cttz llvm.intr.cttz", _zeros(are_leading=False)),
    "ipowi": _power,
}
