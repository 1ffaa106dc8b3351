"""The oracle --execute: programs that its own lowering, too, may compute otherwise."""

from __future__ import annotations

import cmath
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Execute
from actiondbg.bisection.execute_oracle import PIPELINE
from actiondbg.errors import OracleError
from tests.conftest import LIBRARY
from tests.tool.bisection.test_reproducers import report, script
from tests.tool.validation.printed import executed

BUILDS = LIBRARY

FUNCTIONS = {name: getattr(cmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tanh")}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- what the lowering computes ---


def complex_program(type: str, value: complex) -> str:
    """Return a program that prints the functions of a number: real and imaginary parts."""
    printed = "\n".join(
        f"%{name} = complex.{name} %z : complex<{type}>\n"
        f"%{name}_re = complex.re %{name} : complex<{type}>\n"
        f"%{name}_im = complex.im %{name} : complex<{type}>\n"
        f"vector.print %{name}_re : {type}\nvector.print %{name}_im : {type}"
        for name in FUNCTIONS
    )
    return f"""\
func.func @main() {{
  %x = arith.constant {value.real} : {type}
  %y = arith.constant {value.imag} : {type}
  %z = complex.create %x, %y : complex<{type}>
  {printed}
  return
}}
"""


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_functions_of_complex_numbers(mlir_opt: str, type: str) -> None:
    value = complex(-0.75, 1.25)
    printed = executed(complex_program(type, value), mlir_opt, PIPELINE)
    numbers = [float(word) for word in printed.split()]
    found = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    assert found == pytest.approx([function(value) for function in FUNCTIONS.values()], rel=1e-5)


def test_a_right_lowering_of_complex_numbers_is_not_blamed(mlir_opt: str) -> None:
    Path("in.mlir").write_text(complex_program("f32", complex(-0.75, 1.25)))
    found = actiondbg.bisect([mlir_opt, "in.mlir", "--convert-complex-to-standard"], Execute())
    assert found.verdict == "not-bad", found.message


# --- what the lowering folds ---

# Upstream folds log(exp(z)) to z, which is wrong where the imaginary part is beyond pi.
SPLIT = """\
func.func private @power(%z: complex<f64>) -> complex<f64> {
  %0 = complex.exp %z : complex<f64>
  return %0 : complex<f64>
}
func.func @main() {
  %x = arith.constant 1.0 : f64
  %y = arith.constant 4.0 : f64
  %z = complex.create %x, %y : complex<f64>
  %0 = call @power(%z) : (complex<f64>) -> complex<f64>
  %1 = complex.log %0 : complex<f64>
  %2 = complex.im %1 : complex<f64>
  vector.print %2 : f64
  return
}
"""


@pytest.mark.parametrize(
    "flags",
    [["--inline"], ["--inline=default-pipeline=", "--canonicalize"]],
    ids=["alone", "apart"],
)
def test_a_fold_of_the_lowering_blames_no_other_action(mlir_opt: str, flags: list[str]) -> None:
    """The inliner folds after it, or leaves to the lowering what nothing has folded."""
    right = cmath.log(cmath.exp(1 + 4j)).imag
    assert float(executed(SPLIT, mlir_opt)) == pytest.approx(right, rel=1e-5)
    Path("in.mlir").write_text(SPLIT)
    found = actiondbg.bisect([mlir_opt, "in.mlir", *flags], Execute(), output="out")
    assert found.culprit is not None, found.message
    assert (found.culprit.tag, found.culprit.name) == ("fold", "complex.log")
    assert found.reproducer_verified, found.notes
    assert "repro.sh: shows bad and good, and needs actiondbg" in report(Path("out"))
    done = script(Path("out"))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "good, expected good" in done.stdout and "bad, expected bad" in done.stdout


def test_a_fold_of_the_lowering_hides_no_culprit(mlir_opt: str) -> None:
    """Here the lowering folds the reference, too."""
    joined = SPLIT.replace(
        "call @power(%z) : (complex<f64>) -> complex<f64>", "complex.exp %z : complex<f64>"
    )
    Path("in.mlir").write_text(joined)
    found = actiondbg.bisect([mlir_opt, "in.mlir", "--canonicalize"], Execute())
    assert found.culprit is not None, found.message
    assert (found.culprit.tag, found.culprit.name) == ("fold", "complex.log")


# Upstream folds a reduction of nothing to its source, and forgets the accumulator; without this
# fold there is no lowering.
OF_NOTHING = """\
func.func @main() {
  %a = arith.constant dense<[[3, 4], [5, 6]]> : vector<2x2xi32>
  %b = arith.constant dense<[[30, 40], [50, 60]]> : vector<2x2xi32>
  %0 = vector.multi_reduction <add>, %a, %b [] : vector<2x2xi32> to vector<2x2xi32>
  %1 = vector.extract %0[0, 1] : i32 from vector<2x2xi32>
  vector.print %1 : i32
  return
}
"""


def test_nothing_is_blamed_where_the_lowering_needs_folds(mlir_opt: str) -> None:
    Path("in.mlir").write_text(OF_NOTHING)
    command = [mlir_opt, "in.mlir", "--canonicalize"]
    with pytest.raises(OracleError, match="is not known: '4', but its lowering needs folds"):
        actiondbg.bisect(command, Execute())
    # Who gives a pipeline answers for it.
    found = actiondbg.bisect(command, Execute(lower=PIPELINE.replace("arith-expand,", "")))
    assert found.found, found.message
