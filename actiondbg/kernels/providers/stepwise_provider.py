"""Providers that compile in steps, one of which can be bisected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.providers.steps import CompilationSteps


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
            dispatch: whose configuration was applied.
            folder: gets the binaries.
            steps: runs the commands.
            scheduled: the output, absolute or relative to the folder; that of the whole step, or
                another in its place.

        Raises:
            CompileError: a step failed.
        """
        ...
