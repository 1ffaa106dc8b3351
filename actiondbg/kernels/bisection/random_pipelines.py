"""Random pipelines of affine, loop and vector passes, whose kernels are compared with references.

Wrong kernels of them are bugs of a pass, or of two that do not fit together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.operations.convolution import Conv2d, DepthwiseConv2d
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu
from actiondbg.kernels.operations.reduction import Reduction

_START = "convert-linalg-to-affine-loops"
_LEAST_PASSES, _MOST_PASSES = 2, 5

_Choose = Callable[[Sequence[str]], str]
# A pass with its options, from a random choice.
_MakePass = Callable[[_Choose], str]


def _plain(name: str) -> _MakePass:
    return lambda choose: name


def _with(name: str, option: str, *values: str) -> _MakePass:
    """Return a pass with one of some values of an option."""
    return lambda choose: f"{name}{{{option}={choose(values)}}}"


# Passes on affine loops; further below, passes on the scf loops that these become.
_AFFINE: Sequence[_MakePass] = (
    # Several times: that has most wrong kernels.
    *[_with("affine-super-vectorize", "virtual-vector-size", "4", "8", "4,4", "2,8", "3")] * 5,
    _with("affine-loop-tile", "tile-size", "2", "3", "4", "5", "8"),
    _with("affine-loop-tile", "tile-sizes", "2,4,8", "4,4,4", "1,3,5", "8,8,2,2"),
    _with("affine-loop-tile", "separate tile-size", "3", "4"),
    _with("affine-loop-unroll", "unroll-factor", "2", "3", "4", "5", "8"),
    _with("affine-loop-unroll", "unroll-up-to-factor unroll-factor", "3", "4"),
    _with("affine-loop-unroll", "cleanup-unroll unroll-factor", "3", "4"),
    _with("affine-loop-unroll", "unroll-full-threshold", "2", "4"),
    _with("affine-loop-unroll-jam", "unroll-jam-factor", "2", "3", "4"),
    _with("affine-loop-fusion", "mode", "greedy", "producer", "sibling"),
    _with("affine-loop-fusion", "maximal mode", "greedy", "producer"),
    _with("affine-loop-normalize", "promote-single-iter", "0", "1"),
    _with("affine-data-copy-generate", "fast-mem-space=0 fast-mem-capacity", "1", "4", "64"),
    _with("affine-parallelize", "max-nested", "1", "2", "8"),
    _with("affine-parallelize", "parallel-reductions max-nested", "1", "8"),
    _plain("affine-scalrep"),
    _plain("affine-loop-invariant-code-motion"),
    _plain("affine-loop-coalescing"),
    _plain("affine-simplify-structures"),
    _plain("affine-fold-memref-alias-ops"),
    _plain("affine-simplify-min-max"),
    _plain("canonicalize"),
    _plain("cse"),
    _plain("sccp"),
)
_SCF: Sequence[_MakePass] = (
    _with("scf-for-loop-peeling", "skip-partial", "0", "1"),
    _with("scf-for-loop-peeling", "peel-front", "1"),
    _with("scf-parallel-loop-tiling", "parallel-loop-tile-sizes", "2", "4,4", "3,5"),
    _with("scf-parallel-loop-tiling", "no-min-max-bounds parallel-loop-tile-sizes", "3", "4,4"),
    _with("convert-vector-to-scf", "full-unroll", "0", "1"),
    _with("convert-vector-to-scf", "target-rank", "1", "2"),
    _plain("scf-parallel-loop-fusion"),
    _plain("scf-parallel-loop-specialization"),
    _plain("scf-for-loop-specialization"),
    _plain("scf-for-loop-canonicalization"),
    _plain("scf-for-loop-range-folding"),
    _plain("scf-parallel-for-to-nested-fors"),
    _plain("loop-invariant-code-motion"),
    _plain("loop-invariant-subset-hoisting"),
    _plain("canonicalize"),
    _plain("cse"),
)


def random_pipelines(count: int, seed: int = 0) -> list[str]:
    """Return distinct pipelines, the same for the same seed.

    A longer list begins with a shorter one of the same seed.
    """
    choice = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found[_pipeline(choice)] = None
    return list(found)


def small_operations() -> list[Operation]:
    """Return six operations whose kernels take no time, with sizes that tiles do not divide."""
    return [
        Conv2d(1, 9, 9, 4, 8, 3, 3, stride_h=2, stride_w=2),
        Matmul(7, 9, 5),
        DepthwiseConv2d(1, 8, 10, 4, 3, 3),
        MatmulBiasRelu(8, 12, 6),
        Reduction((6, 10, 8), axes=(1,)),
        BatchMatmul(2, 6, 8, 5),
    ]


def random_dispatches(operations: Sequence[Operation], count: int, seed: int = 0) -> list[Dispatch]:
    """Return dispatches of random pipelines for the provider mlir, over the operations in turn.

    Args:
        operations: each gets as many pipelines as the others, or one more.
        count: of dispatches.
        seed: of the pipelines.
    """
    return [
        Dispatch(
            operations[index % len(operations)],
            Configuration("mlir", f"mlir_random_{seed}_{index}", {"pipeline": pipeline}),
        )
        for index, pipeline in enumerate(random_pipelines(count, seed))
    ]


def _pipeline(choice: random.Random) -> str:
    def pick(passes: Sequence[_MakePass], count: int) -> list[str]:
        return [choice.choice(passes)(choice.choice) for _ in range(count)]

    count = choice.randint(_LEAST_PASSES, _MOST_PASSES)
    passes = [_START, *pick(_AFFINE, count)]
    if choice.random() < 0.4:
        passes += ["lower-affine", *pick(_SCF, choice.randint(1, 3))]
    # Some of them run on functions only.
    return f"func.func({','.join(passes)})"
