"""What a compiler of kernels offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol, runtime_checkable

from actiondbg.errors import UsageError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch, Operation, Parameter
from actiondbg.kernels.providers.steps import CompilationSteps

Applied = Literal["yes", "no", "default", "unknown"]
CONFIGURED = "configured.mlir"  # the file of a dispatch from which it is compiled


@dataclass(frozen=True)
class ProviderSettings:
    """What a user may choose of a provider.

    Attributes:
        build_dir: an IREE build, whose tools are used instead of the installed package's.
        device: the target backend: "cpu", "cuda" or "rocm".
        arch: the target architecture of a GPU, such as ``sm_80``; "" for the backend's default.
        batch_size: calls in one repetition, for providers that compile it into the kernel.
    """

    build_dir: Path | None = None
    device: str = "cpu"
    arch: str = ""
    batch_size: int | None = None


@dataclass(frozen=True)
class CompiledKernel:
    """The result of a compilation.

    Attributes:
        verify: the code that verification runs.
        profile: the code that profiling runs; the same where one serves both.
        config_applied: whether the compiler used the configuration, read back after the stage that
            applies it; "default" if there was none to apply, "unknown" if it cannot be read back.
        detail: one sentence on that, or "".
        flushes_denormals: whether numbers below the smallest normal one may become zero.
    """

    verify: KernelBinary
    profile: KernelBinary
    config_applied: Applied
    detail: str = ""
    flushes_denormals: bool = False


class Provider(ABC):
    """A compiler of kernels.

    A user's provider is a subclass; ``actiondbg.kernels.providers.registry.register`` adds it.

    Attributes:
        name: unique.
        is_baseline: whether its default is compared with the configurations of other providers,
            those of the user, too.
        default_is_plain: whether its default is a lowering without any optimization, with which no
            configuration is compared.
    """

    name: ClassVar[str]
    is_baseline: ClassVar[bool] = False
    default_is_plain: ClassVar[bool] = False

    @abstractmethod
    def identity(self) -> str:
        """Return what decides the compiled code beside the source: versions, target, flags.

        Raises:
            ProviderMissing: a compiler is not installed; names the command that installs it.
        """

    @abstractmethod
    def default(self, operation: Operation) -> Configuration:
        """Return the configuration that leaves the decisions to the compiler."""

    @abstractmethod
    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        """Return the predefined configurations of an operation, without the default."""

    @abstractmethod
    def obstacle(self, dispatch: Dispatch) -> str | None:
        """Return why a configuration does not fit the operation, as one sentence, or None."""

    @abstractmethod
    def source(self, dispatch: Dispatch) -> str:
        """Return the configured MLIR, from which ``compile`` starts."""

    @abstractmethod
    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        """Compile a dispatch.

        Args:
            dispatch: has no obstacle.
            folder: of the dispatch; contains ``configured.mlir``, and gets the binaries.

        Raises:
            CompileError: a step failed.
        """

    def not_runnable(self, dispatch: Dispatch) -> str | None:
        """Return why a compiled dispatch cannot run on this machine, or None."""
        return None

    def space(self, operation: Operation) -> Mapping[str, Sequence[Parameter]]:
        """Return the parameters that a search may vary, with their choices; none by default."""
        return {}

    def configured(self, operation: Operation, choice: Mapping[str, Parameter]) -> Configuration:
        """Make the configuration of one choice for each parameter of ``space``.

        Raises:
            UsageError: this provider has nothing to search.
        """
        raise UsageError(f"The provider {self.name} has no parameters to search.")


@dataclass(frozen=True)
class ConfiguredStep:
    """The command that applies a configuration: one run of an MLIR tool.

    Attributes:
        argv: the command line; files are relative to the folder of the dispatch.
        output: the file that it writes, relative to the folder.
        compiles: whether it compiles to the end: passes are needed then, and a kernel that crashes
            without one is no sign of a fault.
    """

    argv: list[str]
    output: Path
    compiles: bool = False


@runtime_checkable
class StepwiseProvider(Protocol):
    """A provider whose configurations are applied by one run of an MLIR tool."""

    def configured_step(self, dispatch: Dispatch) -> ConfiguredStep:
        """Return the command that applies the configuration."""
        ...

    def finish(
        self, dispatch: Dispatch, folder: Path, steps: CompilationSteps, scheduled: Path
    ) -> CompiledKernel:
        """Compile an output of the configured step.

        Args:
            folder: gets the binaries.
            scheduled: the output of the whole step, or its replacement, absolute or relative to the
                folder.

        Raises:
            CompileError: a step failed.
        """
        ...
