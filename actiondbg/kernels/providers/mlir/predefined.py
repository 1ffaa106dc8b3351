"""The parameters of configurations, and the predefined schedules of each kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, ElementType, Loop, Operation, Parameter
from actiondbg.kernels.providers.mlir.schedule import (
    Schedule,
    function_lanes,
    has_bits,
    has_windows,
    reduces_rows,
)

_CONVOLUTION_LOOPS = 7
_CHANNELS = 64  # of the input, of which a slice of the filter is added up at a time
# A sum of loops with a factor, in the map of an operand.
_STRIDED = re.compile(r"affine_map<[^>]*-> \([^)>]*\* \d[^)>]*\+")
_SCHEDULE = {"tile", "vector", "split_k_slices", "partial"}
_BF16_LANES = 8  # of a vector register of 128 bits
_MODULE = "builtin.module("
_CLOSING = {"{": "}", "(": ")"}
_PIPELINE = {"pipeline"}
PARAMETERS = frozenset(_SCHEDULE | _PIPELINE)


def schedule_of(configuration: Configuration) -> Schedule | None:
    """Return the schedule of a configuration without obstacle, or None if it has none."""
    parameters = configuration.parameters
    if "vector" not in parameters:
        return None
    vector = _sizes(parameters, "vector")
    tile = _sizes(parameters, "tile") or [0] * len(vector)
    slices = parameters.get("split_k_slices", 1)
    assert isinstance(slices, int)
    return Schedule(tuple(tile), tuple(vector), slices, bool(parameters.get("partial", False)))


def pipeline_of(configuration: Configuration) -> str:
    """Return the pipeline of a configuration, or ""."""
    pipeline = configuration.parameters.get("pipeline", "")
    return pipeline if isinstance(pipeline, str) else ",".join(map(str, _items(pipeline)))


def parameters_obstacle(operation: Operation, configuration: Configuration) -> str | None:
    parameters = configuration.parameters
    unknown = sorted(set(parameters) - PARAMETERS)
    if unknown:
        return (
            f"The provider mlir has no parameter '{unknown[0]}': use {', '.join(sorted(_SCHEDULE))}"
            " or pipeline."
        )
    if _PIPELINE & set(parameters):
        if _SCHEDULE & set(parameters):
            return "A configuration has either a pipeline or tile and vector sizes, not both."
        try:
            split_pipeline(pipeline_of(configuration))
        except ValueError as error:
            return str(error)
        return None
    if "tile" in parameters and "vector" not in parameters:
        return "A schedule needs the parameter 'vector', with a size for each loop."
    if "vector" in parameters and has_bits(operation.body("%out", "")):
        return (
            f"{operation.name} has tensors of i1, of which MLIR cannot store vectors: use the "
            "default or a pipeline."
        )
    for name in ("tile", "vector"):
        obstacle = _sizes_obstacle(operation, parameters, name)
        if obstacle is not None:
            return obstacle
    return _reduction_obstacle(operation, parameters)


def _reduction_obstacle(operation: Operation, parameters: Mapping[str, Parameter]) -> str | None:
    reductions = [loop.size for loop in operation.loops if loop.type == "reduction"]
    slices, partial = parameters.get("split_k_slices", 1), parameters.get("partial", False)
    if not isinstance(partial, bool):
        return f"The parameter 'partial' must be true or false, got {partial}."
    if isinstance(slices, bool) or not isinstance(slices, int) or slices < 1:
        return f"The parameter 'split_k_slices' must be an integer of at least 1, got {slices}."
    if not reductions and (partial or slices > 1):
        return f"{operation.root} of {operation.name} has no reduction to split."
    if slices > 1 and partial:
        return "A reduction is either split into slices or partial, not both."
    if slices > 1 and has_windows(operation.body("%out", "")):
        return f"The reductions of {operation.root} cannot be split into slices: use 1 slice."
    if slices > 1 and reductions[0] % slices:
        return f"The reduction of {reductions[0]} cannot be split into {slices} equal slices."
    return _bf16_obstacle(operation, _sizes(parameters, "vector"))


def _bf16_obstacle(operation: Operation, vector: Sequence[int]) -> str | None:
    """Return that llc aborts ("soft promote this operator's operand"), or None.

    LLVM 22 cannot select the minimum or maximum of a vector of bf16 and a number where one element
    of the vector is beyond a multiple of 8.
    """
    last = operation.loops[-1]
    if not vector or operation.extreme is None or last.type != "reduction":
        return None
    if operation.result.type is not ElementType.BF16:
        return None
    for length in (min(vector[-1], last.size), last.size % vector[-1]):
        if length > _BF16_LANES and length % _BF16_LANES == 1:
            return (
                f"llc aborts on the {operation.extreme} of {length} elements of bf16: use "
                f"vectors whose length, and the rest of {last.size}, are no {_BF16_LANES} n + 1."
            )
    return None


def split_pipeline(pipeline: str) -> list[str]:
    """Split the text of a pipeline at the commas between passes.

    Raises:
        ValueError: brackets are unbalanced; the message is a sentence.
    """
    passes, expected = [""], ""
    text = pipeline.strip()
    if text.startswith(_MODULE) and text.endswith(")"):
        text = text[len(_MODULE) : -1]
    for character in text:
        if character in _CLOSING:
            expected += _CLOSING[character]
        elif character in _CLOSING.values():
            if not expected.endswith(character):
                break
            expected = expected[:-1]
        if character == "," and not expected:
            passes.append("")
        else:
            passes[-1] += character
    else:
        if not expected:
            return [each.strip() for each in passes if each.strip()]
    raise ValueError(
        f"The brackets of the pipeline '{pipeline}' are unbalanced: write "
        "pass{option=value},pass."
    )


def _sizes_obstacle(
    operation: Operation, parameters: Mapping[str, Parameter], name: str
) -> str | None:
    if name not in parameters:
        return None
    least, sizes, loops = (1 if name == "vector" else 0), parameters[name], operation.loops
    if isinstance(sizes, int | str) or not all(
        isinstance(size, int) and size >= least for size in sizes
    ):
        return (
            f"The parameter '{name}' must be a list of integers of at least {least}, got {sizes}."
        )
    if len(sizes) != len(loops):
        return (
            f"The parameter '{name}' has {len(sizes)} sizes, but {operation.root} has "
            f"{len(loops)} loops."
        )
    return None


def _sizes(parameters: Mapping[str, Parameter], name: str) -> list[int]:
    return [int(size) for size in _items(parameters.get(name, []))]


def _items(value: Parameter) -> Sequence[int | str]:
    return [] if isinstance(value, int | str) else value


def predefined_schedules(operation: Operation, vector_bits: int) -> list[Schedule]:
    """Return the schedules of an operation, the fastest on most shapes first."""
    body = operation.body("%out", "")
    if not operation.loops or has_bits(body) or "tensor.extract " in body:
        return []  # MLIR leaves operations that read by indices without vectors
    lanes = vector_bits // operation.accumulator.bits
    roles = _roles(operation)
    if all(loop.type == "parallel" for loop in operation.loops):
        has_functions = "math." in body
        width = function_lanes(operation, vector_bits) if has_functions else 2 * lanes
        schedules = _elementwise(operation, roles, width)
    elif roles.columns is None or (not has_windows(body) and len(operation.inputs) == 1):
        schedules = _reductions(operation, roles, lanes)
    else:
        schedules = _contractions(operation, roles, lanes, rows=8 if vector_bits >= 512 else 4)
    return list({schedule.name: schedule for schedule in schedules}.values())


@dataclass(frozen=True)
class _Roles:
    """The loops of a register tile, by their indices; None for a loop that there is not.

    Attributes:
        columns: the loop whose iterations become lanes of a vector.
        rows: the loop whose iterations become vectors.
        reduction: the loop of which a vector operation takes several iterations.
    """

    columns: int | None
    rows: int | None
    reduction: int | None

    def sizes(self, count: int, columns: int, rows: int = 1, reduction: int = 1) -> tuple[int, ...]:
        """Return a size for each of the loops, 1 for those without a role."""
        sizes = [1] * count
        for role, size in (
            (self.reduction, reduction),
            (self.rows, rows),
            (self.columns, columns),
        ):
            if role is not None:
                sizes[role] = size
        return tuple(sizes)


def _roles(operation: Operation) -> _Roles:
    types = [loop.type for loop in operation.loops]
    parallel = [index for index, each in enumerate(types) if each == "parallel"]
    reductions = [index for index, each in enumerate(types) if each == "reduction"]
    columns = parallel[-1] if parallel else None
    rows = parallel[-2] if len(parallel) > 1 else None
    reduction = reductions[-1] if reductions else None
    if "_nchw" in operation.root:
        # A tile has one row of the image and of the window: loops n, f, h, w, c, kh, kw.
        rows = 1
        reduction = reductions[0] if len(reductions) > 2 else None
    if _STRIDED.search(operation.body("%out", "")):
        rows = None  # windows at a distance, of an operation that cannot become one-dimensional
    return _Roles(columns, rows, reduction)


def _elementwise(operation: Operation, roles: _Roles, width: int) -> list[Schedule]:
    count = len(operation.loops)
    tile = (0,) * count
    return [
        Schedule(tile, roles.sizes(count, width)),
        Schedule(tile, roles.sizes(count, 2 * width)),
        Schedule(tile, roles.sizes(count, width // 2)),
        Schedule(tile, roles.sizes(count, width, rows=4)),
    ]


def _reductions(operation: Operation, roles: _Roles, lanes: int) -> list[Schedule]:
    count = len(operation.loops)
    if operation.loops[-1].type == "reduction":
        sizes = ((2 * lanes, 4), (4 * lanes, 1), (lanes, 4))
        last = _Roles(roles.reduction, roles.columns, None)
        tile = (0,) * count
        return [
            Schedule(tile, last.sizes(count, width, rows), partial=True) for width, rows in sizes
        ]
    schedules: list[Schedule] = []
    for width, rows in ((4 * lanes, 1), (2 * lanes, 4), (lanes, 8)):
        vector = roles.sizes(count, width, reduction=rows)
        loops = zip(vector, operation.loops, strict=True)
        # The loop over the result is the outer one, such that sums stay in registers.
        tile = tuple(size if loop.type == "parallel" else 0 for size, loop in loops)
        schedules.append(Schedule(tile, vector))
    return schedules


def _contractions(operation: Operation, roles: _Roles, lanes: int, rows: int) -> list[Schedule]:
    loops, body = operation.loops, operation.body("%out", "")
    count = len(loops)
    more_rows = rows + rows // 2
    if has_windows(body):
        # All of a row of the image, so that the windows of neighbours come from the cache.
        tiles = [(1, 4, *[0] * (count - 2)), (1, 1, *[0] * (count - 2)), (0,) * count]
        if "_nchw" in operation.root:
            tiles = [(1, *[0] * (count - 1)), (1, 0, 1, *[0] * (count - 3)), (0,) * count]
        tiles.insert(1, tiles[0])
        shapes = [
            (2 * lanes, rows, 4),
            (2 * lanes, more_rows, 1),
            (2 * lanes, rows, 1),
            (lanes, rows, 4),
        ]
        pixels = loops[roles.rows].size if roles.rows is not None else 0
        if count == _CONVOLUTION_LOOPS and "_nhwc" in operation.root and pixels % rows:
            # Vectors of so many pixels that no rest is left, and a slice of the filter in a cache.
            tiles.insert(0, (1, 0, 0, 2 * lanes, 1, 1, _CHANNELS))
            shapes.insert(0, (2 * lanes, _divisor(pixels, 2 * rows - 2), 1))
    else:
        rank = len([loop for loop in loops if loop.type == "parallel"])
        # Operations behind the root that reduce its rows need all of a row.
        small, large = ((16, 0), (24, 0)) if reduces_rows(operation) else ((64, 64), (96, 256))
        tiles: list[tuple[int, ...]] = []
        for (height, width), deep in ((small, 256), (large, 256), (small, 0), (small, 128)):
            parallel = [*[1] * rank, height, width][-rank:]
            tiles.append((*parallel, *[deep] * (count - rank)))
        shapes = [
            (2 * lanes, rows, 1),
            (2 * lanes, more_rows, 1),
            (2 * lanes, rows, 4),
            (lanes, rows, 4),
        ]
    return [
        Schedule(_ordered(tile, loops), roles.sizes(count, *shape))
        for tile, shape in zip(tiles, shapes, strict=True)
    ]


def _divisor(size: int, most: int) -> int:
    return next(number for number in range(min(most, size), 0, -1) if size % number == 0)


def _ordered(sizes: Sequence[int], loops: Sequence[Loop]) -> tuple[int, ...]:
    """Bring sizes of parallel loops, then of reductions, into the order of the loops."""
    parallel = len([loop for loop in loops if loop.type == "parallel"])
    first, second = iter(sizes[:parallel]), iter(sizes[parallel:])
    return tuple(next(first if loop.type == "parallel" else second) for loop in loops)


def schedule_space(operation: Operation, vector_bits: int) -> Mapping[str, Sequence[Parameter]]:
    """Return the parameters that a search may vary: the sizes for each loop, with their choices."""
    lanes = vector_bits // operation.accumulator.bits
    columns = _roles(operation).columns
    space: dict[str, Sequence[Parameter]] = {}
    for index, loop in enumerate(operation.loops):
        if index == columns:
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
