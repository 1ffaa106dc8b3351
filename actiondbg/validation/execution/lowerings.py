"""Ways to lower a program to the LLVM dialect, which share few passes."""

from __future__ import annotations

from dataclasses import dataclass

from actiondbg.bisection.oracles.execute import PIPELINE


@dataclass(frozen=True, slots=True)
class Lowering:
    """A pipeline.

    Args:
        name: as messages call it.
        pipeline: of ``mlir-opt``.
        tool: which ``mlir-opt`` runs it: the one beside the debugged tool, or that of PATH.
    """

    name: str
    pipeline: str
    of_path: bool = False


_FIRST = "builtin.module("

PLAIN = Lowering("the plain lowering", PIPELINE)

# What differs: named operations become generic ones, affine loops stand between, vectors are
# unrolled, the conversion to LLVM is a single pass with its own order.
OTHER = Lowering(
    "a lowering by other passes",
    "builtin.module(convert-tensor-to-linalg,convert-elementwise-to-linalg,"
    "func.func(linalg-generalize-named-ops,lower-vector-mask,"
    "lower-vector-multi-reduction{lowering-strategy=inner-reduction}),"
    "one-shot-bufferize{bufferize-function-boundaries},convert-bufferization-to-memref,"
    "expand-realloc,scf-forall-to-parallel,convert-linalg-to-affine-loops,"
    "convert-vector-to-scf{full-unroll},affine-expand-index-ops,lower-affine,"
    "func.func(math-expand-ops),convert-math-to-funcs,memref-expand,expand-strided-metadata,"
    "lower-affine,convert-scf-to-cf,arith-expand,convert-complex-to-standard,convert-math-to-libm,"
    "convert-math-to-llvm,convert-vector-to-llvm,convert-to-llvm,reconcile-unrealized-casts)",
)

# The function is private here, so that the constants of the test reach it: what depends on nothing
# else is decided before any lowering.
CONSTANTS = Lowering(
    "constant propagation, then the plain lowering",
    PIPELINE.replace(_FIRST, f"{_FIRST}symbol-privatize{{exclude=ENTRY}},sccp,", 1),
)

OF_PATH = Lowering("the plain lowering of PATH's mlir-opt", PIPELINE, of_path=True)

# Stops at an access out of bounds. The checks stand where each access is one of memref.
CHECKED = Lowering(
    "the plain lowering with checks of memory",
    PIPELINE.replace("lower-affine,", "lower-affine,generate-runtime-verification,", 1),
)

# From the most to the least trusted.
LOWERINGS = (PLAIN, OTHER, CONSTANTS, OF_PATH)
