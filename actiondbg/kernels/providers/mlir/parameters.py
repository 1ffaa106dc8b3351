"""The parameters of configurations: a schedule, a pipeline, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.providers.mlir.lowering import has_bits, split_pipeline
from actiondbg.kernels.providers.mlir.schedule import Schedule, has_windows

_SCHEDULE = {"tile", "vector", "split_k_slices", "partial"}
_BF16_LANES = 8  # of a vector register of 128 bits
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
    """Return why the parameters do not fit the operation, as one sentence, or None."""
    parameters = configuration.parameters
    unknown = sorted(set(parameters) - PARAMETERS)
    if unknown:
        return (
            f"The provider mlir has no parameter '{unknown[0]}': use {', '.join(sorted(_SCHEDULE))}"
            " or pipeline."
        )
    if _PIPELINE & set(parameters):
        return _pipeline_obstacle(configuration)
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


def _pipeline_obstacle(configuration: Configuration) -> str | None:
    if _SCHEDULE & set(configuration.parameters):
        return "A configuration has either a pipeline or tile and vector sizes, not both."
    try:
        split_pipeline(pipeline_of(configuration))
    except ValueError as error:
        return str(error)
    return None


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
