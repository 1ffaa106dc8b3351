"""The provider ``c``: what a user has without MLIR, a loop nest and ``cc -O3``."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from actiondbg.kernels.errors import ProviderMissing, Unsupported
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model import Configuration, Dispatch, Operation
from actiondbg.kernels.programs.loop_nests import HEADER, loop_nests
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.shared_library import LOADER, SUPPORT, support_source
from actiondbg.kernels.providers.steps import CompilationSteps
from actiondbg.support.executables import answer_of, which

_SOURCE, _LIBRARY = "kernel.c", "kernel.so"
# Sums along the innermost loop may be reordered (by OpenMP's simd), and integers wrap around.
_OPTIONS = ("-O3", "-march=native", "-fopenmp-simd", "-fno-math-errno", "-fwrapv")
_LINKED = ("-shared", "-fPIC", "-w", _SOURCE, SUPPORT, "-o", _LIBRARY, "-lm")
_SECONDS = 60


class CProvider(Provider):
    """Writes an operation as loop nests in C, and compiles them with the C compiler at hand."""

    name: ClassVar[str] = "c"
    is_baseline: ClassVar[bool] = True

    def identity(self) -> str:
        if find_spec("mlir") is None:
            raise ProviderMissing(
                "The provider c needs MLIR's Python bindings, which read the operation: "
                "pip install 'actiondbg[mlir]'."
            )
        header = hashlib.sha256((HEADER + support_source("kernel", 1)).encode()).hexdigest()[:12]
        return f"{_version(_compiler())} {' '.join(_OPTIONS)} {_target(_compiler())} {header}"

    def default(self, operation: Operation) -> Configuration:
        return Configuration(self.name, "c_loops")

    def configurations(self, operation: Operation) -> Sequence[Configuration]:
        return ()

    def obstacle(self, dispatch: Dispatch) -> str | None:
        if dispatch.configuration.parameters:
            names = ", ".join(dispatch.configuration.parameters)
            return f"The provider c has no parameters, but the configuration has {names}."
        try:
            _source(dispatch.operation, dispatch.operation.function(destination=True))
        except Unsupported as error:
            return str(error)
        return None

    def source(self, dispatch: Dispatch) -> str:
        return dispatch.operation.function(destination=True)

    def compile(self, dispatch: Dispatch, folder: Path, steps: CompilationSteps) -> CompiledKernel:
        operation = dispatch.operation
        symbol = _symbol(operation)
        steps.note(f"{_SOURCE} is the operation as loops; {SUPPORT} calls it in a loop")
        if not steps.dry_run:
            configured = (folder / "configured.mlir").read_text()
            (folder / _SOURCE).write_text(_source(operation, configured))
            support = support_source(symbol, len(operation.inputs) + 1)
            (folder / SUPPORT).write_text(support)
        steps.run("cc", [_compiler(), *_OPTIONS, *_LINKED])
        binary = KernelBinary(
            LOADER, (folder / _LIBRARY).absolute(), symbol, operation.inputs, operation.result
        )
        return CompiledKernel(binary, binary, "unknown" if steps.dry_run else "default")


def _symbol(operation: Operation) -> str:
    return f"_mlir_ciface_{operation.name}"


def _source(operation: Operation, text: str) -> str:
    """Return the C source: the loops, and a function that takes descriptors of memrefs."""
    loops = loop_nests(text, "kernel")
    count = len(operation.inputs) + 1
    parameters = ", ".join(f"struct memory *m{at}" for at in range(count))
    arguments = ", ".join(f"m{at}->aligned" for at in range(count))
    return f"""{HEADER}
{loops}
struct memory {{
  void *allocated, *aligned;
}};

void {_symbol(operation)}({parameters}) {{
  kernel({arguments});
}}
"""


def _compiler() -> str:
    found = which("cc") or which("gcc") or which("clang")
    if found is None:
        raise ProviderMissing("The provider c needs a C compiler: apt-get install gcc.")
    return found


@cache
def _version(compiler: str) -> str:
    return _output(compiler, "--version").partition("\n")[0]


@cache
def _target(compiler: str) -> str:
    """Return a digest of the features that code for this machine may use."""
    features = _output(compiler, "-march=native", "-dM", "-E", "-x", "c", "/dev/null")
    return hashlib.sha256(features.encode()).hexdigest()[:12]


def _output(compiler: str, *options: str) -> str:
    try:
        return answer_of([compiler, *options], _SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ProviderMissing(f"The provider c cannot run {compiler!r}: {error}.") from error
