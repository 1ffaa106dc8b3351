"""Names of scalar operations in index and llvm that mean the same as in arith and math."""

from __future__ import annotations

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


def short_name(name: str) -> str:
    """Return the name of an operation in arith or math that means the same."""
    dialect, _, short = name.partition(".")
    if dialect == "index":
        return _INDEX_NAMES.get(short, name)
    if dialect == "llvm":
        return _LLVM_NAMES.get(short, name)
    return short if dialect in ("arith", "math") else name
