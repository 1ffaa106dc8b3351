"""IREE's configurations as plain data, and the lowerings that they mean: written, read back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from actiondbg.kernels.model import Configuration, Parameter
from actiondbg.kernels.providers.iree.tiling import Tiling
from actiondbg.kernels.providers.iree.toolchain import Target, target_of

Dialect = Literal["iree_cpu", "iree_gpu"]

_CONFIG = re.compile(r"lowering_config = #(iree_\w+)\.lowering_config<")
_TRANSLATION = re.compile(r"translation_info = #iree_codegen\.translation_info<")
# Older versions print the name alone.
_PIPELINE = re.compile(r"pipeline=(?:#iree_\w+\.pipeline<)?(\w+)")
_OPERATION = re.compile(r"= (\w+\.\w+) ")
_ATTRIBUTES = re.compile(r" (?:attrs = +)?\{$")
_VECTOR = "vector_common_parallel"
_OPENING, _CLOSING = "<[{(", ">]})"
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
class Lowering:
    """The attributes of a root operation.

    Attributes:
        dialect: of the attributes: the CPU's or the GPUs'.
        config: the entries of the lowering_config, as MLIR; "" for an entry without a value.
        translation: what follows the pipeline in the translation_info, as MLIR; begins with the
            blank or comma that parts them.
    """

    dialect: Dialect
    config: Mapping[str, str]
    pipeline: str
    translation: str = ""

    @property
    def lowering_config(self) -> str:
        """The attribute of the operation."""
        pairs = sorted(self.config.items())  # as IREE prints them
        entries = ", ".join(f"{key} = {value}" if value else key for key, value in pairs)
        content = f"{{{entries}}}" if self.dialect == "iree_gpu" else entries
        return f"#{self.dialect}.lowering_config<{content}>"

    @property
    def compilation_info(self) -> str:
        """The attribute of an operation of a program, which IREE hands on to its dispatch."""
        return (
            f"compilation_info = #iree_codegen.compilation_info<"
            f"lowering_config = {self.lowering_config}, "
            f"translation_info = {self.translation_info}>"
        )

    @property
    def translation_info(self) -> str:
        """The attribute of the function of the operation's dispatch."""
        return (
            f"#iree_codegen.translation_info<"
            f"pipeline = #{self.dialect}.pipeline<{self.pipeline}>{self.translation}>"
        )


@dataclass(frozen=True)
class LoweredOperation:
    """An operation of the stage ``executable-configurations`` that has a lowering_config.

    Attributes:
        operation: its name, such as ``linalg.generic``.
        config: the entries of its lowering_config; values without blanks.
        translation: the translation_info of its function, without blanks.
        span: where the lowering_config is in the text of the stage.
        function_span: where the translation_info is.
    """

    operation: str
    config: Mapping[str, str]
    translation: str
    span: tuple[int, int]
    function_span: tuple[int, int]

    def has(self, lowering: Lowering) -> bool:
        """Whether these are the attributes of a lowering."""
        wanted = {key: _compact(value) for key, value in lowering.config.items()}
        return self.config == wanted and self.translation == _compact(lowering.translation_info)

    @property
    def pipeline(self) -> str:
        found = _PIPELINE.search(self.translation)
        return found.group(1) if found else ""

    @property
    def levels(self) -> int:
        """The number of the operation's loops, by its longest list of tile sizes."""
        lists = [value for value in self.config.values() if re.fullmatch(r"\[[\d,]+\]", value)]
        return max((value.count(",") + 1 for value in lists), default=0)

    def __str__(self) -> str:
        entries = ", ".join(f"{key} {value}".strip() for key, value in sorted(self.config.items()))
        return f"{entries} by {self.pipeline}"


def read_lowerings(stage: str) -> list[LoweredOperation]:
    """Return the operations of a stage that have a lowering_config, in their order."""
    found: list[LoweredOperation] = []
    functions = [
        (match.end() - len("#iree_codegen.translation_info<"), _closing(stage, match.end() - 1) + 1)
        for match in _TRANSLATION.finditer(stage)
    ]
    for match in _CONFIG.finditer(stage):
        end = _closing(stage, match.end() - 1)
        content = stage[match.end() : end].removeprefix("{").removesuffix("}")
        line = stage[stage.rfind("\n", 0, match.start()) + 1 : match.start()]
        operation = _OPERATION.search(line)
        start, stop = max((each for each in functions if each[0] < match.start()), default=(0, 0))
        found.append(
            LoweredOperation(
                operation.group(1) if operation else "",
                dict(_entry(each) for each in _split(content)),
                _compact(stage[start:stop]),
                (match.start() + len("lowering_config = "), end + 1),
                (start, stop),
            )
        )
    return found


def find_root(operations: Sequence[LoweredOperation], loops: int) -> LoweredOperation | None:
    """Return the operation that decides how its dispatch is tiled, or None."""
    return next((each for each in find_roots(operations) if each.levels == loops), None)


def find_roots(operations: Sequence[LoweredOperation]) -> list[LoweredOperation]:
    """Return the operations that decide how their dispatches are tiled."""
    return [each for each in operations if {"distribution", "workgroup"} & each.config.keys()]


def operation_text(stage: str, operation: LoweredOperation) -> str:
    """Return the text of an operation, its body included, without its result and its lowering."""
    start, end = operation.span
    before = stage[stage.rfind("\n", 0, start) + 1 : start].removesuffix("lowering_config = ")
    line = stage[end : stage.find("\n", end)]
    if line.endswith("{"):
        closing = _closing(stage, end + len(line) - 1)
        line = stage[end : stage.find("\n", closing)]
    before = before.partition("= ")[2]
    if before.endswith("{") and line.startswith("}"):  # it was the only attribute
        return _ATTRIBUTES.sub("", before) + line.removeprefix("}")
    return before.removesuffix(", ") + line.removeprefix(", " if before.endswith("{") else "")


def replace_lowering(
    stage: str, operations: Sequence[LoweredOperation], root: LoweredOperation, new: Lowering
) -> str:
    """Return a stage with another lowering of its root.

    Operations that have been fused with the root are vectorized as it is: their sizes, which are
    those of the root's parallel loops, follow.
    """
    follower = {_VECTOR: _without_zeros(root.config.get(_VECTOR, ""))}
    vector = _without_zeros(new.config[_VECTOR]) if _VECTOR in new.config else ""
    for each in reversed(operations):
        start, end = each.span
        if each is root:
            stage = f"{stage[:start]}{new.lowering_config}{stage[end:]}"
        elif vector and each.config == follower:
            text = f"#{new.dialect}.lowering_config<{_VECTOR} = {vector}>"
            stage = f"{stage[:start]}{text}{stage[end:]}"
    start, end = root.function_span  # before the operations: its place has not moved
    return f"{stage[:start]}{new.translation_info}{stage[end:]}" if end else stage


def _without_zeros(sizes: str) -> str:
    """Return a list of sizes without those of loops that are not tiled: the reductions."""
    kept = [each for each in sizes.strip("[]").replace(" ", "").split(",") if each != "0"]
    return f"[{','.join(kept)}]"


def _entry(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key.strip(), _compact(value)


def _compact(text: str) -> str:
    return "".join(text.split())


def _split(text: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    parts, depth, start = list[str](), 0, 0
    for index, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [each for each in (*parts, text[start:]) if each.strip()]


def _closing(text: str, opening: int) -> int:
    """Return the position of the bracket that closes the one at a position."""
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] in _OPENING) - (text[index] in _CLOSING)
        if depth == 0:
            return index
    return len(text)


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
