"""Names, flags and predicates of scalar operations, as all dialects spell them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.program import Attribute, OpaqueAttribute

_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_LISTED = re.compile(r"<(.*)>")
_FAST = frozenset({"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"})
_INDEX_NAMES = {
    **{name: f"{name}i" for name in ("add", "sub", "mul", "and", "or", "xor")},
    **{f"{name}s": f"{name}si" for name in ("div", "ceildiv", "floordiv", "rem", "max", "min")},
    **{f"{name}u": f"{name}ui" for name in ("div", "ceildiv", "rem", "max", "min")},
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
    "casts": "index_cast",
    "castu": "index_castui",
    "cmp": "cmpi",
}
_LLVM_NAMES = {
    **{name: f"{name}i" for name in ("add", "sub", "mul", "and", "or", "xor", "trunc")},
    **{"sdiv": "divsi", "udiv": "divui", "srem": "remsi", "urem": "remui", "icmp": "cmpi"},
    **{"shl": "shli", "lshr": "shrui", "ashr": "shrsi", "sext": "extsi", "zext": "extui"},
    **{"fadd": "addf", "fsub": "subf", "fmul": "mulf", "fdiv": "divf", "frem": "remf"},
    **{"fneg": "negf", "fcmp": "cmpf", "fpext": "extf", "fptrunc": "truncf"},
    **{"intr.smax": "maxsi", "intr.smin": "minsi", "intr.umax": "maxui", "intr.umin": "minui"},
    **{"intr.fma": "fma", "intr.fmuladd": "fmuladd", "intr.fabs": "absf", "intr.sqrt": "sqrt"},
    **{"intr.maximum": "maximumf", "intr.minimum": "minimumf"},
    **{"intr.maxnum": "maxnumf", "intr.minnum": "minnumf", "intr.ctpop": "ctpop"},
    **{"sitofp": "sitofp", "uitofp": "uitofp", "fptosi": "fptosi", "fptoui": "fptoui"},
    **{"select": "select", "freeze": "freeze", "bitcast": "bitcast"},
}


def overflow_flags(attributes: Mapping[str, Attribute]) -> frozenset[str]:
    """Return ``nsw`` and ``nuw`` if they are set."""
    return _words(attributes.get("overflowFlags"))


def is_set(attributes: Mapping[str, Attribute], name: str) -> bool:
    """Whether a unit attribute, or one of a dialect with its name, is set: ``exact``."""
    return bool(attributes.get(f"is{name.capitalize()}") or attributes.get(name))


def fast_math(attributes: Mapping[str, Attribute]) -> frozenset[str]:
    """Return the flags of fast math; ``fast`` is all of them."""
    found = _words(attributes.get("fastmath")) | _words(attributes.get("fastmathFlags"))
    return _FAST if "fast" in found else found


def predicate(name: str, attributes: Mapping[str, Attribute]) -> str:
    """Return the predicate of a comparison: ``slt``, ``oeq``.

    Raises:
        NotInterpreted: it cannot be read.
    """
    value = attributes.get("predicate", attributes.get("pred"))
    known = _FLOAT_PREDICATES if name.endswith(("cmpf", "fcmp")) else _INTEGER_PREDICATES
    if isinstance(value, int) and 0 <= value < len(known):
        return known[value]
    words = [] if not isinstance(value, OpaqueAttribute) else value.text.strip("<>").split()
    if words and words[-1] in known:
        return words[-1]
    raise NotInterpreted(f"the predicate of {name}")


def _words(attribute: Attribute | None) -> frozenset[str]:
    return _listed(attribute.text) if isinstance(attribute, OpaqueAttribute) else frozenset()


@lru_cache
def _listed(text: str) -> frozenset[str]:
    found = _LISTED.search(text)
    words = {word.strip() for word in found[1].split(",")} if found else set[str]()
    return frozenset(words - {"none", ""})


def short_name(name: str) -> str:
    """Return the name of an operation in arith or math that means the same."""
    dialect, _, short = name.partition(".")
    if dialect == "index":
        return _INDEX_NAMES.get(short, name)
    if dialect == "llvm":
        return _LLVM_NAMES.get(short, name)
    return short if dialect in ("arith", "math") else name
