"""Why a configuration does not fit an operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import prod

from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Parameter
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.iree.configurations import LEVELS, PARAMETERS, mma_shape, own_flags
from actiondbg.kernels.providers.iree.root import is_product, root_loops
from actiondbg.kernels.providers.iree.target import target_of, vector_bytes

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


def find_obstacle(dispatch: Dispatch) -> str | None:
    """Return why a configuration does not fit its operation, as one sentence, or None."""
    checks: Sequence[Callable[[Dispatch], str | None]] = (
        _unknown_parameter,
        _unknown_target,
        _unfit_flags,
        _unfit_split,
        _unfit_levels,
        _too_large_vector,
        _unfit_instruction,
        _unaligned_tile,
        _too_much_shared_memory,
    )
    return next((reason for check in checks if (reason := check(dispatch))), None)


def _unknown_parameter(dispatch: Dispatch) -> str | None:
    unknown = sorted(dispatch.configuration.parameters.keys() - PARAMETERS)
    if not unknown:
        return None
    return f"iree has no parameter '{unknown[0]}'; it has {', '.join(sorted(PARAMETERS))}."


def _unknown_target(dispatch: Dispatch) -> str | None:
    try:
        target_of(dispatch.configuration)
    except UsageError as error:
        return str(error)
    return None


def _unfit_flags(dispatch: Dispatch) -> str | None:
    flags = own_flags(dispatch.configuration)
    wrong = next((each for each in flags if not each.startswith("--")), None)
    return None if wrong is None else f"flags must be options of iree-compile, got {wrong}."


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
