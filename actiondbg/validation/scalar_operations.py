"""Scalar operations: their names in each dialect, and what every domain knows of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarOperation:
    """What a scalar operation is, apart from how a domain computes it."""

    full_name: str  # of arith or math
    index: str  # its name in index, without the dialect; empty if it has none there
    llvm: str  # its name in llvm, without the dialect; empty if it has none there
    # It has one result only, by IEEE 754 or because it is an integer. Of another one, results agree
    # within a tolerance, and a proof knows that it is a function; of a few, such as fma, which.
    is_exact: bool
    is_division: bool  # its second operand must be neither 0 nor poison
    # The bf16 nearest to its result in f32 is its result in bf16.
    is_widened: bool

    @property
    def name(self) -> str:
        """The name without the dialect, by which domains find how to compute it."""
        return self.full_name.partition(".")[2]

    @property
    def names(self) -> list[str]:
        """All names, with their dialects."""
        others = {"index": self.index, "llvm": self.llvm}
        return [self.full_name, *(f"{key}.{name}" for key, name in others.items() if name)]


def _exact(
    full_name: str,
    index: str = "",
    llvm: str = "",
    *,
    is_division: bool = False,
    is_widened: bool = False,
) -> ScalarOperation:
    return ScalarOperation(full_name, index, llvm, True, is_division, is_widened)


def _approximated(name: str, llvm: str = "") -> ScalarOperation:
    return ScalarOperation(f"math.{name}", "", llvm, False, False, False)


SCALAR_OPERATIONS = (
    _exact("arith.select", llvm="select"),
    _exact("arith.freeze", llvm="freeze"),  # by this name, the interpreter applies it
    # integers
    _exact("arith.addi", index="add", llvm="add"),
    _exact("arith.subi", index="sub", llvm="sub"),
    _exact("arith.muli", index="mul", llvm="mul"),
    _exact("arith.addui_extended"),
    _exact("arith.mulsi_extended"),
    _exact("arith.mului_extended"),
    _exact("arith.divsi", index="divs", llvm="sdiv", is_division=True),
    _exact("arith.divui", index="divu", llvm="udiv", is_division=True),
    _exact("arith.ceildivsi", index="ceildivs", is_division=True),
    _exact("arith.ceildivui", index="ceildivu", is_division=True),
    _exact("arith.floordivsi", index="floordivs", is_division=True),
    _exact("arith.remsi", index="rems", llvm="srem", is_division=True),
    _exact("arith.remui", index="remu", llvm="urem", is_division=True),
    _exact("arith.andi", index="and", llvm="and"),
    _exact("arith.ori", index="or", llvm="or"),
    _exact("arith.xori", index="xor", llvm="xor"),
    _exact("arith.shli", index="shl", llvm="shl"),
    _exact("arith.shrsi", index="shrs", llvm="ashr"),
    _exact("arith.shrui", index="shru", llvm="lshr"),
    _exact("arith.maxsi", index="maxs", llvm="intr.smax"),
    _exact("arith.maxui", index="maxu", llvm="intr.umax"),
    _exact("arith.minsi", index="mins", llvm="intr.smin"),
    _exact("arith.minui", index="minu", llvm="intr.umin"),
    _exact("arith.extsi", llvm="sext"),
    _exact("arith.extui", llvm="zext"),
    _exact("arith.trunci", llvm="trunc"),
    _exact("arith.index_cast", index="casts"),
    _exact("arith.index_castui", index="castu"),
    _exact("arith.cmpi", index="cmp", llvm="icmp"),
    _exact("math.absi", llvm="intr.abs"),
    _exact("math.ctlz", llvm="intr.ctlz"),
    _exact("math.ctpop", llvm="intr.ctpop"),
    _exact("math.cttz", llvm="intr.cttz"),
    _exact("math.ipowi"),
    # conversions
    _exact("arith.bitcast", llvm="bitcast"),
    _exact("arith.sitofp", llvm="sitofp"),
    _exact("arith.uitofp", llvm="uitofp"),
    _exact("arith.fptosi", llvm="fptosi", is_widened=True),
    _exact("arith.fptoui", llvm="fptoui", is_widened=True),
    _exact("arith.extf", llvm="fpext"),
    _exact("arith.truncf", llvm="fptrunc"),
    # floating-point numbers
    _exact("arith.addf", llvm="fadd", is_widened=True),
    _exact("arith.subf", llvm="fsub", is_widened=True),
    _exact("arith.mulf", llvm="fmul", is_widened=True),
    _exact("arith.divf", llvm="fdiv", is_widened=True),
    _exact("arith.remf", llvm="frem"),
    _exact("arith.negf", llvm="fneg"),
    _exact("arith.cmpf", llvm="fcmp", is_widened=True),
    _exact("arith.maximumf", llvm="intr.maximum", is_widened=True),
    _exact("arith.minimumf", llvm="intr.minimum", is_widened=True),
    _exact("arith.maxnumf", llvm="intr.maxnum", is_widened=True),
    _exact("arith.minnumf", llvm="intr.minnum", is_widened=True),
    _exact("math.absf", llvm="intr.fabs"),
    _exact("math.copysign", llvm="intr.copysign"),
    _exact("math.sqrt", llvm="intr.sqrt", is_widened=True),
    _exact("math.ceil", llvm="intr.ceil", is_widened=True),
    _exact("math.floor", llvm="intr.floor", is_widened=True),
    _exact("math.trunc", llvm="intr.trunc", is_widened=True),
    _exact("math.round", llvm="intr.round", is_widened=True),
    _exact("math.roundeven", llvm="intr.roundeven", is_widened=True),
    _exact("math.isfinite", is_widened=True),
    _exact("math.isinf", is_widened=True),
    _exact("math.isnan", is_widened=True),
    _exact("math.isnormal", is_widened=True),
    # A product and a sum that are not fused are allowed, too: some lowerings expand it.
    _approximated("fma", llvm="intr.fma"),
    _approximated("acos", llvm="intr.acos"),
    _approximated("acosh"),
    _approximated("asin", llvm="intr.asin"),
    _approximated("asinh"),
    _approximated("atan", llvm="intr.atan"),
    _approximated("atan2", llvm="intr.atan2"),
    _approximated("atanh"),
    _approximated("cbrt"),
    _approximated("cos", llvm="intr.cos"),
    _approximated("cosh", llvm="intr.cosh"),
    _approximated("erf"),
    _approximated("erfc"),
    _approximated("exp", llvm="intr.exp"),
    _approximated("exp2", llvm="intr.exp2"),
    _approximated("expm1"),
    _approximated("fpowi"),
    _approximated("log", llvm="intr.log"),
    _approximated("log10", llvm="intr.log10"),
    _approximated("log1p"),
    _approximated("log2", llvm="intr.log2"),
    _approximated("powf", llvm="intr.pow"),
    _approximated("rsqrt"),
    _approximated("sin", llvm="intr.sin"),
    _approximated("sincos"),
    _approximated("sinh", llvm="intr.sinh"),
    _approximated("tan", llvm="intr.tan"),
    _approximated("tanh", llvm="intr.tanh"),
)
# By all names, with their dialects.
BY_NAME = {name: each for each in SCALAR_OPERATIONS for name in each.names}
DIVISIONS = frozenset(each.name for each in SCALAR_OPERATIONS if each.is_division)
