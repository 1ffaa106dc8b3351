"""Programs that IREE compiles as a whole."""

from __future__ import annotations

from pathlib import Path

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.programs.signature import entry_signature
from actiondbg.kernels.providers.iree.model_roots import ModelRoot, read_roots
from actiondbg.kernels.providers.iree.target import make_target
from actiondbg.kernels.providers.iree.toolchain import Toolchain
from actiondbg.kernels.providers.steps import CompilationSteps

_STAGE = "executable-configurations"


class WholeModel:
    """A program that IREE compiles for this machine's CPU.

    Args:
        program: in MLIR that IREE takes, such as linalg on tensors.
        folder: gets what is compiled.
        function: the function to call; "" for the only public function.

    Attributes:
        signature: of the function.

    Raises:
        UsageError: the function cannot be called.
    """

    def __init__(self, program: Path, folder: Path, function: str = "") -> None:
        self.signature = entry_signature(program, function)
        self._program = program.resolve()
        self._target = make_target("cpu")
        self._compiler = Toolchain().program("iree-compile")
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def roots(self) -> list[ModelRoot]:
        """Return the operations that decide how dispatches are tiled.

        Raises:
            CompileError: IREE cannot compile the program.
        """
        return read_roots(self.configurations())

    def configurations(self, spec: Path | None = None) -> str:
        """Return the stage ``executable-configurations``; see ``compile``."""
        stage = self._folder / "configurations.mlir"
        self._compile(stage, spec, f"--compile-to={_STAGE}")
        return stage.read_text()

    def compile(self, name: str, spec: Path | None = None) -> list[KernelBinary]:
        """Compile the program.

        Args:
            name: of the file that it gets.
            spec: a tuning spec, or None for IREE's default.

        Returns:
            The function, once for each of its results.

        Raises:
            CompileError: IREE cannot compile the program.
        """
        binary = self._folder / f"{name}.vmfb"
        self._compile(binary, spec)
        return [
            KernelBinary(
                "actiondbg.kernels.providers.iree.module:load",
                binary,
                self.signature.name,
                self.signature.inputs,
                result,
                {"device": self._target.runtime_device, "result": at},
            )
            for at, result in enumerate(self.signature.results)
        ]

    def _compile(self, output: Path, spec: Path | None, *options: str) -> None:
        command = [self._compiler, *self._target.flags, str(self._program), *options]
        if spec is not None:
            # Threads of iree-compile may wait for each other, where they read the spec at once.
            command.append("--mlir-disable-threading")
            command.append(f"--iree-codegen-tuning-spec-path={spec.resolve()}")
        CompilationSteps(self._folder).run("iree-compile", [*command, "-o", output.name])
