"""The provider ``mlir``: MLIR's own tools and a C compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model.configuration import Configuration, Parameter
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.providers.mlir import lowering
from actiondbg.kernels.providers.mlir.predefined import (
    parameters_obstacle,
    pipeline_of,
    predefined_schedules,
    schedule_of,
    schedule_of_choice,
    schedule_space,
)
from actiondbg.kernels.providers.mlir.schedule import ROOT, ScheduleText, root_is_last
from actiondbg.kernels.providers.mlir.toolchain import find_toolchain
from actiondbg.kernels.providers.provider import (
    CONFIGURED,
    Applied,
    CompiledKernel,
    ConfiguredStep,
    Provider,
)
from actiondbg.kernels.providers.shared_library import LOADER, SUPPORT, support_source
from actiondbg.kernels.providers.steps import CompilationSteps

SCHEDULED = "scheduled.mlir"  # after the step that contains the configuration
_ELEMENTWISE = re.compile(
    r"^(?P<indent> *)(?P<head>%\w+ = linalg\.generic [^\n]*?"
    r"\bins\((?P<inputs>[^:\n]*) : [^\n]*?\) outs\()"
    r"(?P<destination>%\w+)(?P<tail> : (?P<type>tensor<[^>\n]*>)\)[^\n]*\n"
    r" *\^bb0\((?P<arguments>[^\n]*)\):\n(?P<body>.*?)^ *\} -> )",
    re.MULTILINE | re.DOTALL,
)


class MlirProvider(Provider):
    """Compiles with mlir-opt, mlir-translate, llc and cc, for the CPU at hand."""

    name = "mlir"
    default_is_plain = True

    def identity(self) -> str:
        support = sha256(support_source("kernel", 1).encode()).hexdigest()[:12]
        return f"{find_toolchain().identity}; {lowering.IDENTITY}; {support}"

    def default(self, operation: Operation) -> Configuration:
        return Configuration(self.name, "mlir_default")

    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        """Return schedules that suit the CPU's vectors; see Provider."""
        schedules = predefined_schedules(operation, find_toolchain().vector_bits)
        return [schedule.configuration for schedule in schedules]

    def obstacle(self, dispatch: Dispatch) -> str | None:
        return parameters_obstacle(dispatch.operation, dispatch.configuration)

    def source(self, dispatch: Dispatch) -> str:
        operation, schedule = dispatch.operation, schedule_of(dispatch.configuration)
        if schedule is None:
            return f"module {{\n{_function(operation)}}}\n"
        function = _function(operation, own=not root_is_last(operation.body("%out", ROOT)))
        function = with_own_destinations(function)
        sequence = ScheduleText(operation, schedule, find_toolchain()).write()
        return f"module attributes {{transform.with_named_sequence}} {{\n{function}\n{sequence}}}\n"

    def configured_step(self, dispatch: Dispatch) -> ConfiguredStep:
        """Return the command that applies the configuration, on which a bisection can run."""
        operation, configuration = dispatch.operation, dispatch.configuration
        if schedule_of(configuration) is not None:
            passes = lowering.schedule_passes(operation.name)
        elif configuration.parameters:
            passes = lowering.pipeline_passes(pipeline_of(configuration))
        else:
            passes = lowering.default_passes(operation.body("%out", ""))
        argv = [str(find_toolchain().mlir_opt), CONFIGURED, *passes, "-o", SCHEDULED]
        return ConfiguredStep(argv, Path(SCHEDULED))

    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        step = self.configured_step(dispatch)
        steps.run("mlir-opt", step.argv)
        return self.finish(dispatch, folder, steps, step.output)

    def finish(
        self, dispatch: Dispatch, folder: Path, steps: CompilationSteps, scheduled: Path
    ) -> CompiledKernel:
        tools, symbol = find_toolchain(), f"_mlir_ciface_{dispatch.operation.name}"
        inputs, result = dispatch.operation.inputs, dispatch.operation.result
        steps.note(f"{SUPPORT} calls the kernel in a loop")
        if not steps.dry_run:
            (folder / SUPPORT).write_text(support_source(symbol, len(inputs) + 1))
        text = "" if steps.dry_run else (folder / scheduled).read_text()
        reassociate = schedule_of(dispatch.configuration) is not None
        passes = lowering.to_llvm(text, reassociate=reassociate)
        lower = [*passes, "-o", "llvm.mlir"]
        steps.run("mlir-opt", [str(tools.mlir_opt), str(scheduled), *lower])
        translate = ["--mlir-to-llvmir", "llvm.mlir", "-o", "kernel.ll"]
        steps.run("mlir-translate", [str(tools.mlir_translate), *translate])
        steps.run(
            "llc", [str(tools.llc), *lowering.llc_options(tools), "kernel.ll", "-o", "kernel.o"]
        )
        steps.run("cc", [str(tools.cc), *lowering.link_options(tools)])
        binary = KernelBinary(LOADER, (folder / "kernel.so").absolute(), symbol, inputs, result)
        if steps.dry_run:
            return CompiledKernel(binary, binary, "unknown")
        applied, detail = _applied(dispatch, folder / scheduled)
        return CompiledKernel(binary, binary, applied, detail)

    def space(self, operation: Operation) -> Mapping[str, Sequence[Parameter]]:
        return schedule_space(operation, find_toolchain().vector_bits)

    def configured(self, operation: Operation, choice: Mapping[str, Parameter]) -> Configuration:
        """Return the configuration of one choice for each parameter of ``space``.

        Raises:
            UsageError: a parameter is missing, or is no integer.
        """
        return schedule_of_choice(operation, choice).configuration


def _function(operation: Operation, *, own: bool = False) -> str:
    """Return the function, with the memory of operands and result as arguments.

    Args:
        operation: what it computes.
        own: whether intermediate results have tensors of their own. If tiles of them share the
            result's memory, bufferization copies all of it.
    """
    memories: list[str] = []
    tensors: list[str] = []
    result = operation.result
    for each in (*operation.inputs, result):
        name, writable = ("out", " writable") if each is result else (each.name, "")
        stored = _stored(each)
        memories.append(f"%{name}_memory: {_memory(stored)}")
        tensor = f"{name}_bytes" if stored != each else name
        tensors.append(
            f"  %{tensor} = bufferization.to_tensor %{name}_memory restrict{writable} : "
            f"{_memory(stored)} to {stored.mlir}\n"
        )
        if stored != each and each is not result:
            tensors.append(_converted(stored, each, f"%{tensor}", f"%{name}", f"%{name}_bits"))
    if own or _stored(result) != result:
        tensors.append(f"  %out = tensor.empty() : {result.mlir}\n")
    if own:
        del tensors[-2]
    *lines, last = operation.body("%out", ROOT).strip().splitlines()
    returned = re.fullmatch(r"return (%\S+) : (.*)", last.strip())
    if returned is None:
        raise CompileError(f"The body of {operation.name} does not end with a return of one value.")
    body = "".join(f"  {line.strip()}\n" for line in lines)
    last, stored = returned[1], _stored(result)
    if stored != result:
        body += _converted(result, stored, last, "%bytes", "%out_bytes", made=False)
        last = "%bytes"
    return (
        f"func.func @{operation.name}({', '.join(memories)}) "
        f"attributes {{llvm.emit_c_interface}} {{\n{''.join(tensors)}{body}"
        f"  bufferization.materialize_in_destination {last} in restrict writable "
        f"%out_memory : ({stored.mlir}, {_memory(stored)}) -> ()\n  return\n}}\n"
    )


def _memory(tensor: Tensor) -> str:
    return tensor.mlir.replace("tensor<", "memref<", 1)


def _stored(tensor: Tensor) -> Tensor:
    """Return a tensor as its memory has it: bits as bytes, as MLIR 22 cannot load or store bits."""
    return replace(tensor, type=ElementType.I8) if tensor.type is ElementType.I1 else tensor


def _converted(
    old: Tensor, new: Tensor, value: str, name: str, memory: str, *, made: bool = True
) -> str:
    """Return an operation between bits and bytes, which is then fused with its user or producer."""
    loops = ", ".join(f"d{axis}" for axis in range(len(old.shape)))
    maps = ", ".join([f"affine_map<({loops}) -> ({loops})>"] * 2)
    types = ", ".join(['"parallel"'] * len(old.shape))
    cast = "arith.trunci" if new.type is ElementType.I1 else "arith.extui"
    empty = f"  {memory} = tensor.empty() : {new.mlir}\n" if made else ""
    attributes = f"indexing_maps = [{maps}], iterator_types = [{types}]"
    return (
        f"{empty}  {name} = linalg.generic {{{attributes}}} "
        f"ins({value} : {old.mlir}) outs({memory} : {new.mlir}) {{\n"
        f"  ^bb0(%from: {old.type.value}, %to: {new.type.value}):\n"
        f"    %cast = {cast} %from : {old.type.value} to {new.type.value}\n"
        f"    linalg.yield %cast : {new.type.value}\n  }} -> {new.mlir}\n"
    )


def _applied(dispatch: Dispatch, scheduled: Path) -> tuple[Applied, str]:
    """Read back from the output of the configured step whether the configuration was applied."""
    if not dispatch.configuration.parameters:
        return "default", ""
    text = scheduled.read_text()
    if re.search(rf"\b{ROOT}\b", text):
        return "no", f"The root operation, {dispatch.operation.root}, is unchanged."
    if schedule_of(dispatch.configuration) is not None and "linalg." in text:
        left = re.findall(r"\blinalg\.\w+", text)
        return "no", f"The schedule left {left[0]} without vectors."
    return "yes", ""


# --- destinations ---


def with_own_destinations(function: str) -> str:
    """Return a function in which no elementwise operation overwrites an operand of its own.

    Fusion into the tiles of a schedule computes what an operation reads, and again what it
    overwrites: a convolution would be computed twice. The buffer is the same in the end.
    """
    made = 0

    def own(found: re.Match[str]) -> str:
        nonlocal made
        old = found["arguments"].rpartition("%")[2].partition(":")[0].strip()
        inputs = found["inputs"].split(", ")
        if found["destination"] not in inputs or re.search(rf"%{old}\b", found["body"]):
            return found[0]
        made += 1
        name = f"%own_{made}"
        empty = f"{found['indent']}{name} = tensor.empty() : {found['type']}\n"
        return f"{empty}{found['indent']}{found['head']}{name}{found['tail']}"

    return _ELEMENTWISE.sub(own, function)
