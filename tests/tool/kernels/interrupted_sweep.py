"""A sweep whose second kernel never ends: the program of a test that interrupts it."""

from __future__ import annotations

import sys
from pathlib import Path

from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.registry import register
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import SweepProgress
from tests.fakes.kernels.c_kernel import MATMUL, compile_kernel


class CProvider(Provider):
    """Compiles matmuls as C; those of k = 16 never end."""

    name = "c"

    def identity(self) -> str:
        return "c"

    def default(self, operation: Operation) -> Configuration:
        return Configuration("c", "c_default")

    def configurations(self, operation: Operation) -> list[Configuration]:
        return [self.default(operation)]

    def obstacle(self, dispatch: Dispatch) -> str | None:
        return None

    def source(self, dispatch: Dispatch) -> str:
        return dispatch.operation.function()

    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        m, n, k = (loop.size for loop in dispatch.operation.loops)
        note = f'fclose(fopen("{folder}/started", "w")); for (;;) pause();'
        body = note if k == 16 else MATMUL.format(m=m, n=n, k=k)
        binary = compile_kernel(folder, dispatch.operation, body)
        return CompiledKernel(binary, binary, "default")


def main(folder: Path) -> None:
    """Sweep, and print the rows that there are after the interrupt."""
    register("c", lambda _: CProvider())

    def report(progress: SweepProgress) -> None:
        print("done", progress.done, flush=True)

    settings = SweepSettings(generated_dir=folder, jobs=1, profile=False, run_seconds=600.0)
    kernels = Kernels(settings, providers=["c"], report=report)
    sweep = kernels.sweep(kernels.generate([Matmul(8, 8, 8), Matmul(8, 8, 16), Matmul(8, 8, 24)]))
    try:
        sweep.run(kernels.select())
    except KeyboardInterrupt:
        for name, row in sweep.rows.items():
            print(name, row.verification and row.verification.verdict, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
