"""Programs that IREE compiles as a whole, the roots of their dispatches, and tuning specs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Loop, Operation, Tensor
from actiondbg.kernels.packages import ir
from actiondbg.kernels.programs.extraction import tensor_of
from actiondbg.kernels.programs.structured_operation import element_name, parse_program, structured
from actiondbg.kernels.providers.iree.configurations import (
    Lowering,
    find_roots,
    operation_text,
    read_lowerings,
)
from actiondbg.kernels.providers.iree.toolchain import Toolchain, make_target
from actiondbg.kernels.providers.steps import CompilationSteps

# The loops of a root with their types, and the element types of its operands and its result.
RootKey = tuple[tuple[Loop, ...], tuple[str, ...]]

_VALUE = re.compile(r"%[\w#]+")
_TENSOR = re.compile(r"tensor<[^<>]*>")
_OPERANDS = re.compile(r"(?:ins|outs)\(((?:%[\w#]+(?:, )?)+) : (.*?)\)(?= |$)")
_HEAD = """\
// Pass it to iree-compile by --iree-codegen-tuning-spec-path.
module @tuning_spec attributes {transform.with_named_sequence} {
  transform.named_sequence @apply_op_config(
      %op: !transform.any_op {transform.readonly},
      %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
"""
_STAGE = "executable-configurations"


@dataclass(frozen=True)
class ModelRoot:
    """An operation that decides how a dispatch of a program is tiled.

    Attributes:
        text: the operation, whose operands are ``%arg0`` and so on; without a result.
        types: of the operands, then of the result.
        key: what it has in common with the root of a kernel that was cut out of the program.
    """

    text: str
    types: tuple[str, ...]
    key: RootKey


def root_key(operation: Operation) -> RootKey:
    """Return the key of an operation's root."""
    # A group's operands are more than its root's: two for a product or a convolution.
    read = [each.type.value for each in operation.inputs][:2]
    return operation.loops, (*read, operation.accumulator.value)


def _model_root(operation: str) -> ModelRoot | None:
    """Return the root of an operation's text; None if it takes more than its operands."""
    names: list[str] = []
    types: list[str] = []
    for group in _OPERANDS.finditer(operation):
        names += group[1].split(", ")
        types += _TENSOR.findall(group[2])
    renamed = {name: f"%arg{at}" for at, name in enumerate(names)}
    text = _VALUE.sub(lambda value: renamed.setdefault(value[0], f"%v{len(renamed)}"), operation)
    arguments = ", ".join(f"%arg{at}: {each}" for at, each in enumerate(types))
    try:
        module = parse_program(
            f"func.func @root({arguments}) -> {types[-1]} {{\n  %root = {text}\n"
            f"  return %root : {types[-1]}\n}}\n",
            "the root",
        )
        (function,) = module.body.operations
        root = structured(function.operation.regions[0].blocks[0].operations[0].operation)
    except (ActiondbgError, IndexError):
        return None
    elements = tuple(element_name(each.type) for each in root.operation.operands)
    return ModelRoot(text, tuple(types), (root.loops, elements))


def tuning_spec(tuned: Sequence[tuple[ModelRoot, Lowering]]) -> str:
    """Return the spec that gives roots their lowerings; each operation of its text is matched."""
    named = [(f"@match_{at}", root, lowering) for at, (root, lowering) in enumerate(tuned)]
    cases = ",\n        ".join(f"{name} -> @apply_op_config" for name, _, _ in named)
    return f"""{_HEAD}{"".join(_matcher(*each) for each in named)}
  transform.named_sequence @__kernel_config(
      %variant: !transform.any_op {{transform.consumed}}) -> !transform.any_op
      attributes {{iree_codegen.tuning_spec_entrypoint}} {{
    // A convolution of one image gets the dimension of its batch back, which drops its attributes.
    %functions = transform.structured.match ops{{["func.func"]}} in %variant
      : (!transform.any_op) -> !transform.any_op
    %batched = transform.apply_registered_pass
      "iree-codegen-insert-batch-dim-for-batchless-conv" to %functions
      : (!transform.any_op) -> !transform.any_op
    %module = "transform.get_parent_op"(%batched) <{{deduplicate, op_name = "builtin.module"}}>
      : (!transform.any_op) -> !transform.any_op
    %done = transform.foreach_match in %module
        {cases} : (!transform.any_op) -> !transform.any_op
    transform.yield %done : !transform.any_op
  }}
}}
"""


def _matcher(name: str, root: ModelRoot, lowering: Lowering) -> str:
    arguments = ", ".join(f"%arg{at}: {each}" for at, each in enumerate(root.types))
    text = root.text.replace("\n", "\n      ")
    return f"""
  transform.named_sequence {name}(%root: !transform.any_op {{transform.readonly}})
      -> (!transform.any_op, !transform.any_param) {{
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {{
    ^bb0({arguments}):
      %result = {text}
    }} : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    %config = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = {lowering.lowering_config},
      translation_info = {lowering.translation_info}> -> !transform.any_param
    transform.yield %root, %config : !transform.any_op, !transform.any_param
  }}
"""


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
    public = {
        str(each.attributes["sym_name"]).strip('"'): each
        for each in functions
        if each.name == "func.func" and _visibility(each) in ("", "public")
    }
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


def _visibility(function: ir.Operation) -> str:
    attributes = function.attributes
    return str(attributes["sym_visibility"]).strip('"') if "sym_visibility" in attributes else ""


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
        """Return the operations that decide how dispatches are tiled, each once.

        Roots that take more from outside than their operands are left out.

        Raises:
            CompileError: IREE cannot compile the program.
        """
        stage = self.configurations()
        found: dict[str, ModelRoot] = {}
        for root in find_roots(read_lowerings(stage)):
            made = _model_root(operation_text(stage, root))
            if made is not None:
                found.setdefault(made.text, made)
        return list(found.values())

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
