"""How exactly the results of a function must agree, by what the function before an action says."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from actiondbg.validation.affine import AffineMap
from actiondbg.validation.domain import fast_math, reduction_kind
from actiondbg.validation.program import (
    MAPS,
    Attribute,
    Function,
    Module,
    Operation,
    called,
    walk,
)
from actiondbg.validation.scalar_operations import BY_NAME
from actiondbg.validation.types import (
    ComplexType,
    FloatType,
    OpaqueType,
    ShapedType,
    Type,
)

_EXTREMES = frozenset({"maximumf", "minimumf", "maxnumf", "minnumf"})
_OPEN_ZEROS = re.compile(r"(?:arith\.)?(?:max|min)numf|llvm\.intr\.(?:max|min)num|complex\.mul")
_EXACT_COMPLEX = frozenset(
    f"complex.{name}"
    for name in (
        *("add", "sub", "mul", "neg", "conj", "eq", "neq", "create", "re", "im", "constant"),
        "bitcast",
    )
)
# Approximated operations that the interpreter does not compute as scalar operations.
_LLVM_APPROXIMATED = re.compile(
    r"llvm\.intr\.(?:fmuladd|exp10|powi|sincos|vector\.reduce\.f(?:add|mul)|matrix\.multiply)"
)
# What is in the bodies of reductions whose order says nothing. A maximum by a comparison is not:
# of NaNs, the order decides.
_ORDERLESS = frozenset(
    {
        *(f"arith.{name}" for name in (*_EXTREMES, "constant", "extf", "sitofp", "uitofp")),
        *("arith.negf", "math.absf", "linalg.yield", "scf.reduce.return"),
        "memref.atomic_yield",
    }
)
_MOVING = frozenset({"linalg.pack", "linalg.unpack", "linalg.yield", "linalg.index"})
PARALLEL_LOOPS = frozenset({"scf.parallel", "scf.forall", "affine.parallel"})
# Numbers of kinds of arith.
_ASSIGN = 3
_OPEN_ZERO_KINDS = frozenset({5, 9})  # maxnumf, minnumf
_ORDERLESS_KINDS = _OPEN_ZERO_KINDS | {4, 8}  # maximumf, minimumf


@dataclass(frozen=True, slots=True)
class Strictness:
    """How exactly results must agree."""

    # All bits, except in NaNs; False if the order of operations is open, or the program after the
    # action has other approximated operations than the one before.
    bits: bool = True
    zeros: bool = True  # the signs of zeros, too
    # Which memory returned views share with arguments and globals, too; False if there are clones,
    # to which nobody may write, so that they may be the memory itself.
    sharing: bool = True


def strictness(before: Module, after: Module, symbol: str) -> Strictness:
    """Return how exactly the results of a function must agree.

    What is open for floats, the program before leaves open: a pass may not make open what was not.
    Clones of either program share.
    """
    functions = [list(called(module, symbol)) for module in (before, after)]
    sources, targets = ([_strictness(each) for each in some] for some in functions)
    approximated = [sum(map(_approximated, some), Counter[str]()) for some in functions]
    # The same ones of the same values have the same results, whatever these are.
    is_same = not approximated[0] or approximated[0] == approximated[1]
    return Strictness(
        all(one.bits for one in sources) and is_same,
        all(one.zeros for one in sources) and is_same,
        all(one.sharing for one in (*sources, *targets)),
    )


@lru_cache(256)
def _approximated(function: Function) -> Counter[str]:
    """Return the approximated operations of a function, with the types of their operands."""
    found = filter(is_approximated, walk(function.operation))
    return Counter(
        " ".join((each.name, *(str(one.type) for one in each.operands))) for each in found
    )


@lru_cache(256)  # each of its callers asks
def _strictness(function: Function) -> Strictness:
    bits = zeros = sharing = True
    operations = list(walk(function.operation))
    is_parallel = any(each.name in PARALLEL_LOOPS for each in operations)
    for operation in operations:
        is_open = has_open_order(operation) or (is_parallel and _is_open_atomic(operation))
        bits = bits and not is_open
        zeros = zeros and not is_open and not _has_open_zeros(operation)
        sharing = sharing and operation.name != "bufferization.clone"
    return Strictness(bits, zeros, sharing)


def is_approximated(operation: Operation) -> bool:
    """Whether several results of an operation are near enough."""
    if not _has_floats(operation):
        return False
    if operation.name in BY_NAME:
        return not BY_NAME[operation.name].is_exact
    is_function = operation.name.startswith(("complex.", "math."))
    return is_function and operation.name not in _EXACT_COMPLEX


def has_open_order(operation: Operation) -> bool:
    """Whether the order of an operation's sums is open, or its flags allow several results."""
    if fast_math(operation.attributes) - {"nnan", "ninf"}:
        return True
    name = operation.name
    if name == "scf.reduce":
        return not _is_orderless(operation)
    if not _has_floats(operation):
        return False
    if name.startswith("linalg."):
        return _is_open_linalg(operation)
    if name.startswith("llvm."):
        return bool(_LLVM_APPROXIMATED.fullmatch(name))
    if name == "affine.parallel":
        return not _ORDERLESS_KINDS.issuperset(_kinds(operation, "reductions"))
    if name == "vector.outerproduct" and len(operation.operands) == 2:  # nothing is added
        return False
    return _combines_vectors(operation) and reduction_kind(operation.attributes) not in _EXTREMES


def _combines_vectors(operation: Operation) -> bool:
    """Whether an operation is a reduction of vectors, or a scan: only these have a kind."""
    return operation.name.startswith("vector.") and "kind" in operation.attributes


def _is_open_linalg(operation: Operation) -> bool:
    """Whether an operation of linalg sums up; if its loops are not known, it may."""
    if operation.name in _MOVING:
        return False
    listed = operation.attributes.get(MAPS)
    given = listed if isinstance(listed, tuple) else ()
    maps = [each for each in given if isinstance(each, AffineMap)]
    if not maps or len(maps) != len(operation.operands):
        return True
    segments = operation.segments()
    count = len(segments[1]) if len(segments) == 2 else 1
    for map in maps[len(maps) - count :]:
        written = {each.value for each in map.results if each.kind == "input"}
        if len(written) < map.dimensions:
            return not _is_orderless(operation)
    return False


def _is_orderless(operation: Operation) -> bool:
    """Whether the regions of a reduction have nothing of floats whose order says something."""
    inner = (each for each in walk(operation) if each is not operation)
    return all(each.name in _ORDERLESS or not _has_floats(each) for each in inner)


def _is_open_atomic(operation: Operation) -> bool:
    """Whether an atomic change, of which the order is open, has a result that depends on it."""
    if operation.name == "memref.generic_atomic_rmw":
        return not _is_orderless(operation)
    is_sum = not (_ORDERLESS_KINDS | {_ASSIGN}).issuperset(_kinds(operation, "kind"))
    return operation.name == "memref.atomic_rmw" and is_sum and _has_floats(operation)


def _has_open_zeros(operation: Operation) -> bool:
    """Whether the sign of a zero is open."""
    if _OPEN_ZEROS.fullmatch(operation.name):
        return True
    if _combines_vectors(operation):
        return bool(_OPEN_ZEROS.fullmatch(reduction_kind(operation.attributes)))
    if operation.name == "affine.parallel":
        return not _OPEN_ZERO_KINDS.isdisjoint(_kinds(operation, "reductions"))
    return operation.name == "memref.atomic_rmw" and bool(
        _OPEN_ZERO_KINDS.intersection(_kinds(operation, "kind"))
    )


def _kinds(operation: Operation, name: str) -> tuple[Attribute, ...]:
    """Return the numbers of the kinds of arith that an attribute has."""
    found = operation.attributes.get(name)
    return found if isinstance(found, tuple) else () if found is None else (found,)


def _has_floats(operation: Operation) -> bool:
    """Whether an operation may take or make floats."""
    return any(_is_float(value.type) for value in (*operation.operands, *operation.results))


def _is_float(type: Type) -> bool:
    element = type.element if isinstance(type, ShapedType) else type
    return isinstance(element, FloatType | ComplexType | OpaqueType)
