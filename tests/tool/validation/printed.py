"""What programs print: interpreted, and lowered and run by MLIR."""

from __future__ import annotations

import subprocess
from pathlib import Path

from actiondbg.validation.concrete import Concrete
from actiondbg.validation.domain import POISON
from actiondbg.validation.interpreter import run_function
from actiondbg.validation.machine import VisibleEvent
from actiondbg.validation.program_reader import ProgramReader

LOWERING = (
    "builtin.module(convert-tensor-to-linalg,"
    "one-shot-bufferize{bufferize-function-boundaries},"
    "func.func(scf-forall-to-for,affine-expand-index-ops),convert-linalg-to-loops,"
    "func.func(lower-vector-mask,lower-vector-multi-reduction),"
    "convert-vector-to-scf{full-unroll=true},lower-affine,arith-expand,memref-expand,"
    "convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-vector-to-llvm{vector-contract-lowering=outerproduct},"
    "func.func(convert-complex-to-standard),convert-complex-to-llvm,"
    "convert-math-to-llvm,convert-math-to-libm,convert-index-to-llvm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,convert-ub-to-llvm,"
    "reconcile-unrealized-casts)"
)
_TEXTS = {"Open": "( ", "Comma": ", ", "Close": " )", "Newline": "\n"}


def executed(program: str, mlir_opt: str, lowering: str = LOWERING) -> str:
    """Return what @main prints when MLIR lowers and runs it."""
    tools = Path(mlir_opt).parent
    lower = [mlir_opt, f"--pass-pipeline={lowering}"]
    lowered = subprocess.run(lower, input=program, capture_output=True, text=True, check=False)
    assert lowered.returncode == 0, lowered.stderr
    names = ("libmlir_runner_utils.so", "libmlir_c_runner_utils.so")
    libraries = ",".join(str(tools.parent / "lib" / name) for name in names)
    run = [str(tools / "mlir-runner"), "-e", "main", "--entry-point-result=void"]
    done = subprocess.run(
        [*run, f"-shared-libs={libraries}"],
        input=lowered.stdout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def interpreted(program: str, *, steps: int = 2_000_000) -> str:
    """Return what @main prints when it is interpreted."""
    module = ProgramReader().read(program)
    outcome = run_function(module, "main", [], Concrete(is_source=False), steps=steps)
    return "".join(_text(event) for event in outcome.events)


def _text(event: VisibleEvent) -> str:
    name = event.kind.removeprefix("call @print")
    if name in _TEXTS:
        return _TEXTS[name]
    (value,) = event.operands
    if value is POISON:
        return "poison"
    if name == "I64":
        return str(value - (1 << 64) if value >> 63 else value)
    return str(value) if name == "U64" else f"{value:g}"
