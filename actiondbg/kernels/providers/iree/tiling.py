"""The loops of an operation as IREE's code generation gets them, and tile sizes for the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from actiondbg.kernels.model import Operation

_PRODUCTS = ("linalg.matmul", "linalg.batch_matmul")
_CHANNELS_LAST = "linalg.conv_2d_nhwc_hwcf"
# The loops of convolutions: image, row, column and channel of the result, row and column of the
# filter, channel of the input.
_CONVOLUTIONS = {
    _CHANNELS_LAST: ("n", "oh", "ow", "oc", "kh", "kw", "ic"),
    "linalg.conv_2d_nchw_fchw": ("n", "oc", "oh", "ow", "ic", "kh", "kw"),
}


def root_loops(operation: Operation) -> list[int]:
    """Return the sizes of the root's loops; those of the parallel ones are first."""
    sizes = [loop.size for loop in operation.loops]
    if not is_pointwise(operation):
        return sizes
    *pixels, channels, _, _, inner = sizes
    return [prod(pixels), channels, inner]


def is_product(operation: Operation) -> bool:
    """Whether the root is a product of matrices, with the loops m, n, k after those of a batch."""
    return operation.root in _PRODUCTS or is_pointwise(operation)


def is_convolution(operation: Operation) -> bool:
    """Whether the root is a convolution of images.

    IREE makes something else of one by a filter of 1 x 1, with strides too.
    """
    return operation.root in _CONVOLUTIONS and not _has_filter_of_one(operation)


def convolution_loops(convolution: Operation) -> dict[str, int]:
    """Return the sizes of a convolution's loops by their names, in their order."""
    sizes = (loop.size for loop in convolution.loops)
    return dict(zip(_CONVOLUTIONS[convolution.root], sizes, strict=True))


def is_pointwise(operation: Operation) -> bool:
    """Whether the root is a convolution by a filter of 1 x 1 that IREE makes a product."""
    if operation.root != _CHANNELS_LAST or not _has_filter_of_one(operation):
        return False
    loops = convolution_loops(operation)
    return operation.inputs[0].shape[1:3] == (loops["oh"], loops["ow"])


def _has_filter_of_one(convolution: Operation) -> bool:
    loops = convolution_loops(convolution)
    return loops["kh"] == loops["kw"] == 1


@dataclass(frozen=True)
class Tiling:
    """The tile sizes of IREE's levels, one number a loop; 0 for a loop that the level leaves.

    Attributes:
        distribution: the tile of a workgroup.
        cache_parallel: the tile that stays in a cache; empty for none.
        vector_common_parallel: the vector of the result.
        vector_reduction: the vector of the sums.
    """

    distribution: tuple[int, ...]
    cache_parallel: tuple[int, ...]
    vector_common_parallel: tuple[int, ...]
    vector_reduction: tuple[int, ...]

    @property
    def name(self) -> str:
        """The tiles of the parallel loops, and the vector, such as ``64x64_4x16x1``."""
        loops = range(len(self.distribution))
        vector = [self.vector_common_parallel[i] or self.vector_reduction[i] for i in loops]
        tile = [size for size in self.distribution if size]
        cache = [size for size in self.cache_parallel if size]
        parts = [tile, *([cache] if cache and cache != tile else []), vector]
        return "_".join("x".join(str(size) for size in part) for part in parts)


def matmul_tilings(operation: Operation, vector: int) -> list[Tiling]:
    """Return tilings for a product of matrices, in the order of preference.

    The accumulators take half of the vector registers: 2 registers wide, so that a loaded row of
    the right operand is used for each of 4 rows, or 8 where there are 32 registers.

    Args:
        operation: of the loops m, n, k, after those of a batch.
        vector: the size of a register in bytes.
    """
    *batch, m, n, k = root_loops(operation)
    rows = 8 if vector == 64 else 4
    width = vector // operation.accumulator.size
    choices = [
        *(((64, 64), (rows, 2), step) for step in _steps(vector)),
        ((64, 128), (rows, 2), 1),
        ((128, 128), (rows, 2), 1),
        ((6 * rows, 64), (rows + rows // 2, 2), 1),
        ((64, 64), (rows, 1), 1),
        ((64, 64), (2 * rows, 1), 1),
    ]
    found: list[Tiling] = []
    for (tile_rows, tile_columns), (height, registers), step in choices:
        vectors = (_close_divisor(height, m), _lanes(registers, width, n))
        tile = (_multiple(vectors[0], tile_rows, m), _multiple(vectors[1], tile_columns, n))
        found.append(matmul_tiling(len(batch), tile, vectors, step if k % step == 0 else 1))
    return list(dict.fromkeys(found))


def matmul_tiling_of_whole_vectors(operation: Operation, vector: int) -> Tiling:
    """Return the first tiling for shapes that divide: for those that do not, to be peeled."""
    rows = 8 if vector == 64 else 4
    lanes = 2 * vector // operation.accumulator.size
    return matmul_tiling(len(root_loops(operation)) - 3, (64, 64), (rows, lanes), _steps(vector)[0])


def matmul_tiling(
    batch: int, tile: tuple[int, int], vector: tuple[int, int], reduction: int
) -> Tiling:
    """Return the tiling of a product of matrices, with tiles of one matrix of a batch."""
    ones, zeros = (1,) * batch, (0,) * batch
    return Tiling(
        (*ones, *tile, 0), (*ones, *tile, 0), (*ones, *vector, 0), (*zeros, 0, 0, reduction)
    )


def convolution_tilings(operation: Operation, vector: int) -> list[Tiling]:
    """Return tilings for a convolution of images, in the order of preference.

    Vectors are of what is contiguous: channels, or the pixels of a row.
    """
    loops = convolution_loops(operation)
    rows = 8 if vector == 64 else 4
    width = vector // operation.accumulator.size
    shapes: list[tuple[int, int]] = []
    if operation.root == _CHANNELS_LAST:  # of a pixel, beside each other
        for pixels, registers in ((rows, 2), (rows + rows // 2, 2), (2 * rows, 1), (rows, 1)):
            lanes = _lanes(registers, width, loops["oc"])
            shapes.append((_divisor(pixels, loops["ow"]), lanes))
    else:
        pixels = _divisor(width, loops["ow"])
        shapes += [(pixels, _divisor(count, loops["oc"])) for count in (2 * rows, rows)]
    steps = [step for step in (4, 1) if loops["ic"] % step == 0]
    found = [
        convolution_tiling(operation, (8, 64), shape, step) for shape in shapes for step in steps
    ]
    return list(dict.fromkeys(found))


def convolution_tiling(
    operation: Operation, tile: tuple[int, int], vector: tuple[int, int], reduction: int
) -> Tiling:
    """Return the tiling of a convolution of images.

    Args:
        tile: rows of pixels and channels of a workgroup's tile.
        vector: pixels of a row, and channels, in registers.
        reduction: input channels that are added at a time.
    """
    loops = convolution_loops(operation)
    rows, channels = tile
    workgroup = {
        "n": 1,
        "oh": min(rows, loops["oh"]),
        "ow": loops["ow"],
        "oc": min(channels, loops["oc"]),
    }
    parallel = {"n": 1, "oh": 1, "ow": vector[0], "oc": vector[1]}
    sums = {"kh": 1, "kw": 1, "ic": reduction}

    def of_loops(sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(sizes.get(name, 0) for name in loops)

    return Tiling(of_loops(workgroup), (), of_loops(parallel), of_loops(sums))


def _steps(vector: int) -> tuple[int, int]:
    """Return the numbers of products that are added at a time, the fastest first."""
    return (4, 1) if vector == 64 else (1, 4)


def _lanes(registers: int, width: int, size: int) -> int:
    """Return the elements of a row of a vector: whole registers that divide a size, if any do."""
    whole = (width * count for count in range(registers, 0, -1))
    return next((lanes for lanes in whole if size % lanes == 0), _close_divisor(width, size))


def _close_divisor(wanted: int, size: int) -> int:
    """Return a divisor of a size up to the wanted number, or that number if all are far from it.

    Code for tiles that do not divide is masked, and several times slower.
    """
    divisor = _divisor(wanted, size)
    return divisor if 2 * divisor >= min(wanted, size) else wanted


def _divisor(wanted: int, size: int) -> int:
    """Return the largest divisor of a size up to the wanted number."""
    return next(number for number in range(min(wanted, size), 0, -1) if size % number == 0)


def _multiple(vector: int, wanted: int, size: int) -> int:
    """Return a multiple of a vector up to a number, one that divides a size if any does."""
    candidates = range(wanted - wanted % vector, 0, -vector)
    return next((number for number in candidates if size % number == 0), wanted)
