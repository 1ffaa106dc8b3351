"""Terms of a solver of bit-vectors and floating-point numbers, simplified while they are made.

Operators have SMT-LIB's names, with a few of one's own: ``const``, ``var``, ``uf`` (an unknown
function), ``fp.from_bits``, ``fp.from_fp``, ``fp.from_sbv``, ``fp.from_ubv``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from actiondbg.validation.types import signed

# The sort of a term: "Bool", the bits of a bit-vector, or a floating-point number's bits of the
# exponent and of the significand with its hidden bit.
Sort = str | int | tuple[int, int]
BOOL: Sort = "Bool"

_COMMUTATIVE = frozenset(
    {
        *("=", "bvadd", "bvmul", "bvand", "bvor", "bvxor", "fp.add", "fp.mul", "fp.eq"),
        *("bvsaddo", "bvuaddo", "bvsmulo", "bvumulo"),
    }
)
_FLOAT_PREDICATES = ("fp.is", "fp.eq", "fp.lt", "fp.leq")  # their names begin so


@dataclass(eq=False, slots=True, repr=False)
class Term:
    """A term; the same one is one object, so compare by identity."""

    op: str  # the operator
    args: tuple[Term, ...]  # its operands
    params: tuple[int | str, ...]  # the value of a constant, a name, a rounding mode, bits
    sort: Sort
    number: int  # of terms in the order in which they were made

    @property
    def value(self) -> int | None:
        """The bits of a constant, 0 or 1 of a Boolean one; None of any other term."""
        if self.op != "const":
            return None
        value = self.params[0]
        assert isinstance(value, int)
        return value

    @property
    def width(self) -> int:
        """The bits of a bit-vector."""
        assert isinstance(self.sort, int)
        return self.sort

    def __repr__(self) -> str:
        inner = [str(each) for each in (*self.params, *self.args)]
        return f"({' '.join([self.op, *inner])})" if inner else self.op


def _sdiv(left: int, right: int, width: int) -> int:
    a, b = signed(left, width), signed(right, width)
    if not b:
        return 1 if a < 0 else -1
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def _srem(left: int, right: int, width: int) -> int:
    a, b = signed(left, width), signed(right, width)
    if not b:
        return left
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


_ARITHMETIC: dict[str, Callable[[int, int, int], int]] = {
    "bvadd": lambda a, b, _: a + b,
    "bvsub": lambda a, b, _: a - b,
    "bvmul": lambda a, b, _: a * b,
    "bvand": lambda a, b, _: a & b,
    "bvor": lambda a, b, _: a | b,
    "bvxor": lambda a, b, _: a ^ b,
    "bvudiv": lambda a, b, _: a // b if b else -1,
    "bvurem": lambda a, b, _: a % b if b else a,
    "bvsdiv": _sdiv,
    "bvsrem": _srem,
    "bvshl": lambda a, b, width: a << b if b < width else 0,
    "bvlshr": lambda a, b, width: a >> b if b < width else 0,
    "bvashr": lambda a, b, width: signed(a, width) >> min(b, width),
}


def _overflows(
    compute: Callable[[int, int], int], is_signed: bool
) -> Callable[[int, int, int], bool]:
    def predicate(left: int, right: int, width: int) -> bool:
        if is_signed:
            value = compute(signed(left, width), signed(right, width))
            return not -(1 << (width - 1)) <= value < 1 << (width - 1)
        return not 0 <= compute(left, right) < 1 << width

    return predicate


_COMPARISONS: dict[str, Callable[[int, int, int], bool]] = {
    "bvult": lambda a, b, _: a < b,
    "bvule": lambda a, b, _: a <= b,
    "bvslt": lambda a, b, width: signed(a, width) < signed(b, width),
    "bvsle": lambda a, b, width: signed(a, width) <= signed(b, width),
    "bvsaddo": _overflows(lambda a, b: a + b, True),
    "bvuaddo": _overflows(lambda a, b: a + b, False),
    "bvssubo": _overflows(lambda a, b: a - b, True),
    "bvusubo": _overflows(lambda a, b: a - b, False),
    "bvsmulo": _overflows(lambda a, b: a * b, True),
    "bvumulo": _overflows(lambda a, b: a * b, False),
}
_NEUTRAL_RIGHT = {"bvadd", "bvsub", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr"}


def have(terms: Iterable[Term], is_wanted: Callable[[Term], bool]) -> bool:
    """Whether terms are, or have in them, a certain one."""
    seen: set[Term] = set()
    pending = list(terms)
    while pending:
        term = pending.pop()
        if is_wanted(term):
            return True
        if term not in seen:
            seen.add(term)
            pending.extend(term.args)
    return False


class Terms:
    """Makes terms, each once."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], Term] = {}
        self.true = self._make("const", (), (1,), BOOL)
        self.false = self._make("const", (), (0,), BOOL)

    def _make(
        self, op: str, args: tuple[Term, ...], params: tuple[int | str, ...], sort: Sort
    ) -> Term:
        key = (op, args, params, sort)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Term(op, args, params, sort, len(self._made))
        return found

    # --- leaves ---

    def var(self, name: str, sort: Sort) -> Term:
        """Return an unknown; the same for the same name and sort."""
        return self._make("var", (), (name,), sort)

    def bv(self, value: int, width: int) -> Term:
        """Return a constant bit-vector."""
        return self._make("const", (), (value & ((1 << width) - 1),), width)

    def boolean(self, value: bool) -> Term:
        """Return true or false."""
        return self.true if value else self.false

    def fp(self, bits: int, sort: tuple[int, int]) -> Term:
        """Return a floating-point constant of bits; one NaN stands for all."""
        exponent, significand = sort
        infinity = ((1 << exponent) - 1) << (significand - 1)
        if bits & ((1 << (exponent + significand - 1)) - 1) > infinity:
            bits = infinity | 1 << (significand - 2)
        return self._make("const", (), (bits,), sort)

    def function(self, name: str, args: Sequence[Term], sort: Sort) -> Term:
        """Return the application of an unknown function; name one that has other sorts apart."""
        if not args:
            return self.var(name, sort)
        return self._make("uf", tuple(args), (name,), sort)

    def substituted(self, term: Term, values: Mapping[Term, Term]) -> Term:
        """Return a term with other terms in place of some."""
        known = dict(values)
        pending = [term]
        while pending:
            top = pending[-1]
            missing = [each for each in top.args if each not in known]
            if top in known or missing:
                pending = [*pending, *missing] if top not in known else pending[:-1]
                continue
            pending.pop()
            known[top] = self._rebuilt(top, tuple(known[each] for each in top.args))
        return known[term]

    def _rebuilt(self, term: Term, args: tuple[Term, ...]) -> Term:
        match term.op:
            case "ite":
                return self.ite(*args)
            case "not":
                return self.not_(*args)
            case "and":
                return self.and_(*args)
            case "or":
                return self.or_(*args)
            case _:
                return self._make(term.op, args, term.params, term.sort)

    # --- Boolean terms ---

    def not_(self, term: Term) -> Term:
        """Return the negation."""
        if term.op == "not":
            return term.args[0]
        if term.op == "const":
            return self.boolean(not term.value)
        return self._make("not", (term,), (), BOOL)

    def and_(self, *terms: Term) -> Term:
        """Return the conjunction."""
        return self._junction("and", terms, self.true, self.false)

    def or_(self, *terms: Term) -> Term:
        """Return the disjunction."""
        return self._junction("or", terms, self.false, self.true)

    def _junction(self, op: str, terms: Sequence[Term], neutral: Term, absorbing: Term) -> Term:
        terms = [term for term in terms if term is not neutral]
        if len(terms) <= 1:
            return terms[0] if terms else neutral
        parts: dict[Term, None] = {}
        for term in terms:
            inner = term.args if term.op == op else (term,)
            parts.update(dict.fromkeys(each for each in inner if each is not neutral))
        if absorbing in parts or any(self.not_(each) in parts for each in parts):
            return absorbing
        if len(parts) <= 1:
            return next(iter(parts), neutral)
        args = tuple(sorted(parts, key=lambda term: term.number))
        return self._make(op, args, (), BOOL)

    def eq(self, left: Term, right: Term) -> Term:
        """Return whether two terms of a sort are the same; all NaNs are."""
        if left is right:
            return self.true
        if left.op == right.op == "const":
            return self.false
        if left.op == "const":
            left, right = right, left
        if right.op == "const" and left.op == "ite":
            # A comparison of ``ite(c, 1, 0)`` is the condition.
            sides = [side is right if side.op == "const" else None for side in left.args[1:]]
            if sides[0] is not None and sides[1] is not None:
                return self.ite(left.args[0], *(self.boolean(bool(side)) for side in sides))
        if left.sort == BOOL and right.op == "const":
            return left if right.value else self.not_(left)
        return self._commuted("=", left, right, (), BOOL)

    def ite(self, condition: Term, left: Term, right: Term) -> Term:
        """Return one of two terms of a sort."""
        if condition.op == "const":
            return left if condition.value else right
        if left is right:
            return left
        if condition.op == "not":
            return self.ite(condition.args[0], right, left)
        if left.sort == BOOL and (left.op == "const" or right.op == "const"):
            return self._boolean_ite(condition, left, right)
        return self._make("ite", (condition, left, right), (), left.sort)

    def _boolean_ite(self, condition: Term, left: Term, right: Term) -> Term:
        if left.op == "const":
            return (
                self.or_(condition, right) if left.value else self.and_(self.not_(condition), right)
            )
        if right.value:
            return self.or_(self.not_(condition), left)
        return self.and_(condition, left)

    def bit(self, condition: Term) -> Term:
        """Return a Boolean term as a bit-vector of one bit."""
        return self.ite(condition, self.bv(1, 1), self.bv(0, 1))

    def truth(self, bit: Term) -> Term:
        """Return whether a bit-vector of one bit is 1."""
        return self.eq(bit, self.bv(1, 1))

    # --- bit-vectors ---

    def op(self, name: str, left: Term, right: Term) -> Term:
        """Return a binary operation on bit-vectors, or a comparison of them."""
        a, b = left.value, right.value
        if name in _COMPARISONS:
            if a is not None and b is not None:
                return self.boolean(_COMPARISONS[name](a, b, left.width))
            if left is right and name in ("bvult", "bvslt", "bvule", "bvsle", "bvusubo", "bvssubo"):
                return self.boolean(name in ("bvule", "bvsle"))
            return self._commuted(name, left, right, (), BOOL)
        if a is not None and b is not None:
            return self.bv(_ARITHMETIC[name](a, b, left.width), left.width)
        return self._simpler(name, left, right) or self._commuted(name, left, right, (), left.sort)

    def _simpler(self, name: str, left: Term, right: Term) -> Term | None:
        if left.op == "const" and name in _COMMUTATIVE:
            left, right = right, left
        if right.value == 0 and name in _NEUTRAL_RIGHT:
            return left
        if right.value == 0 and name in ("bvmul", "bvand"):
            return right
        if right.value == 1 and name in ("bvmul", "bvudiv") and left.width > 1:
            return left
        if name in ("bvand", "bvor") and left is right:
            return left
        if name in ("bvxor", "bvsub") and left is right:
            return self.bv(0, left.width)
        if name == "bvand" and right.value == (1 << left.width) - 1:
            return left
        return None

    def _commuted(
        self, name: str, left: Term, right: Term, params: tuple[int | str, ...], sort: Sort
    ) -> Term:
        if name in _COMMUTATIVE and right.number < left.number:
            left, right = right, left
        return self._make(name, (left, right), params, sort)

    def extract(self, term: Term, high: int, low: int) -> Term:
        """Return bits ``low`` to ``high``."""
        width = high - low + 1
        if width == term.width:
            return term
        if term.value is not None:
            return self.bv(term.value >> low, width)
        if term.op in ("zero_extend", "sign_extend") and high < term.args[0].width:
            return self.extract(term.args[0], high, low)
        return self._make("extract", (term,), (high, low), width)

    def extend(self, term: Term, width: int, *, is_signed: bool) -> Term:
        """Return a bit-vector of at least as many bits."""
        more = width - term.width
        if not more:
            return term
        if term.value is not None:
            value = signed(term.value, term.width) if is_signed else term.value
            return self.bv(value, width)
        return self._make("sign_extend" if is_signed else "zero_extend", (term,), (more,), width)

    def resized(self, term: Term, width: int, *, is_signed: bool) -> Term:
        """Return a bit-vector of other bits: extended, or cut."""
        if width < term.width:
            return self.extract(term, width - 1, 0)
        return self.extend(term, width, is_signed=is_signed)

    # --- floating-point numbers ---

    def from_bits(self, bits: Term, sort: tuple[int, int]) -> Term:
        """Return the floating-point number of bits."""
        if bits.value is not None:
            return self.fp(bits.value, sort)
        return self._make("fp.from_bits", (bits,), (), sort)

    def fp_op(self, name: str, *args: Term, rounding: str = "", sort: Sort | None = None) -> Term:
        """Return an operation on floating-point numbers; of the operands' sort if none is given."""
        if sort is None:
            sort = BOOL if name.startswith(_FLOAT_PREDICATES) else args[0].sort
        params = (rounding,) if rounding else ()
        if name in ("fp.neg", "fp.abs"):
            return self._signs(name, args[0])
        if len(args) == 2:
            return self._commuted(name, args[0], args[1], params, sort)
        if name == "fp.fma" and args[1].number < args[0].number:
            args = (args[1], args[0], args[2])
        return self._make(name, args, params, sort)

    def _signs(self, name: str, term: Term) -> Term:
        """Negation and absolute value: of known bits they are changes of a bit."""
        assert isinstance(term.sort, tuple)
        width = sum(term.sort)
        sign = 1 << (width - 1)
        bits = self.bv(term.value, width) if term.value is not None else None
        if term.op == "fp.from_bits":
            bits = term.args[0]
        if bits is None:
            if name == term.op == "fp.neg":
                return term.args[0]
            return self._make(name, (term,), (), term.sort)
        changed = (
            self.op("bvxor", bits, self.bv(sign, width))
            if name == "fp.neg"
            else self.op("bvand", bits, self.bv(sign - 1, width))
        )
        return self.from_bits(changed, term.sort)

    def fp_to_bv(self, name: str, term: Term, rounding: str, width: int) -> Term:
        """Return ``fp.to_sbv`` or ``fp.to_ubv``; anything where the number is out of range."""
        return self._make(name, (term,), (rounding, width), width)
