"""Ways to lower a program to the LLVM dialect, which share few passes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from actiondbg.bisection.execute_oracle import PIPELINE


@dataclass(frozen=True, slots=True)
class Lowering:
    """A pipeline."""

    name: str  # as messages call it
    pipeline: str
    of_path: bool = False  # by PATH's ``mlir-opt``, not by the one beside the debugged tool
    folds: bool = True  # False: run by actiondbg, which skips folds


# What a program must have for a pass to be of use, where there is a pass that folds all else.
_USES = {
    "convert-elementwise-to-linalg": r"\btensor<",
    "one-shot-bufferize{bufferize-function-boundaries}": r"\btensor<|\bbufferization\.",
    "convert-bufferization-to-memref": r"\btensor<|\bbufferization\.",
    "lower-vector-mask": r"\bvector\.mask",
    "lower-vector-multi-reduction": r"\bvector\.multi_reduction",
    "lower-vector-multi-reduction{lowering-strategy=inner-reduction}": r"\bvector\.multi_reduction",
    "linalg-generalize-named-ops": r"\blinalg\.|\btensor<",
    "expand-realloc": r"\bmemref\.realloc",
    "scf-forall-to-for": r"\bscf\.forall",
    "scf-forall-to-parallel": r"\bscf\.forall",
    "convert-linalg-to-loops": r"\blinalg\.|\btensor<",
    "convert-linalg-to-affine-loops": r"\blinalg\.|\btensor<",
    "convert-vector-to-scf": r"\bvector\.(?:transfer|mask)|\bvector\.print[^:\n]* : vector",
    "convert-vector-to-scf{full-unroll}": r"\bvector\.(?:transfer|mask|print[^:\n]* : vector)",
    "affine-expand-index-ops": r"\baffine\.(?:de)?linearize",
    "math-expand-ops": r"\bmath\.",
    "convert-math-to-funcs": r"\bmath\.",
    "expand-strided-metadata": r"\btensor<|\bmemref\.(?!alloc|load|store|dealloc|get_g|copy|dim)",
}
_SPLIT = re.compile(r"[\w-]+(?:\{[^}]*\})?")


def fitted(lowering: Lowering, text: str) -> Lowering:
    """Leave out the passes that fold all else on the way, where a program needs them not."""

    def kept(word: re.Match[str]) -> str:
        use = _USES.get(word[0])
        return word[0] if use is None or re.search(use, text) else ""

    first, brace, rest = lowering.pipeline.partition("(")
    pipeline = re.sub(r",(?=,|\))|(?<=\(),", "", _SPLIT.sub(kept, rest))
    while (shorter := re.sub(r"func\.func\(\),?|,(?=[,)])|(?<=\(),", "", pipeline)) != pipeline:
        pipeline = shorter
    return replace(lowering, pipeline=f"{first}{brace}{pipeline.lstrip(',')}")


_FIRST = "builtin.module("

PLAIN = Lowering("the plain lowering", PIPELINE)

# What differs: named operations become generic ones, affine loops stand between, vectors are
# unrolled, the conversion to LLVM is a single pass with its own order.
OTHER = Lowering(
    "a lowering by other passes",
    "builtin.module(convert-elementwise-to-linalg,"
    "one-shot-bufferize{bufferize-function-boundaries},convert-bufferization-to-memref,"
    "func.func(linalg-generalize-named-ops,lower-vector-mask,"
    "lower-vector-multi-reduction{lowering-strategy=inner-reduction}),"
    "expand-realloc,scf-forall-to-parallel,convert-linalg-to-affine-loops,"
    "convert-vector-to-scf{full-unroll},affine-expand-index-ops,lower-affine,"
    "func.func(math-expand-ops),convert-math-to-funcs,memref-expand,expand-strided-metadata,"
    "lower-affine,convert-scf-to-cf,arith-expand,convert-complex-to-standard,convert-math-to-llvm,"
    "convert-math-to-libm,convert-vector-to-llvm,convert-to-llvm,reconcile-unrealized-casts)",
)

# The function is private here, so that the constants of the test reach it: what depends on nothing
# else is decided before any lowering.
CONSTANTS = Lowering(
    "constant propagation, then the plain lowering",
    PIPELINE.replace(_FIRST, f"{_FIRST}symbol-privatize{{exclude=ENTRY}},sccp,", 1),
)

OF_PATH = Lowering("the plain lowering of PATH's mlir-opt", PIPELINE, of_path=True)

# What folds may do wrongly, a program must not have from its lowering.
WITHOUT_FOLDS = replace(PLAIN, name="the plain lowering without folds", folds=False)
OTHER_WITHOUT_FOLDS = replace(OTHER, name="a lowering by other passes without folds", folds=False)

# Stops at an access out of bounds. The checks stand where each access is one of memref.
CHECKED = Lowering(
    "the plain lowering with checks of memory",
    PIPELINE.replace("lower-affine,", "lower-affine,generate-runtime-verification,", 1),
)

# From the most to the least trusted.
LOWERINGS = (PLAIN, OTHER, CONSTANTS, OF_PATH, WITHOUT_FOLDS)
