"""Bisections of whole lowerings, in which most passes have to run for an output to be judged."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Diagnostic
from actiondbg.bisection.result import Result
from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

MISCOMPILES = ROOT / "examples" / "miscompiles"
LOWERING = (
    "convert-vector-to-scf,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-vector-to-llvm,convert-func-to-llvm,convert-index-to-llvm,convert-arith-to-llvm,"
    "convert-cf-to-llvm,finalize-memref-to-llvm,reconcile-unrealized-casts"
)
# What is not lowered to the end cannot be run, and so not be judged.
ORACLE = """\
#!/bin/sh
lib=$(dirname "$(dirname "$(readlink -f "$(command -v mlir-runner)")")")/lib
printed=$(mlir-runner "$1" -e main --entry-point-result=void \\
  --shared-libs="$lib/libmlir_runner_utils.so,$lib/libmlir_c_runner_utils.so" 2> /dev/null) ||
  exit 125
test "$printed" = "$2"
"""


@pytest.fixture
def oracle(tmp_path: Path) -> str:
    script = tmp_path / "judge"
    script.write_text(ORACLE)
    script.chmod(0o755)
    return shlex.quote(str(script)) + " {} "


def bisect(tool: str, name: str, passes: str, oracle: str) -> Result:
    pipeline = f"--pass-pipeline=builtin.module({passes},{LOWERING},canonicalize)"
    return actiondbg.bisect([tool, str(MISCOMPILES / f"{name}.mlir"), pipeline], oracle)


def test_a_pattern_before_a_lowering(mlir_opt: str, oracle: str) -> None:
    result = bisect(mlir_opt, "while-if", "canonicalize,cse", oracle + "3")
    assert (result.verdict, result.confirmed) == ("found", "good")
    assert result.culprit is not None
    assert (result.culprit.ordinal, result.culprit.name) == (8, "WhileMoveIfDown")
    assert any("must run" in note for note in result.notes)


def test_a_pass_before_a_lowering(mlir_opt: str, oracle: str) -> None:
    passes = "canonicalize,func.func(affine-loop-invariant-code-motion),cse"
    result = bisect(mlir_opt, "hoisted-store", passes, oracle + "7")
    assert (result.verdict, result.confirmed) == ("found", "good")
    assert result.culprit is not None
    assert (result.culprit.ordinal, result.culprit.name) == (
        15,
        "affine-loop-invariant-code-motion",
    )


def test_required_conversion_is_not_good(mlir_opt: str, oracle: str) -> None:
    result = bisect(mlir_opt, "wide-switch", "canonicalize", oracle + "30")
    assert result.verdict == "untestable"
    assert "convert-scf-to-cf" in result.message
    with actiondbg.launch([mlir_opt, str(MISCOMPILES / "wide-switch.mlir"), *_flags()]) as session:
        session.breakpoints.add("pass:convert-scf-to-cf")
        culprit = session.run().ordinal
    assert result.range is not None
    assert result.range[0] <= culprit <= result.range[1]


def _flags() -> list[str]:
    return [f"--pass-pipeline=builtin.module(canonicalize,{LOWERING},canonicalize)"]


# --- events in runs that fail anyway -----------------------------------------------------------

TOSA = """\
func.func @f(%a: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = tosa.abs %a : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}
"""
# The interpreter remarks on the select that canonicalize makes.
REMARK = """\
module attributes {transform.with_named_sequence} {
  func.func @f(%p: i1, %a: i32, %b: i32) -> i32 {
    %0 = scf.if %p -> i32 {
      scf.yield %a : i32
    } else {
      scf.yield %b : i32
    }
    return %0 : i32
  }
  func.func @fails(%m: memref<?xf32>, %i: index) -> index {
    %0 = memref.dim %m, %i : memref<?xf32>
    return %0 : index
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["arith.select"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %0, "a select" : !transform.any_op
    transform.yield
  }
}
"""


def events(tool: str, source: str, pipeline: str, glob: str, always: list[str]) -> Result:
    Path("in.mlir").write_text(source)
    argv = [tool, "in.mlir", f"--pass-pipeline=builtin.module({pipeline})"]
    return actiondbg.bisect(argv, Diagnostic(glob), always=always)


@pytest.mark.usefixtures("folds")
def test_a_run_that_fails_before_the_event_is_untestable(mlir_opt: str) -> None:
    """Without tosa-to-linalg the tool fails in bufferization, and never gets to the event."""
    passes = ["one-shot-bufferize", "convert-memref-to-emitc"]
    pipeline = (
        "func.func(tosa-to-linalg),one-shot-bufferize{bufferize-function-boundaries},"
        "convert-memref-to-emitc"
    )
    result = events(mlir_opt, TOSA, pipeline, "failed to legalize operation 'memref.*", passes)
    assert result.verdict == "untestable", result.message
    assert "op was not bufferized" in result.message
    (note,) = [note for note in result.notes if "is repeated" in note]
    assert "if it got past convert-memref-to-emitc" in note


@pytest.mark.usefixtures("folds")
@pytest.mark.parametrize("no_fork", [False, True])
def test_a_run_that_fails_after_the_event_is_good(mlir_opt: str, no_fork: bool) -> None:
    Path("in.mlir").write_text(REMARK)
    passes = "func.func(canonicalize),transform-interpreter,convert-memref-to-emitc"
    pipeline = f"--pass-pipeline=builtin.module({passes})"
    result = actiondbg.bisect(
        [mlir_opt, "in.mlir", pipeline],
        Diagnostic("a select"),
        always=["transform-interpreter", "convert-memref-to-emitc"],
        no_fork=no_fork,
    )
    assert (result.verdict, result.confirmed) == ("found", "good"), result.message
    assert result.culprit is not None
    assert result.culprit.name == "ConvertTrivialIfToSelect"
    assert any("if it got past transform-interpreter" in note for note in result.notes)
