"""IREE as a compiler of kernels: its configurations for an operation, and why one does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import ClassVar

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch, ElementType, Operation, Parameter
from actiondbg.kernels.providers.iree import configurations
from actiondbg.kernels.providers.iree.configurations import (
    CONVOLUTION_PIPELINE,
    LEVELS,
    MATMUL_PIPELINE,
    PARAMETERS,
    GpuTile,
    Lowering,
    applied_by,
    data_tiling,
    find_root,
    flags_of,
    lowering_of,
    mma_shape,
    own_flags,
    peeled,
    read_lowerings,
    replace_lowering,
    simt,
    slices_of,
    tensor_core,
    tiled,
)
from actiondbg.kernels.providers.iree.programs import empty_call
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
from actiondbg.kernels.providers.iree.toolchain import (
    Target,
    Toolchain,
    cpu_identity,
    make_target,
    missing_device,
    package_folder,
    target_of,
    vector_bytes,
)
from actiondbg.kernels.providers.provider import (
    CONFIGURED,
    Applied,
    CompiledKernel,
    ConfiguredStep,
    Provider,
    ProviderSettings,
)
from actiondbg.kernels.providers.steps import CompilationSteps

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
_STAGE = "executable-configurations"
_CHOSEN, _EDITED = "chosen.mlir", "edited.mlir"
_NOTHING_CHOSEN = "IREE's output has no configuration for this operation's loops."


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


class IreeProvider(Provider):
    """Compiles kernels with iree-compile, in two halves: before and after it chooses tile sizes.

    Raises:
        UsageError: a setting does not fit.
    """

    name: ClassVar[str] = configurations.PROVIDER

    def __init__(self, settings: ProviderSettings) -> None:
        self._tools = Toolchain(settings.build_dir)
        self._target = make_target(settings.device, settings.arch)
        self._batch = settings.batch_size or 1

    def identity(self) -> str:
        return f"{self._tools.version()} cpu {cpu_identity()} batch {self._batch}"

    def default(self, operation: Operation) -> Configuration:
        return configurations.configuration(self._target, "default")

    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        if self._target.device != "cpu":
            keeps = _keeps_attribute(operation)
            return tensor_core_configurations(operation, self._target) if keeps else []
        if is_product(operation):
            how = _applied_by(operation)
            tilings = matmul_tilings(operation, vector_bytes())
            found = [tiled(self._target, each, MATMUL_PIPELINE, how) for each in tilings]
            whole = matmul_tiling_of_whole_vectors(operation, vector_bytes())
            if whole not in tilings:
                found.append(peeled(tiled(self._target, whole, MATMUL_PIPELINE, how)))
            return [*found, data_tiling(self._target)]
        if is_convolution(operation):
            tilings = convolution_tilings(operation, vector_bytes())
            return [tiled(self._target, each, CONVOLUTION_PIPELINE, "stage") for each in tilings]
        return []

    def obstacle(self, dispatch: Dispatch) -> str | None:
        return find_obstacle(dispatch)

    def source(self, dispatch: Dispatch) -> str:
        lowering = lowering_of(dispatch.configuration)
        by_attribute = applied_by(dispatch.configuration) == "attribute"
        attribute = lowering.compilation_info if lowering is not None and by_attribute else ""
        operation = dispatch.operation
        function = operation.function(root_attributes=attribute)
        # IREE cannot compile a dispatch for GPUs that does nothing.
        is_timed = target_of(dispatch.configuration).device == "cpu"
        return function + empty_call(operation) if is_timed else function

    def configured_step(self, dispatch: Dispatch) -> ConfiguredStep:
        """Return the command on which a bisection can run: the compilation of one binary.

        A configuration that replaces IREE's choice is applied between the halves: the second half
        is that command then.
        """
        configuration, binary = dispatch.configuration, "bisected.vmfb"
        compiler = self._tools.program("iree-compile")
        flags = [*target_of(configuration).flags, *flags_of(configuration)]
        source = [CONFIGURED]
        if lowering_of(configuration) is not None and applied_by(configuration) == "stage":
            source = [_EDITED, f"--compile-from={_STAGE}"]
        argv = [compiler, *flags, *source, "-o", binary]
        return ConfiguredStep(argv, Path(binary), compiles=True)

    def finish(
        self, dispatch: Dispatch, folder: Path, steps: CompilationSteps, scheduled: Path
    ) -> CompiledKernel:
        """Return the kernel of an output of the configured step, which is its binary."""
        binary = self._binary(dispatch, folder / scheduled, batch=1)
        return CompiledKernel(binary, binary, "unknown", flushes_denormals=True)

    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        stage, applied, detail = self._choose(dispatch, folder, steps)
        binaries = [self._finish(dispatch, folder, steps, stage, batch=1)]
        if self._batch > 1:
            binaries.append(self._finish(dispatch, folder, steps, stage, batch=self._batch))
        # The runtime has the CPU flush denormals in dispatches.
        return CompiledKernel(binaries[0], binaries[-1], applied, detail, flushes_denormals=True)

    def not_runnable(self, dispatch: Dispatch) -> str | None:
        target = target_of(dispatch.configuration)
        if target.device != "cpu":
            return missing_device(self._tools.program("iree-run-module"), target.runtime_device)
        # A build has programs instead of the runtime.
        if self._tools.build_dir is not None or package_folder("iree.runtime") is not None:
            return None
        return "IREE's runtime is not installed: pip install 'actiondbg[iree]'."

    def space(self, operation: Operation) -> Mapping[str, Sequence[Parameter]]:
        width = vector_bytes() // operation.accumulator.size
        lanes = [width * registers for registers in (1, 2, 3, 4)]
        if self._target.device != "cpu":
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

    def configured(self, operation: Operation, choice: Mapping[str, Parameter]) -> Configuration:
        if not self.space(operation):
            return super().configured(operation, choice)
        missing = [name for name in self.space(operation) if name not in choice]
        if missing:
            raise UsageError(
                f"The choice has no {missing[0]}; iree needs a size for each parameter."
            )
        sizes = {name: int(str(value)) for name, value in choice.items()}
        if is_convolution(operation):
            tiling = convolution_tiling(
                operation,
                (sizes["tile_h"], sizes["tile_c"]),
                (sizes["vector_w"], sizes["vector_c"]),
                sizes["vector_k"],
            )
            return tiled(self._target, tiling, CONVOLUTION_PIPELINE, "stage")
        tiling = matmul_tiling(
            len(root_loops(operation)) - 3,
            (sizes["tile_m"], sizes["tile_n"]),
            (sizes["vector_m"], sizes["vector_n"]),
            sizes["vector_k"],
        )
        return tiled(self._target, tiling, MATMUL_PIPELINE, _applied_by(operation))

    def _choose(
        self, dispatch: Dispatch, folder: Path, steps: CompilationSteps
    ) -> tuple[str, Applied, str]:
        """Compile until IREE has chosen configurations; put ours in, and read what is there.

        Returns:
            The file that the rest of the compilation starts from, config_applied, and a sentence.
        """
        compiler = self._tools.program("iree-compile")
        flags = [*target_of(dispatch.configuration).flags, *flags_of(dispatch.configuration)]
        command = [compiler, *flags, CONFIGURED, f"--compile-to={_STAGE}", "-o", _CHOSEN]
        try:
            steps.run("iree-compile", command)
        except CompileError as error:
            if "iree_cpu" not in str(error) and "iree_gpu" not in str(error):
                raise
            version = self._tools.version().split()[0]
            raise CompileError(
                f"IREE {version} lacks the attributes of this configuration: install IREE 3.12 or "
                f"later, or use --default-config. {error}"
            ) from error
        lowering = lowering_of(dispatch.configuration)
        if steps.dry_run:
            return _CHOSEN, "unknown", ""
        text = (folder / _CHOSEN).read_text()
        if lowering is None:
            return _CHOSEN, *_chosen_by_iree(dispatch, text)
        if applied_by(dispatch.configuration) != "stage":
            return _CHOSEN, *_read_back(dispatch, lowering, text)
        operations = read_lowerings(text)
        root = find_root(operations, _loops(dispatch))
        if root is None:
            return _CHOSEN, "no", _NOTHING_CHOSEN
        edited = replace_lowering(text, operations, root, lowering)
        (folder / _EDITED).write_text(edited)
        steps.note(f"In {_CHOSEN} the root's lowering was replaced: {_EDITED}.")
        return _EDITED, *_read_back(dispatch, lowering, edited)

    def _finish(
        self, dispatch: Dispatch, folder: Path, steps: CompilationSteps, stage: str, batch: int
    ) -> KernelBinary:
        target = target_of(dispatch.configuration)
        binary = "kernel.vmfb" if batch == 1 else f"kernel_batch_{batch}.vmfb"
        repeat = [f"--iree-hal-benchmark-dispatch-repeat-count={batch}"] if batch > 1 else []
        compiler = self._tools.program("iree-compile")
        flags = [*target.flags, *own_flags(dispatch.configuration), *repeat]
        command = [compiler, *flags, stage, f"--compile-from={_STAGE}", "-o", binary]
        steps.run("iree-compile", command)
        return self._binary(dispatch, folder / binary, batch)

    def _binary(self, dispatch: Dispatch, path: Path, batch: int) -> KernelBinary:
        target = target_of(dispatch.configuration)
        settings: dict[str, str | int] = {"device": target.runtime_device, "batch": batch}
        loader = "actiondbg.kernels.providers.iree.module:load"
        if self._tools.build_dir is not None:
            loader = "actiondbg.kernels.providers.iree.programs:load"
            settings["run"] = self._tools.program("iree-run-module")
            settings["benchmark"] = self._tools.program("iree-benchmark-module")
        operation = dispatch.operation
        return KernelBinary(
            loader, path, operation.name, operation.inputs, operation.result, settings
        )


def _chosen_by_iree(dispatch: Dispatch, stage: str) -> tuple[Applied, str]:
    """Return what IREE has chosen for a configuration that leaves it the choice."""
    root = find_root(read_lowerings(stage), _loops(dispatch))
    detail = f"IREE chose {root}." if root is not None else ""
    demands = {
        "IREE packed no operand.": (
            bool(dispatch.configuration.parameters.get("data_tiling")),
            "linalg.pack" in stage,
        ),
        "IREE did not split the sums.": (slices_of(dispatch.configuration) > 1, root is not None),
    }
    refused = [why for why, (demanded, done) in demands.items() if demanded and not done]
    if refused:
        return "no", " ".join([*refused, detail]).strip()
    demanded = any(each for each, _ in demands.values())
    return ("yes" if demanded else "default"), detail


def _read_back(dispatch: Dispatch, lowering: Lowering, stage: str) -> tuple[Applied, str]:
    operations = read_lowerings(stage)
    if any(each.has(lowering) for each in operations):
        return "yes", ""
    root = find_root(operations, _loops(dispatch))
    return "no", f"IREE chose {root} instead." if root is not None else _NOTHING_CHOSEN


def _loops(dispatch: Dispatch) -> int:
    """Return the number of loops of the root in the compiler."""
    return len(root_loops(dispatch.operation)) + (slices_of(dispatch.configuration) > 1)
