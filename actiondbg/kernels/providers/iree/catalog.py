"""The configurations of IREE that fit an operation: predefined, for a search, or a user's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Operation, Parameter
from actiondbg.kernels.providers.iree.configurations import (
    CONVOLUTION_PIPELINE,
    LEVELS,
    MATMUL_PIPELINE,
    PARAMETERS,
    GpuTile,
    data_tiling,
    mma_shape,
    own_flags,
    peeled,
    simt,
    tensor_core,
    tiled,
)
from actiondbg.kernels.providers.iree.tiling import (
    convolution_tiling,
    convolution_tilings,
    is_convolution,
    is_product,
    matmul_tiling,
    matmul_tiling_of_whole_vectors,
    matmul_tilings,
    root_loops,
)
from actiondbg.kernels.providers.iree.toolchain import Target, target_of, vector_bytes

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
# IREE refuses vectors of so many registers or more.
_MOST_REGISTERS = 512
_EXAMPLE = "NV_MMA_SYNC_F32_16x8x16_F16"
_INSTRUCTION = r"\w+?_\d+x\d+x\d+_\w+"
# The bytes of shared memory that a workgroup may have.
_SHARED_MEMORY = {
    "sm_80": 163 << 10,
    "sm_86": 99 << 10,
    "sm_89": 99 << 10,
    "sm_90": 227 << 10,
    "gfx90a": 64 << 10,
    "gfx942": 64 << 10,
}


def predefined(operation: Operation, target: Target) -> list[Configuration]:
    """Return the predefined configurations of an operation, the best by rule first."""
    if target.device != "cpu":
        return tensor_core_configurations(operation, target) if _keeps_attribute(operation) else []
    if is_product(operation):
        applied_by = _applied_by(operation)
        tilings = matmul_tilings(operation, vector_bytes())
        found = [tiled(target, each, MATMUL_PIPELINE, applied_by) for each in tilings]
        whole = matmul_tiling_of_whole_vectors(operation, vector_bytes())
        if whole not in tilings:
            found.append(peeled(tiled(target, whole, MATMUL_PIPELINE, applied_by)))
        return [*found, data_tiling(target)]
    if is_convolution(operation):
        tilings = convolution_tilings(operation, vector_bytes())
        return [tiled(target, each, CONVOLUTION_PIPELINE, "stage") for each in tilings]
    return []


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


def find_obstacle(dispatch: Dispatch) -> str | None:
    """Return why a configuration does not fit its operation, as one sentence, or None."""
    configuration = dispatch.configuration
    unknown = sorted(configuration.parameters.keys() - PARAMETERS)
    if unknown:
        return f"iree has no parameter '{unknown[0]}'; it has {', '.join(sorted(PARAMETERS))}."
    try:
        target_of(configuration)
    except UsageError as error:
        return str(error)
    for each in own_flags(configuration):
        if not each.startswith("--"):
            return f"flags must be options of iree-compile, got {each}."
    checks: Sequence[Callable[[Dispatch], str | None]] = (
        _unfit_split,
        _unfit_levels,
        _too_large_vector,
        _unfit_instruction,
        _unaligned_tile,
        _too_much_shared_memory,
    )
    return next((reason for check in checks if (reason := check(dispatch))), None)


def _unfit_split(dispatch: Dispatch) -> str | None:
    slices = dispatch.configuration.parameters.get("split_k_slices", 1)
    if slices == 1:
        return None
    if not isinstance(slices, int) or slices < 1:
        return f"split_k_slices must be a number from 1 on, got {slices}."
    if not is_product(dispatch.operation):
        return f"split_k_slices is for products of matrices, and not for {dispatch.operation.kind}."
    depth = root_loops(dispatch.operation)[-1]
    return f"A sum of {depth} does not divide into {slices} slices." if depth % slices else None


def _unfit_levels(dispatch: Dispatch) -> str | None:
    loops = root_loops(dispatch.operation)
    for level in (*LEVELS, "workgroup", "reduction", "subgroup", "thread"):
        if level not in dispatch.configuration.parameters:
            continue
        sizes = sizes_of(dispatch.configuration.parameters[level])
        if sizes is None:
            return f"{level} must be a list of numbers from 0 on."
        if len(sizes) != len(loops):
            return (
                f"{level} has {len(sizes)} sizes, but {dispatch.operation.kind} has {len(loops)} "
                "loops."
            )
    return None


def _too_large_vector(dispatch: Dispatch) -> str | None:
    parameters = dispatch.configuration.parameters
    parallel = sizes_of(parameters.get("vector_common_parallel", ()))
    reduction = sizes_of(parameters.get("vector_reduction", ()))
    if not parallel or not reduction:
        return None
    loops = zip(root_loops(dispatch.operation), parallel, reduction, strict=True)
    size = prod(one or other or loop for loop, one, other in loops)
    size *= dispatch.operation.accumulator.size
    most = _MOST_REGISTERS * vector_bytes()
    if size < most:
        return None
    return f"A vector of {size} bytes is too large: IREE takes less than {most} on this CPU."


def _unaligned_tile(dispatch: Dispatch) -> str | None:
    parameters = dispatch.configuration.parameters
    tile = _gpu_tile(dispatch)
    if not tile:
        return None
    if not is_product(dispatch.operation):
        return (
            f"A workgroup's tile is of a product of matrices, and not of {dispatch.operation.kind}."
        )
    for size, loop in zip(tile, root_loops(dispatch.operation), strict=True):
        if size and loop % size:
            return f"A loop of {loop} does not divide into tiles of {size}."
    threads = sizes_of(parameters.get("workgroup_size", ()))
    return None if threads and len(threads) == 3 else "workgroup_size must be three numbers."


def _unfit_instruction(dispatch: Dispatch) -> str | None:
    mma = dispatch.configuration.parameters.get("mma_kind")
    if mma is not None and not re.fullmatch(_INSTRUCTION, str(mma)):
        return f"mma_kind must be IREE's name of an instruction, such as {_EXAMPLE}, got {mma}."
    operands = {each.type.value.upper() for each in dispatch.operation.inputs}
    if mma is None or operands == {str(mma).rpartition("_")[2]}:
        return None
    return f"The instruction {mma} does not multiply {' and '.join(sorted(operands)).lower()}."


def _too_much_shared_memory(dispatch: Dispatch) -> str | None:
    parameters = dispatch.configuration.parameters
    most = _SHARED_MEMORY.get(str(parameters.get("arch")))
    tile = _gpu_tile(dispatch)
    if not tile or most is None or not parameters.get("mma_kind"):
        return None
    rows, columns, depth = tile[-3:]
    size = (rows + columns) * depth * dispatch.operation.inputs[0].type.size
    if size <= most:
        return None
    return f"Tiles of {size} bytes do not fit the {most} bytes of shared memory of this GPU."


def _gpu_tile(dispatch: Dispatch) -> list[int]:
    """Return the sizes of a workgroup's tile, those of the sums included; empty for the CPU."""
    parameters = dispatch.configuration.parameters
    tile = sizes_of(parameters.get("workgroup", ())) or []
    depth = sizes_of(parameters.get("reduction", ())) or []
    mma = parameters.get("mma_kind")
    unit = mma_shape(str(mma))[2] if mma else 1
    return [size or sums * unit for size, sums in zip(tile, depth, strict=False)]


def sizes_of(value: Parameter) -> list[int] | None:
    """Return the sizes of a list, or None if it is something else."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    sizes = [each for each in value if isinstance(each, int) and each >= 0]
    return sizes if len(sizes) == len(value) else None
