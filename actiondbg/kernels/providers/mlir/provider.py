"""The provider ``mlir``: the tools of MLIR and a C compiler, and the options of their commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from actiondbg.kernels.errors import CompileError
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import (
    Configuration,
    Dispatch,
    ElementType,
    Operation,
    Parameter,
    Tensor,
)
from actiondbg.kernels.providers.mlir.predefined import (
    parameters_obstacle,
    pipeline_of,
    predefined_schedules,
    schedule_of,
    schedule_of_choice,
    schedule_space,
    split_pipeline,
)
from actiondbg.kernels.providers.mlir.schedule import ROOT, ScheduleText, has_bits, root_is_last
from actiondbg.kernels.providers.mlir.toolchain import Toolchain, find_toolchain
from actiondbg.kernels.providers.provider import (
    CONFIGURED,
    Applied,
    CompiledKernel,
    ConfiguredStep,
    Provider,
)
from actiondbg.kernels.providers.shared_library import LOADER, SUPPORT, support_source
from actiondbg.kernels.providers.steps import CompilationSteps

_BUFFERIZE = "--one-shot-bufferize=bufferize-function-boundaries"

# Buffers of tiles are made once, outside of the loops; small ones on the stack.
_DEALLOCATE = (
    "--buffer-loop-hoisting",
    "--promote-buffers-to-stack=max-alloc-size-in-bytes=65536",
    "--buffer-deallocation-pipeline",
)

# From buffers, loops and vectors to the dialect LLVM. The first passes change nothing after a
# configuration that has done their work.
_TO_LLVM = (
    "--convert-linalg-to-loops",
    "--canonicalize",
    "--cse",
    "--convert-vector-to-scf",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-vector-to-llvm",
    "--convert-math-to-llvm",
    # Functions that LLVM lacks, such as erf, as calls of libm for each element of a vector.
    "--convert-math-to-libm",
    "--convert-vector-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    # Before --arith-expand, whose minima and maxima do not distinguish -0.0 from 0.0.
    "--convert-arith-to-llvm",
    "--arith-expand",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--convert-cf-to-llvm",
    "--convert-ub-to-llvm",
    "--reconcile-unrealized-casts",
    "--canonicalize",
    "--cse",
)
_LLC = ("-O3", "-mcpu=native", "-filetype=obj", "-relocation-model=pic")

# What decides the code of every kernel, beside its source.
IDENTITY = " ".join((_BUFFERIZE, *_DEALLOCATE, *_TO_LLVM, *_LLC))

SCHEDULED = "scheduled.mlir"  # after the step that contains the configuration
_ELEMENTWISE = re.compile(
    r"^(?P<indent> *)(?P<head>%\w+ = linalg\.generic [^\n]*?"
    r"\bins\((?P<inputs>[^:\n]*) : [^\n]*?\) outs\()"
    r"(?P<destination>%\w+)(?P<tail> : (?P<type>tensor<[^>\n]*>)\)[^\n]*\n"
    r" *\^bb0\((?P<arguments>[^\n]*)\):\n(?P<body>.*?)^ *\} -> )",
    re.MULTILINE | re.DOTALL,
)


def pipeline_passes(pipeline: str) -> list[str]:
    """Return the passes of a pipeline as options of mlir-opt, on buffers.

    Args:
        pipeline: the text, such as ``convert-linalg-to-loops,canonicalize{max-iterations=2}``, or
            nested, such as ``cse,func.func(affine-loop-unroll)``; "" for none. One with
            one-shot-bufferize begins with tensors.

    Raises:
        ValueError: brackets are unbalanced; the message is a sentence.
    """
    passes = split_pipeline(pipeline)
    bufferizes = "one-shot-bufferize" in pipeline
    if any("(" in each.partition("{")[0] for each in passes):  # nested
        first = [] if bufferizes else ["one-shot-bufferize{bufferize-function-boundaries}"]
        return [f"--pass-pipeline=builtin.module({','.join([*first, *passes])})"]
    return [*([] if bufferizes else [_BUFFERIZE]), *(f"--{_option(each)}" for each in passes)]


def _option(text: str) -> str:
    name, brace, options = text.partition("{")
    return f"{name}={options.removesuffix('}')}" if brace else name


def to_llvm(scheduled: str, *, reassociate: bool) -> list[str]:
    """Return the passes that bring a configured function to the dialect LLVM.

    Args:
        scheduled: the module, which decides whether buffers are left to be deallocated.
        reassociate: whether the elements of a vector may be added as a tree; else one by one.
    """
    allocates = "memref.dealloc" not in scheduled and (
        "memref.alloc" in scheduled or "tensor.empty" in scheduled
    )
    vectors = "--convert-vector-to-llvm"
    tree = f"{vectors}=reassociate-fp-reductions"
    passes = [tree if reassociate and each == vectors else each for each in _TO_LLVM]
    return [_BUFFERIZE, *(_DEALLOCATE if allocates else ()), *passes]


def link_options(toolchain: Toolchain) -> list[str]:
    """Return the options of the C compiler that compiles SUPPORT and links the kernel."""
    options = ["-shared", "-fPIC", "-O2", SUPPORT, "kernel.o", "-o", "kernel.so"]
    libraries = ["-Wl,-z,defs", "-Wl,--as-needed", "-lm"]
    if toolchain.vector_math:
        libraries.append("-lmvec")
    if toolchain.runtime is not None:
        place = [f"-L{toolchain.runtime}", f"-Wl,-rpath,{toolchain.runtime}"]
        libraries += [*place, "-lmlir_c_runner_utils"]
    return [*options, *libraries]


class MlirProvider(Provider):
    """Compiles with mlir-opt, mlir-translate, llc and cc, for the CPU at hand."""

    name = "mlir"
    default_is_plain = True

    def identity(self) -> str:
        support = sha256(support_source("kernel", 1).encode()).hexdigest()[:12]
        return f"{find_toolchain().identity}; {IDENTITY}; {support}"

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
            # They interpret the schedule of the module, and remove it.
            passes = ["--transform-interpreter", f"--symbol-privatize=exclude={operation.name}"]
            passes.append("--symbol-dce")
        elif configuration.parameters:
            passes = pipeline_passes(pipeline_of(configuration))
        else:
            # Operations on tensors of bits are fused, such that none of them are stored: MLIR 22
            # cannot lower that (an assertion fails).
            fuses = has_bits(operation.body("%out", ""))
            passes = [*(["--linalg-fuse-elementwise-ops"] if fuses else []), _BUFFERIZE]
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
        passes = to_llvm(text, reassociate=reassociate)
        lower = [*passes, "-o", "llvm.mlir"]
        steps.run("mlir-opt", [str(tools.mlir_opt), str(scheduled), *lower])
        translate = ["--mlir-to-llvmir", "llvm.mlir", "-o", "kernel.ll"]
        steps.run("mlir-translate", [str(tools.mlir_translate), *translate])
        options = [*_LLC, f"-mtriple={tools.triple}"]
        if tools.vector_math:  # LLVM takes the names of vector functions from the triple
            options.append("-vector-library=LIBMVEC")
        steps.run("llc", [str(tools.llc), *options, "kernel.ll", "-o", "kernel.o"])
        steps.run("cc", [str(tools.cc), *link_options(tools)])
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
