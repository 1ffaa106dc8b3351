"""Predefined configurations of products of matrices on GPUs."""

from __future__ import annotations

from actiondbg.kernels.model.configuration import Configuration
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.iree.configurations import GpuTile, simt, tensor_core
from actiondbg.kernels.providers.iree.target import Target

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
