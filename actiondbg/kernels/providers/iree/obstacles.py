"""Why a configuration does not fit an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Parameter
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.iree.configurations import LEVELS, PARAMETERS
from actiondbg.kernels.providers.iree.target import make_target, vector_bytes

# IREE refuses vectors of so many registers or more.
_MOST_REGISTERS = 512


def find_obstacle(dispatch: Dispatch) -> str | None:
    """Return why a configuration does not fit its operation, as one sentence, or None."""
    checks: Sequence[Callable[[Dispatch], str | None]] = (
        _unknown_parameter,
        _unknown_target,
        _unfit_split,
        _unfit_levels,
        _too_large_vector,
    )
    return next((reason for check in checks if (reason := check(dispatch))), None)


def _unknown_parameter(dispatch: Dispatch) -> str | None:
    unknown = sorted(dispatch.configuration.parameters.keys() - PARAMETERS)
    if not unknown:
        return None
    return f"iree has no parameter '{unknown[0]}'; it has {', '.join(sorted(PARAMETERS))}."


def _unknown_target(dispatch: Dispatch) -> str | None:
    parameters = dispatch.configuration.parameters
    try:
        make_target(str(parameters.get("device", "cpu")), str(parameters.get("arch", "")))
    except UsageError as error:
        return str(error)
    return None


def _unfit_split(dispatch: Dispatch) -> str | None:
    slices = dispatch.configuration.parameters.get("split_k_slices", 1)
    if slices == 1:
        return None
    sums = [loop.size for loop in dispatch.operation.loops if loop.type == "reduction"]
    if not isinstance(slices, int) or slices < 1:
        return f"split_k_slices must be a number from 1 on, got {slices}."
    if len(sums) != 1:
        return f"split_k_slices needs one sum, and {dispatch.operation.kind} has {len(sums)}."
    if sums[0] % slices:
        return f"A sum of {sums[0]} does not divide into {slices} slices."
    return None


def _unfit_levels(dispatch: Dispatch) -> str | None:
    """Return that a list of sizes does not have a size for each loop."""
    loops = _loop_sizes(dispatch)
    for level in (*LEVELS, "workgroup", "subgroup", "thread"):
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
    """Return that a vector has a size that IREE refuses."""
    parameters = dispatch.configuration.parameters
    parallel = sizes_of(parameters.get("vector_common_parallel", ()))
    reduction = sizes_of(parameters.get("vector_reduction", ()))
    if not parallel or not reduction:
        return None
    rows = zip(_loop_sizes(dispatch), parallel, reduction, strict=True)
    size = prod(one or other or loop for loop, one, other in rows)
    size *= dispatch.operation.accumulator.size
    most = _MOST_REGISTERS * vector_bytes()
    if size < most:
        return None
    return f"A vector of {size} bytes is too large: IREE takes less than {most} on this CPU."


def _loop_sizes(dispatch: Dispatch) -> list[int]:
    """Return the sizes of the root's loops in the compiler: slices of a sum are the first."""
    slices = dispatch.configuration.parameters.get("split_k_slices", 1)
    loops = dispatch.operation.loops
    if not isinstance(slices, int) or slices == 1:
        return [loop.size for loop in loops]
    return [
        slices,
        *(loop.size if loop.type == "parallel" else loop.size // slices for loop in loops),
    ]


def sizes_of(value: Parameter) -> list[int] | None:
    """Return the sizes of a list, or None if it is something else."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    sizes = [each for each in value if isinstance(each, int) and each >= 0]
    return sizes if len(sizes) == len(value) else None
