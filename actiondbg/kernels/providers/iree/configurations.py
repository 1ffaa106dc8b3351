"""IREE's configurations as plain data, and the lowerings that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from actiondbg.kernels.model import Configuration, Parameter
from actiondbg.kernels.providers.iree.lowering import Lowering
from actiondbg.kernels.providers.iree.tiling import Tiling
from actiondbg.kernels.providers.iree.toolchain import Target, target_of

PROVIDER = "iree"
LEVELS = ("distribution", "cache_parallel", "vector_common_parallel", "vector_reduction")
_GPU_LISTS = ("workgroup", "reduction", "subgroup", "thread")
# The levels that tile every parallel loop.
_PARALLEL = ("distribution", "cache_parallel", "vector_common_parallel", "workgroup", "thread")
_FLAGS = ("data_tiling", "split_k_slices", "peeling", "flags")
_GENERAL = ("device", "arch", "pipeline", "applied_by", *_FLAGS)
_GPU = (*_GPU_LISTS, "mma_kind", "workgroup_size", "stages")
PARAMETERS = frozenset((*LEVELS, *_GENERAL, *_GPU))

# The pipelines of the CPU by the number of loops of what they are for.
MATMUL_PIPELINE = "DoubleTilingExpert"
CONVOLUTION_PIPELINE = "ConvTileAndDecomposeExpert"


@dataclass(frozen=True)
class GpuTile:
    """A tile of a workgroup on a GPU.

    Attributes:
        shape: the rows and columns of the result, and the length of the sums.
        stages: how many tiles of the operands are in shared memory at a time.
        threads: of a workgroup, in x, y, z.
    """

    shape: tuple[int, int, int]
    stages: int
    threads: tuple[int, int, int]

    @property
    def name(self) -> str:
        """The tile, such as ``128x128_32x5``."""
        rows, columns, depth = self.shape
        return f"{rows}x{columns}_{depth}x{self.stages}"


def data_tiling(target: Target) -> Configuration:
    """Return the configuration in which IREE packs the operands of products of matrices."""
    return configuration(target, "data_tiling", data_tiling=True)


def tiled(target: Target, tiling: Tiling, pipeline: str, applied_by: str) -> Configuration:
    """Return the configuration of tile sizes.

    Args:
        applied_by: "attribute" of the operation in the source, or "stage": the configuration that
            IREE has chosen is replaced in the compiler's output.
    """
    levels = {name: list(sizes) for name, sizes in vars(tiling).items() if sizes}
    name = f"tile_config_{tiling.name}"
    return configuration(target, name, **levels, pipeline=pipeline, applied_by=applied_by)


def peeled(configuration: Configuration) -> Configuration:
    """Return a configuration that splits off the last tiles, if the tiles do not divide a shape.

    Else vectors are masked.
    """
    parameters = {**configuration.parameters, "peeling": True}
    return Configuration(PROVIDER, f"{configuration.name}_peeled", parameters)


def slices_of(configuration: Configuration) -> int:
    """Return into how many slices the sums of a product are split; 1 for whole sums."""
    slices = configuration.parameters.get("split_k_slices", 1)
    return slices if isinstance(slices, int) else 1


def applied_by(configuration: Configuration) -> str:
    """Return how tile sizes are applied: "attribute" or "stage".

    The split of sums makes another operation of the one in the source, which has the attribute.
    """
    by_attribute = configuration.parameters.get("applied_by", "attribute") == "attribute"
    return "attribute" if by_attribute and slices_of(configuration) == 1 else "stage"


def lowering_of(configuration: Configuration) -> Lowering | None:
    """Return the attributes that a configuration demands, or None if it leaves them to IREE."""
    parameters = configuration.parameters
    if "workgroup" in parameters:
        return _gpu_lowering(configuration)
    config = _levels(configuration, LEVELS)
    if not config:
        return None
    peeling = ", {enable_loop_peeling}" if parameters.get("peeling") else ""
    return Lowering("iree_cpu", config, str(parameters.get("pipeline", MATMUL_PIPELINE)), peeling)


def flags_of(configuration: Configuration) -> list[str]:
    """Return the compiler's options that a configuration demands."""
    parameters = configuration.parameters
    flags = ["--iree-opt-data-tiling"] if parameters.get("data_tiling") else []
    slices = slices_of(configuration)
    if slices > 1:
        flags.append(f"--iree-dispatch-creation-split-matmul-reduction={slices}")
    return [*flags, *own_flags(configuration)]


def own_flags(configuration: Configuration) -> list[str]:
    """Return the compiler's options that a user has given, for both halves of a compilation."""
    return [str(each) for each in _elements(configuration.parameters.get("flags", ()))]


def tensor_core(
    target: Target, tile: GpuTile, instruction: tuple[str, str], batch: int = 0
) -> Configuration:
    """Return the configuration of a product of matrices on tensor cores.

    Args:
        instruction: the class of instructions, such as ``tensorcore_mmasync``, and IREE's name of
            the one that is used, such as ``NV_MMA_SYNC_F32_16x8x16_F16``.
        batch: the number of loops over matrices.
    """
    name, mma = instruction
    zeros = [0] * batch
    rows, columns, depth = tile.shape
    mma_rows, mma_columns, mma_depth = mma_shape(mma)
    subgroups = prod(tile.threads) // subgroup_size(target)
    across, down = _grid(subgroups, rows // mma_rows, columns // mma_columns)
    levels: dict[str, Parameter] = {
        "subgroup": [*zeros, rows // down // mma_rows, columns // across // mma_columns, 0],
        "reduction": [*zeros, 0, 0, depth // mma_depth],
        "mma_kind": mma,
        "workgroup_size": [subgroups * subgroup_size(target), 1, 1],
    }
    return _gpu(target, tile, name, batch, levels)


def simt(target: Target, tile: GpuTile, batch: int = 0) -> Configuration:
    """Return the configuration of a product of matrices on a GPU's scalar units."""
    rows, columns, depth = tile.shape
    threads = prod(tile.threads)
    across = min(threads, columns // 4)
    down = threads // across
    levels: dict[str, Parameter] = {
        "thread": [*[1] * batch, rows // down, columns // across, 0],
        "reduction": [*[0] * batch, 0, 0, depth],
        "workgroup_size": [across, down, 1],
    }
    return _gpu(target, tile, "simt_ffma", batch, levels)


def _gpu(
    target: Target, tile: GpuTile, name: str, batch: int, levels: dict[str, Parameter]
) -> Configuration:
    """Return the configuration of a workgroup's tile, with the levels inside it."""
    rows, columns, _ = tile.shape
    return configuration(
        target,
        f"tile_config_{tile.name}_{name}",
        workgroup=[*[1] * batch, rows, columns, 0],
        **levels,
        stages=tile.stages,
        pipeline="TileAndFuse",
        applied_by="attribute",
    )


def mma_shape(mma: str) -> tuple[int, int, int]:
    """Return the shape in the name of an instruction for matrices."""
    sizes = next(part for part in mma.split("_") if part.count("x") == 2)
    rows, columns, depth = (int(size) for size in sizes.split("x"))
    return rows, columns, depth


def subgroup_size(target: Target) -> int:
    """Return the number of threads that a GPU runs in step."""
    return 64 if target.device == "rocm" and target.arch.startswith("gfx9") else 32


def _gpu_lowering(configuration: Configuration) -> Lowering:
    parameters = configuration.parameters
    config = _levels(configuration, _GPU_LISTS)
    mma = parameters.get("mma_kind")
    if mma:
        config["mma_kind"] = f"#iree_gpu.mma_layout<{mma}>"
        config["promote_operands"] = "[0, 1]"
    target = target_of(configuration)
    if mma and target.device == "cuda":
        config["convert_acc_gemm"] = ""  # as IREE chooses it for NVIDIA's instructions
    size = _list(parameters["workgroup_size"])
    options = (
        f"#iree_gpu.pipeline_options<prefetch_num_stages = {parameters.get('stages', 1)}, "
        "no_reduce_shared_memory_bank_conflicts = false>"
    )
    translation = (
        f" workgroup_size = {size} subgroup_size = {subgroup_size(target)}, "
        f"{{gpu_pipeline_options = {options}}}"
    )
    return Lowering("iree_gpu", config, str(parameters["pipeline"]), translation)


def _grid(subgroups: int, rows: int, columns: int) -> tuple[int, int]:
    """Return how many subgroups share a tile in its columns and rows, nearly square."""
    across = next(
        count
        for count in (2, 4, 1, 8)
        if subgroups % count == 0 and columns % count == 0 and rows % (subgroups // count) == 0
    )
    return across, subgroups // across


def configuration(target: Target, name: str, **parameters: Parameter) -> Configuration:
    """Return a configuration, whose name gets those of the provider and the target."""
    arch = {"arch": target.arch} if target.arch else {}
    whole = "_".join(each for each in (PROVIDER, target.name, name) if each)
    return Configuration(PROVIDER, whole, {"device": target.device, **arch, **parameters})


def _levels(configuration: Configuration, names: Sequence[str]) -> dict[str, str]:
    """Return the lists of sizes as MLIR; slices of sums are the first loop."""
    parameters = configuration.parameters
    split = slices_of(configuration) > 1
    return {
        name: _list([*([int(name in _PARALLEL)] if split else []), *_elements(parameters[name])])
        for name in names
        if name in parameters
    }


def _elements(value: Parameter) -> Sequence[int | str]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [str(value)]


def _list(value: Parameter) -> str:
    return f"[{', '.join(str(size) for size in _elements(value))}]"
