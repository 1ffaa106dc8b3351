"""The predefined schedules of each kind, by the width of the CPU's vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actiondbg.errors import UsageError
from actiondbg.kernels.model.configuration import Parameter
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.mlir.schedule import Schedule


def predefined_schedules(operation: Operation, vector_bits: int) -> list[Schedule]:
    """Return the schedules of an operation, the one that is best on most shapes first."""
    lanes = vector_bits // operation.accumulator.bits
    rows = 8 if vector_bits >= 512 else 4
    return [
        Schedule((64, 64, 256), (rows, 2 * lanes, 1)),
        Schedule((64, 64, 0), (rows, 2 * lanes, 4)),
        Schedule((64, 64, 256), (rows + rows // 2, 2 * lanes, 1)),
        Schedule((64, 64, 128), (rows, lanes, 4)),
    ]


def schedule_space(operation: Operation, vector_bits: int) -> Mapping[str, Sequence[Parameter]]:
    """Return the parameters that a search may vary: the sizes for each loop, with their choices."""
    lanes = vector_bits // operation.accumulator.bits
    parallel = [index for index, loop in enumerate(operation.loops) if loop.type == "parallel"]
    space: dict[str, Sequence[Parameter]] = {}
    for index, loop in enumerate(operation.loops):
        if index == parallel[-1]:
            tiles, vectors = [0, 32, 64, 128, 256], [lanes // 2, lanes, 2 * lanes, 4 * lanes]
        elif loop.type == "parallel":
            tiles, vectors = [0, 8, 16, 32, 64, 128], [1, 2, 4, 6, 8, 12, 16]
        else:
            tiles, vectors = [0, 64, 128, 256, 512], [1, 2, 4, 8]
        space[f"tile_{index}"] = _fitting(tiles, loop.size)
        space[f"vector_{index}"] = _fitting(vectors, loop.size)
    return space


def schedule_of_choice(operation: Operation, choice: Mapping[str, Parameter]) -> Schedule:
    """Return the schedule of one choice for each parameter of the space.

    Raises:
        UsageError: a parameter is missing, or is no integer.
    """
    sizes: dict[str, list[int]] = {"tile": [], "vector": []}
    for index in range(len(operation.loops)):
        for name, values in sizes.items():
            value = choice.get(f"{name}_{index}")
            if not isinstance(value, int):
                raise UsageError(
                    f"A choice for {operation.name} needs an integer '{name}_{index}', got {value}."
                )
            values.append(value)
    return Schedule(tuple(sizes["tile"]), tuple(sizes["vector"]))


def _fitting(sizes: Sequence[int], loop: int) -> list[int]:
    """Return the sizes that a loop has room for, at least one."""
    return [size for size in sizes if size <= loop] or [loop]
