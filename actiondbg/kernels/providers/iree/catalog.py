"""The configurations of an operation: those predefined, and those that a search may try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.iree import tensor_cores
from actiondbg.kernels.providers.iree.configurations import (
    CONVOLUTION_PIPELINE,
    MATMUL_PIPELINE,
    data_tiling,
    peeled,
    tiled,
)
from actiondbg.kernels.providers.iree.root import is_convolution, is_product, root_loops
from actiondbg.kernels.providers.iree.target import Target, vector_bytes
from actiondbg.kernels.providers.iree.tiling import (
    convolution_tiling,
    convolution_tilings,
    matmul_tiling,
    matmul_tiling_of_whole_vectors,
    matmul_tilings,
)

_KEEP_ATTRIBUTES = ("matmul", "batch_matmul")
_TILES = (16, 32, 64, 128, 256)
_HEIGHTS = (1, 2, 4, 6, 8, 12, 16)
_STEPS = (1, 2, 4, 8)


def predefined(operation: Operation, target: Target) -> list[Configuration]:
    """Return the predefined configurations of an operation, the best by rule first."""
    if target.device != "cpu":
        return tensor_cores.predefined(operation, target) if _keeps_attribute(operation) else []
    if is_product(operation):
        return _of_product(operation, target)
    if is_convolution(operation):
        tilings = convolution_tilings(operation, vector_bytes())
        return [tiled(target, each, CONVOLUTION_PIPELINE, "stage") for each in tilings]
    return []


def _of_product(operation: Operation, target: Target) -> list[Configuration]:
    """Return the configurations of a product of matrices on the CPU."""
    applied_by = _applied_by(operation)
    tilings = matmul_tilings(operation, vector_bytes())
    found = [tiled(target, each, MATMUL_PIPELINE, applied_by) for each in tilings]
    whole = matmul_tiling_of_whole_vectors(operation, vector_bytes())
    if whole not in tilings:
        found.append(peeled(tiled(target, whole, MATMUL_PIPELINE, applied_by)))
    return [*found, data_tiling(target)]


def space(operation: Operation, target: Target) -> dict[str, Sequence[Parameter]]:
    """Return the sizes that a search may vary."""
    width = vector_bytes() // operation.accumulator.size
    lanes = [width * registers for registers in (1, 2, 3, 4)]
    if target.device != "cpu":
        return {}
    if is_product(operation):
        return {
            "tile_m": _TILES,
            "tile_n": _TILES,
            "vector_m": _HEIGHTS,
            "vector_n": lanes,
            "vector_k": _STEPS,
        }
    if is_convolution(operation):
        return {
            "tile_h": (1, 2, 4, 8, 16),
            "tile_c": _TILES,
            "vector_w": (*_HEIGHTS, 7, 14),
            "vector_c": lanes,
            "vector_k": _STEPS,
        }
    return {}


def chosen(operation: Operation, target: Target, choice: Mapping[str, Parameter]) -> Configuration:
    """Return the configuration of a choice of sizes.

    Raises:
        UsageError: a size is missing.
    """
    missing = [name for name in space(operation, target) if name not in choice]
    if missing:
        raise UsageError(f"The choice has no {missing[0]}; iree needs a size for each parameter.")
    sizes = {name: int(str(value)) for name, value in choice.items()}
    if is_convolution(operation):
        tiling = convolution_tiling(
            operation,
            (sizes["tile_h"], sizes["tile_c"]),
            (sizes["vector_w"], sizes["vector_c"]),
            sizes["vector_k"],
        )
        return tiled(target, tiling, CONVOLUTION_PIPELINE, "stage")
    tiling = matmul_tiling(
        len(root_loops(operation)) - 3,
        (sizes["tile_m"], sizes["tile_n"]),
        (sizes["vector_m"], sizes["vector_n"]),
        sizes["vector_k"],
    )
    return tiled(target, tiling, MATMUL_PIPELINE, _applied_by(operation))


def _applied_by(operation: Operation) -> str:
    """Return how a configuration is applied."""
    return "attribute" if _keeps_attribute(operation) else "stage"


def _keeps_attribute(operation: Operation) -> bool:
    """Whether IREE keeps the attribute of the root: it loses that of one that it rewrites."""
    return operation.kind in _KEEP_ATTRIBUTES
