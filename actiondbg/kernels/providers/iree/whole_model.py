"""Programs that IREE compiles as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.programs.bindings import parse_program
from actiondbg.kernels.programs.extraction import tensor_of
from actiondbg.kernels.providers.iree.model_roots import ModelRoot, read_roots
from actiondbg.kernels.providers.iree.target import make_target
from actiondbg.kernels.providers.iree.toolchain import Toolchain
from actiondbg.kernels.providers.steps import CompilationSteps

if TYPE_CHECKING:
    from mlir.ir import Operation  # pyright: ignore[reportMissingTypeStubs]

_STAGE = "executable-configurations"


@dataclass(frozen=True)
class Signature:
    """A function with what it takes and returns."""

    name: str
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]


def entry_signature(program: Path, name: str = "") -> Signature:
    """Return the signature of a program's public function.

    Args:
        name: of the function; "" if there is only one.

    Raises:
        UsageError: there is no such function, or more than one without a name, or its operands are
            not tensors of element types that kernels have.
    """
    module = parse_program(program.read_text(), str(program))
    functions = [view.operation for view in module.body.operations]
    public = {_name(each): each for each in functions if _is_public(each)}
    chosen = {each: function for each, function in public.items() if name in ("", each)}
    if len(chosen) != 1:
        has = ", ".join(public) or "none"
        wanted = f"public function {name}" if name else "single public function"
        raise UsageError(f"{program} has no {wanted} (it has {has}): name one with --function.")
    ((found, function),) = chosen.items()
    kind: Any = function.attributes["function_type"]
    try:
        return Signature(
            found,
            tuple(tensor_of(f"arg{at}", each) for at, each in enumerate(kind.value.inputs)),
            tuple(tensor_of(f"result{at}", each) for at, each in enumerate(kind.value.results)),
        )
    except Unsupported as error:
        raise UsageError(f"The function {found} of {program} cannot be called: {error}") from error


def _is_public(operation: Operation) -> bool:
    attributes = operation.attributes
    visibility = str(attributes["sym_visibility"]) if "sym_visibility" in attributes else ""
    return operation.name == "func.func" and visibility.strip('"') in ("", "public")


def _name(function: Operation) -> str:
    return str(function.attributes["sym_name"]).strip('"')


class WholeModel:
    """A program that IREE compiles for this machine's CPU.

    Args:
        program: in MLIR that IREE takes, such as linalg on tensors.
        function: the function to call; "" for the only public function.

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
