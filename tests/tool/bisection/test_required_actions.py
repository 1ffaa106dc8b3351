"""Bisections of whole lowerings, in which most passes have to run for an output to be judged."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection.result import Result
from tests.paths import ROOT

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
