"""The configurations of an operation: those predefined, and those that a search may try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.iree.configurations import (
    CONVOLUTION_PIPELINE,
    MATMUL_PIPELINE,
    GpuTile,
    data_tiling,
    peeled,
    simt,
    tensor_core,
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
# The tiles of the dispatch profiler for 16 and for 32 bits.
_TILES_16 = (
    GpuTile((256, 128, 32), 3, (64, 4, 1)),
    GpuTile((128, 256, 32), 3, (128, 2, 1)),
    GpuTile((128, 128, 64), 4, (64, 2, 1)),
    GpuTile((128, 128, 32), 5, (64, 2, 1)),
    GpuTile((128, 64, 32), 5, (64, 2, 1)),
    GpuTile((64, 64, 64), 5, (64, 2, 1)),
    GpuTile((64, 64, 32), 10, (64, 2, 1)),
)
_TILES_32 = (
    GpuTile((128, 256, 16), 3, (128, 2, 1)),
    GpuTile((256, 128, 16), 3, (64, 4, 1)),
    GpuTile((128, 128, 16), 5, (64, 2, 1)),
    GpuTile((128, 128, 32), 3, (64, 2, 1)),
    GpuTile((128, 128, 32), 4, (64, 2, 1)),
    GpuTile((128, 64, 32), 3, (64, 2, 1)),
    GpuTile((128, 64, 16), 5, (64, 2, 1)),
    GpuTile((64, 64, 32), 3, (64, 2, 1)),
    GpuTile((64, 64, 16), 10, (64, 2, 1)),
)
# The instructions by the operands' and the result's type. NVIDIA's have none for f32 in IREE.
_INSTRUCTION_CLASSES = {"cuda": "tensorcore_mmasync", "rocm": "tensorcore_mfma"}
_CUDA = {
    (ElementType.F16, ElementType.F32): "NV_MMA_SYNC_F32_16x8x16_F16",
    (ElementType.F16, ElementType.F16): "NV_MMA_SYNC_F16_16x8x16_F16",
    (ElementType.BF16, ElementType.F32): "NV_MMA_SYNC_F32_16x8x16_BF16",
}
_ROCM = {
    (ElementType.F16, ElementType.F32): "MFMA_F32_16x16x16_F16",
    (ElementType.BF16, ElementType.F32): "MFMA_F32_16x16x16_BF16",
    (ElementType.F32, ElementType.F32): "MFMA_F32_16x16x4_F32",
    (ElementType.I8, ElementType.I32): "MFMA_I32_16x16x32_I8",
}
_INSTRUCTIONS = {"cuda": _CUDA, "rocm": _ROCM}


def predefined(operation: Operation, target: Target) -> list[Configuration]:
    """Return the predefined configurations of an operation, the best by rule first."""
    if target.device != "cpu":
        return tensor_core_configurations(operation, target) if _keeps_attribute(operation) else []
    if is_product(operation):
        return _of_product(operation, target)
    if is_convolution(operation):
        tilings = convolution_tilings(operation, vector_bytes())
        return [tiled(target, each, CONVOLUTION_PIPELINE, "stage") for each in tilings]
    return []


def _of_product(operation: Operation, target: Target) -> list[Configuration]:
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
    return "attribute" if _keeps_attribute(operation) else "stage"


def _keeps_attribute(operation: Operation) -> bool:
    """Whether IREE keeps the attribute of the root: it loses that of one that it rewrites."""
    return operation.kind in _KEEP_ATTRIBUTES


# --- tensor cores ---


def tensor_core_configurations(operation: Operation, target: Target) -> list[Configuration]:
    """Return the predefined configurations of a product of matrices."""
    operands, result = operation.inputs[0].type, operation.result.type
    batch = len(operation.loops) - 3
    mma = _INSTRUCTIONS[target.device].get((operands, result))
    if mma is not None:
        tiles = _TILES_16 if operands.size < 4 else _TILES_32
        instruction = _INSTRUCTION_CLASSES[target.device]
        return [tensor_core(target, tile, (instruction, mma), batch) for tile in tiles]
    if operands.is_float and operands.size >= 4:
        return [simt(target, tile, batch) for tile in _TILES_32]
    return []
