"""A provider whose compiler is cp: its binary is the configured source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.generated import CONFIGURED
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.steps import CompilationSteps

GOOD = Configuration("copying", "copying_good", {"tile": 8})
BROKEN = Configuration("copying", "copying_broken", {"tile": 8})
LARGE = Configuration("copying", "copying_large", {"tile": 1024})


class CopyingProvider(Provider):
    """Copies sources; ``BROKEN`` fails to compile, ``LARGE`` fits no small operation.

    Args:
        version: a part of the identity.

    Attributes:
        compilations: how often it compiled.
    """

    name = "copying"

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.compilations = 0

    def identity(self) -> str:
        return f"copying {self.version}"

    def default(self, operation: Operation) -> Configuration:
        return Configuration("copying", "copying_default")

    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        return [GOOD, BROKEN, LARGE]

    def obstacle(self, dispatch: Dispatch) -> str | None:
        tile = dispatch.configuration.parameters.get("tile", 1)
        largest = max(loop.size for loop in dispatch.operation.loops)
        if isinstance(tile, int) and tile > largest:
            return f"The tile {tile} is larger than the largest loop, {largest}."
        return None

    def source(self, dispatch: Dispatch) -> str:
        return f"// {dispatch.configuration.name}\n{dispatch.operation.function()}"

    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        self.compilations += 1
        missing = dispatch.configuration == BROKEN
        steps.run("cp", ["cp", "missing" if missing else CONFIGURED, "kernel"])
        binary = KernelBinary(
            "tests.fakes.kernels.none:load",
            folder / "kernel",
            dispatch.operation.name,
            dispatch.operation.inputs,
            dispatch.operation.result,
        )
        return CompiledKernel(binary, binary, "default")
