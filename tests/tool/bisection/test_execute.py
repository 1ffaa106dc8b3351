"""The oracle --execute: programs that its own lowering, too, may compute otherwise."""

from __future__ import annotations

import cmath
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Execute
from actiondbg.bisection.execute_oracle import PIPELINE
from tests.conftest import LIBRARY
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
