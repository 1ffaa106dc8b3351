"""Floating-point operations on terms: all NaNs are one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.flags import fast_math, predicate
from actiondbg.validation.proof.integers import is_negative
from actiondbg.validation.proof.operation import (
    Computed,
    ScalarOperation,
    format_of,
    is_opaque,
    sort_of,
    width_of,
)
from actiondbg.validation.proof.terms import Term, Terms
from actiondbg.validation.types import FloatType, IntegerType

_NEAREST = "RNE"
# MLIR's rounding modes, by number.
_ROUNDING = ("RNE", "RTN", "RTP", "RTZ", "RNA")
# Flags that allow other results than the operation's own.
_LOOSE = frozenset({"reassoc", "arcp", "contract", "afn"})
_UNKNOWN_BITS = "bits of"
_FLAGS = frozenset({"fastmath", "fastmathFlags"})
_F32 = FloatType("f32")
_WIDENED = frozenset(
    {
        *("addf", "subf", "mulf", "divf", "sqrt", "cmpf", "fptosi", "fptoui"),
        *("maximumf", "minimumf", "maxnumf", "minnumf", "isnan", "isinf", "isfinite"),
    }
)
_COMMUTATIVE = frozenset({"addf", "mulf", "maxnumf", "minnumf"})

FloatFunction = Callable[..., tuple[Term, ...]]


def float_operation(operation: ScalarOperation, operands: Sequence[Term]) -> Computed:
    """Apply an operation that has a floating-point operand or result.

    Raises:
        NotInterpreted: there is no such operation.
    """
    flags = fast_math(operation.attributes) if operation.attributes else frozenset[str]()
    function = FLOATS.get(operation.name)
    is_known = function is not None or operation.name in _CONVERSIONS
    if not is_known and not operation.full_name.startswith("math."):
        raise NotInterpreted(f"proof with {operation.full_name}")
    if any(map(is_opaque, (*operation.types, *operation.results))):
        if operation.name in _WIDENED and "ninf" not in flags and _is_widened(operation):
            return _widened(operation, operands)
        return _on_bits(operation, operands, flags)
    if operation.name in _CONVERSIONS:
        return _CONVERSIONS[operation.name](operation, operands[0])
    results = function(operation, *operands) if function else _unknown(operation, operands)
    return _with_flags(operation, operands, results, flags)


def _with_flags(
    operation: ScalarOperation,
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
    operation: ScalarOperation,
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


def _ordered_operands(operation: ScalarOperation, operands: Sequence[Term]) -> Sequence[Term]:
    if operation.name not in _COMMUTATIVE:
        return operands
    return sorted(operands, key=lambda term: term.number)


def _unknown(operation: ScalarOperation, operands: Sequence[Term]) -> tuple[Term, ...]:
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
    operation: ScalarOperation, operands: Sequence[Term], flags: frozenset[str]
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
    if (name, str(source), str(target)) == ("truncf", "f32", "bf16") and not _has_mode(operation):
        return Computed((_narrow(operation, value),))
    return Computed(_unknown(operation, operands))


def _has_mode(operation: ScalarOperation) -> bool:
    return bool(operation.attributes.get("roundingmode"))


def _is_widened(operation: ScalarOperation) -> bool:
    """Whether bf16 is the only type of floats."""
    types = (*operation.types, *operation.results)
    return all(str(each) == "bf16" for each in types if isinstance(each, FloatType))


def _widened(operation: ScalarOperation, operands: Sequence[Term]) -> Computed:
    """Compute with bf16 as with f32.

    It has more than twice the bits, so that the second rounding of the result of an operation is
    that of the exact one.
    """
    wide = replace(
        operation,
        types=[_widened_type(each) for each in operation.types],
        results=[_widened_type(each) for each in operation.results],
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


def _widened_type(type: IntegerType | FloatType) -> IntegerType | FloatType:
    return _F32 if is_opaque(type) else type


def _wide(terms: Terms, bits: Term) -> Term:
    """Return the f32 of a bf16, which is its upper half."""
    extended = terms.extend(bits, 32, is_signed=False)
    return terms.from_bits(terms.op("bvshl", extended, terms.bv(16, 32)), format_of(_F32))


def _narrow(operation: ScalarOperation, term: Term) -> Term:
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


def bits_of(operation: ScalarOperation, term: Term) -> Term:
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


def _bitcast(operation: ScalarOperation, value: Term) -> tuple[Term, ...]:
    source, target = operation.types[0], operation.results[0]
    bits = bits_of(operation, value) if isinstance(source, FloatType) else value
    if isinstance(target, IntegerType):
        return (bits,)
    sort = format_of(target)
    if bits.op == "uf" and bits.params[0] == _UNKNOWN_BITS and bits.args[0].sort == sort:
        return (bits.args[0],)
    return (operation.terms.from_bits(bits, sort),)


def _copied_sign(operation: ScalarOperation, value: Term, sign: Term) -> tuple[Term, ...]:
    terms = operation.terms
    bits = bits_of(operation, sign)
    is_set = terms.truth(terms.extract(bits, bits.width - 1, bits.width - 1))
    absolute = terms.fp_op("fp.abs", value)
    return (terms.ite(is_set, terms.fp_op("fp.neg", absolute), absolute),)


# --- arithmetic ---


def _plain(name: str, rounding: str = "") -> FloatFunction:
    def apply(operation: ScalarOperation, *operands: Term) -> tuple[Term, ...]:
        return (operation.terms.fp_op(name, *operands, rounding=rounding),)

    return apply


def _rounded(name: str) -> FloatFunction:
    return _plain(name, _NEAREST)


def _integral(mode: str) -> FloatFunction:
    return _plain("fp.roundToIntegral", mode)


def _extreme(*, is_max: bool, ignores_nan: bool) -> FloatFunction:
    def apply(operation: ScalarOperation, left: Term, right: Term) -> tuple[Term, ...]:
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


def _compared(operation: ScalarOperation, left: Term, right: Term) -> tuple[Term, ...]:
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


# --- conversions ---


def _converted(operation: ScalarOperation, value: Term) -> tuple[Term, ...]:
    mode = operation.attributes.get("roundingmode", 0)
    if not isinstance(mode, int):
        raise NotInterpreted(f"the rounding mode of {operation.full_name}")
    sort = format_of(operation.results[0])
    return (operation.terms.fp_op("fp.from_fp", value, rounding=_ROUNDING[mode], sort=sort),)


def _from_integer(operation: ScalarOperation, value: Term) -> Computed:
    name = "fp.from_sbv" if operation.name == "sitofp" else "fp.from_ubv"
    sort = format_of(operation.results[0])
    result = operation.terms.fp_op(name, value, rounding=_NEAREST, sort=sort)
    return Computed((result,), is_negative(operation, value))


def _to_integer(operation: ScalarOperation, value: Term) -> Computed:
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
    def apply(operation: ScalarOperation, value: Term) -> tuple[Term, ...]:
        terms = operation.terms
        return (terms.bit(terms.fp_op(name, value)),)

    return apply


def _is_finite(operation: ScalarOperation, value: Term) -> tuple[Term, ...]:
    terms = operation.terms
    others = terms.or_(terms.fp_op("fp.isNaN", value), terms.fp_op("fp.isInfinite", value))
    return (terms.bit(terms.not_(others)),)


# Their results may be poison, though no flag says so.
_CONVERSIONS: dict[str, Callable[[ScalarOperation, Term], Computed]] = {
    **dict.fromkeys(("fptosi", "fptoui"), _to_integer),
    **dict.fromkeys(("sitofp", "uitofp"), _from_integer),
}
FLOATS: dict[str, FloatFunction] = {
    "addf": _rounded("fp.add"),
    "subf": _rounded("fp.sub"),
    "mulf": _rounded("fp.mul"),
    "divf": _rounded("fp.div"),
    "fma": _rounded("fp.fma"),
    "sqrt": _rounded("fp.sqrt"),
    "negf": _plain("fp.neg"),
    "absf": _plain("fp.abs"),
    "copysign": _copied_sign,
    "floor": _integral("RTN"),
    "ceil": _integral("RTP"),
    "trunc": _integral("RTZ"),
    "round": _integral("RNA"),
    "roundeven": _integral("RNE"),
    "maximumf": _extreme(is_max=True, ignores_nan=False),
    "minimumf": _extreme(is_max=False, ignores_nan=False),
    "maxnumf": _extreme(is_max=True, ignores_nan=True),
    "minnumf": _extreme(is_max=False, ignores_nan=True),
    "cmpf": _compared,
    "extf": _converted,
    "truncf": _converted,
    "bitcast": _bitcast,
    "isnan": _class("fp.isNaN"),
    "isinf": _class("fp.isInfinite"),
    "isnormal": _class("fp.isNormal"),
    "isfinite": _is_finite,
}
