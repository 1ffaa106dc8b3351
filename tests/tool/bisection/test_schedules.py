"""Programs in modules with a schedule of the transform dialect."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Compare
from actiondbg.errors import OracleError
from tests.paths import ROOT

LOOP = (ROOT / "examples" / "miscompiles" / "while-if.mlir").read_text()
# Schedules: another module, a declaration, a region, an attribute beside that of schedules.
MODULE = """\
module attributes {{test.kept, transform.with_named_sequence}} {{
{program}
  module @library attributes {{transform.with_named_sequence}} {{
    transform.named_sequence @declared(!transform.any_op {{transform.readonly}})
    transform.named_sequence @nothing(%each: !transform.any_op {{transform.readonly}}) {{
      transform.foreach %each : !transform.any_op {{
      ^bb0(%one: !transform.any_op):
        transform.yield
      }}
      transform.yield
    }}
  }}
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %f = transform.structured.match ops{{["func.func"]}} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.apply_cse to %f : !transform.any_op
    transform.apply_patterns to %f {{
      transform.apply_patterns.canonicalization
    }} : !transform.any_op
    transform.yield
  }}
}}
"""
SILENT = "func.func @main() {\n  return\n}\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_program_with_a_schedule_is_compared(mlir_opt: str) -> None:
    Path("in.mlir").write_text(MODULE.format(program=LOOP))
    argv = [mlir_opt, "in.mlir", "--transform-interpreter"]
    result = actiondbg.bisect(argv, Compare(), output="out")
    assert (result.verdict, result.confirmed) == ("found", "good"), result.message
    assert result.culprit is not None
    assert (result.culprit.name, result.culprit.pass_name) == (
        "WhileMoveIfDown",
        "transform-interpreter",
    )
    assert result.reproducer_verified
    done = subprocess.run(
        ["out/repro.sh"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout
    assert "verdicts are as expected" in done.stdout


def test_a_program_that_prints_nothing_is_refused(mlir_opt: str) -> None:
    Path("in.mlir").write_text(SILENT)
    with pytest.raises(OracleError, match="prints nothing when 'main' is called, so no output can"):
        actiondbg.bisect([mlir_opt, "in.mlir", "--canonicalize"], Compare())
