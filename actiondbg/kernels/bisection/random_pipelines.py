"""Random pipelines of affine, loop and vector passes, whose kernels are compared with references.

Wrong kernels of them are bugs of a pass, or of two that do not fit together.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.generic import Reduction
from actiondbg.kernels.operations.matmul import BatchMatmul, Matmul, MatmulBiasRelu
from actiondbg.kernels.operations.windowed import Conv2d, DepthwiseConv2d

_START = "convert-linalg-to-affine-loops"
_LEAST_PASSES, _MOST_PASSES = 2, 5

# Passes on affine loops; further below, passes on the scf loops that affine loops become. The bars
# divide the values of an option, of which a pipeline has one.
_AFFINE: Sequence[str] = (
    # Several times: that has most wrong kernels.
    *["affine-super-vectorize{virtual-vector-size=4|8|4,4|2,8|3}"] * 5,
    "affine-loop-tile{tile-size=2|3|4|5|8}",
    "affine-loop-tile{tile-sizes=2,4,8|4,4,4|1,3,5|8,8,2,2}",
    "affine-loop-tile{separate tile-size=3|4}",
    "affine-loop-unroll{unroll-factor=2|3|4|5|8}",
    "affine-loop-unroll{unroll-up-to-factor unroll-factor=3|4}",
    "affine-loop-unroll{cleanup-unroll unroll-factor=3|4}",
    "affine-loop-unroll{unroll-full-threshold=2|4}",
    "affine-loop-unroll-jam{unroll-jam-factor=2|3|4}",
    "affine-loop-fusion{mode=greedy|producer|sibling}",
    "affine-loop-fusion{maximal mode=greedy|producer}",
    "affine-loop-normalize{promote-single-iter=0|1}",
    "affine-data-copy-generate{fast-mem-space=0 fast-mem-capacity=1|4|64}",
    "affine-parallelize{max-nested=1|2|8}",
    "affine-parallelize{parallel-reductions max-nested=1|8}",
    "affine-scalrep",
    "affine-loop-invariant-code-motion",
    "affine-loop-coalescing",
    "affine-simplify-structures",
    "affine-fold-memref-alias-ops",
    "affine-simplify-min-max",
    "canonicalize",
    "cse",
    "sccp",
)
_SCF: Sequence[str] = (
    "scf-for-loop-peeling{skip-partial=0|1}",
    "scf-for-loop-peeling{peel-front=1}",
    "scf-parallel-loop-tiling{parallel-loop-tile-sizes=2|4,4|3,5}",
    "scf-parallel-loop-tiling{no-min-max-bounds parallel-loop-tile-sizes=3|4,4}",
    "convert-vector-to-scf{full-unroll=0|1}",
    "convert-vector-to-scf{target-rank=1|2}",
    "scf-parallel-loop-fusion",
    "scf-parallel-loop-specialization",
    "scf-for-loop-specialization",
    "scf-for-loop-canonicalization",
    "scf-for-loop-range-folding",
    "scf-parallel-for-to-nested-fors",
    "loop-invariant-code-motion",
    "loop-invariant-subset-hoisting",
    "canonicalize",
    "cse",
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
    """Return dispatches of random pipelines for the provider mlir, over the operations in turn."""
    return [
        Dispatch(
            operations[index % len(operations)],
            Configuration("mlir", f"mlir_random_{seed}_{index}", {"pipeline": pipeline}),
        )
        for index, pipeline in enumerate(random_pipelines(count, seed))
    ]


def _pipeline(choice: random.Random) -> str:
    def pick(passes: Sequence[str], count: int) -> list[str]:
        return [_with_value(choice.choice(passes), choice) for _ in range(count)]

    count = choice.randint(_LEAST_PASSES, _MOST_PASSES)
    passes = [_START, *pick(_AFFINE, count)]
    if choice.random() < 0.4:
        passes += ["lower-affine", *pick(_SCF, choice.randint(1, 3))]
    # Some of them run on functions only.
    return f"func.func({','.join(passes)})"


def _with_value(text: str, choice: random.Random) -> str:
    """Return a pass whose option has a random value of its list."""
    before, equals, values = text.rpartition("=")
    if not equals:
        return text
    return f"{before}={choice.choice(values.removesuffix('}').split('|'))}}}"
