"""IREE as a compiler of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch, Operation, Parameter
from actiondbg.kernels.providers.iree import catalog, configurations
from actiondbg.kernels.providers.iree.configurations import (
    Lowering,
    applied_by,
    find_root,
    flags_of,
    lowering_of,
    own_flags,
    read_lowerings,
    replace_lowering,
    slices_of,
)
from actiondbg.kernels.providers.iree.programs import empty_call
from actiondbg.kernels.providers.iree.tiling import root_loops
from actiondbg.kernels.providers.iree.toolchain import (
    Toolchain,
    cpu_identity,
    make_target,
    missing_device,
    package_folder,
    target_of,
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

_STAGE = "executable-configurations"
_CHOSEN, _EDITED = "chosen.mlir", "edited.mlir"
_NOTHING_CHOSEN = "IREE's output has no configuration for this operation's loops."


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
        return catalog.predefined(operation, self._target)

    def obstacle(self, dispatch: Dispatch) -> str | None:
        return catalog.find_obstacle(dispatch)

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
        return catalog.space(operation, self._target)

    def configured(self, operation: Operation, choice: Mapping[str, Parameter]) -> Configuration:
        if not self.space(operation):
            return super().configured(operation, choice)
        return catalog.chosen(operation, self._target, choice)

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
