"""Why types do not convert, and why the verifier refuses IR, in real tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import actiondbg
from actiondbg.protocol.legalizations import TypeFailed
from tests.fakes import command_line
from tests.fakes import stock_tool as stock

Launch = Callable[..., actiondbg.Session]


class Case(NamedTuple):
    """An operation on a type that does not convert.

    Attributes:
        options: of the tool.
        source: the input.
        said: a part of the debug output, in a build with assertions; empty for none.
        part: the part that does not convert; None for the type itself.
        similar: a type that converts.
    """

    options: tuple[str, ...]
    source: str
    said: str
    part: str | None
    similar: str | None


def spirv(type: str, capabilities: str = "Shader") -> str:
    return f"""\
module attributes {{spirv.target_env =
    #spirv.target_env<#spirv.vce<v1.0, [{capabilities}], []>, #spirv.resource_limits<>>}} {{
  func.func @f(%a: {type}) -> {type} {{
    %0 = arith.muli %a, %a : {type}
    return %0 : {type}
  }}
}}
"""


def load(type: str) -> str:
    return f"""\
func.func @f(%a: {type}, %i: index) -> f32 {{
  %0 = memref.load %a[%i] : {type}
  return %0 : f32
}}
"""


ARITH = ("--convert-arith-to-spirv",)
CASES = [
    Case(ARITH, spirv("i64"), "[Int64]", None, "i32"),
    Case(ARITH, spirv("vector<5xi32>"), "vector<5xi32> illegal", None, "vector<4xi32>"),
    Case(ARITH, spirv("vector<4xi64>"), "", "i64", "i32"),
    Case(
        ("--finalize-memref-to-llvm",),
        load('memref<4xf32, "here">'),
        "",
        None,
        "memref<4xf32>",
    ),
    Case(ARITH, spirv("vector<2x3xi32>"), "not a valid composite type", None, "vector<3xi32>"),
    Case(ARITH, spirv("vector<4x4xi32>"), "not a valid composite type", None, "vector<4xi32>"),
    Case(ARITH, spirv("vector<2x3xi64>"), "", "i64", "i32"),
    Case(
        ("--finalize-memref-to-llvm",),
        load("memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>"),
        "",
        None,
        "memref<4xf32>",
    ),
    Case(
        ("--convert-func-to-llvm",),
        "func.func private @f(tensor<2x?xf32>) -> ()",
        "",
        None,
        "memref<2x?xf32>",
    ),
    Case(
        ("--convert-func-to-llvm",),
        "func.func private @f(tuple<i32, tensor<*xf64>>) -> ()",
        "",
        "tensor<*xf64>",
        None,
    ),
    Case(
        ("--convert-func-to-spirv",),
        "func.func private @f(memref<?x?xi8, affine_map<(d0, d1) -> (d1, d0)>>) -> ()",
        "storage class attribute",
        None,
        None,
    ),
]


def failed_type(session: actiondbg.Session, target: str | None) -> TypeFailed:
    """The first type that did not convert."""
    found = session.past.explain(target)
    tried = [each for one in found.conversions for each in one.legalizations[-1].tried]
    return next(each.types[0] for each in tried if each.types)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_why_a_type_does_not_convert(case: Case, launch: Launch) -> None:
    session = launch(*case.options, source=stock.write("type.mlir", case.source))
    session.run()
    is_function = "private" in case.source
    target = "op:func.func" if is_function else "op:memref.load"
    if session.exit_status:
        target = None
    failed = failed_type(session, target)
    assert failed.part == case.part
    similar = [one.type for one in failed.similar]
    assert case.similar in similar if case.similar else not similar
    assert len(similar) == len(set(similar))
    has_assertions = not str(session.target.tool.path).startswith("/usr")
    assert (case.said in (failed.said or "")) == (has_assertions or not case.said)
    # Nothing is written, and the run has not changed.
    assert session.target.errors() == stock.run(session.target.argv).stderr
    assert session.past.explain(target).conversions


def test_the_answer_in_a_terminal(
    mlir_opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = stock.write("type.mlir", spirv("i64"))
    done = command_line.run("explain", "--html", "why.html", "--", mlir_opt, source, *ARITH)
    assert done.returncode == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    at = lines.index("mlir::SPIRVTypeConverter does not convert i64")
    own = stock.run([mlir_opt, source, *ARITH])
    assert own.stderr in done.stderr
    has_assertions = not mlir_opt.startswith("/usr")
    said = lines[at + 1]
    assert said.startswith("debug output: i64 illegal: requires ") == has_assertions
    assert any(line.startswith("of another width it converts: ") for line in lines)
    assert "of another width it converts" in Path("why.html").read_text()


@pytest.mark.parametrize(("type", "failed"), [("i32", []), ("f32", ["f32"])])
def test_a_converter_that_asks_for_values(
    type: str, failed: list[str], pattern_plugin: Path, launch: Launch
) -> None:
    """The pass by-value of the plug-in converts values of i32, by no rule for the type."""
    source = f"""\
func.func @f(%a: {type}) {{
  %0 = builtin.unrealized_conversion_cast %a : {type} to i64 {{illegal}}
  return
}}
"""
    options = f"--load-pass-plugin={pattern_plugin}", "--pass-pipeline=builtin.module(by-value)"
    session = launch(*options, source=stock.write("value.mlir", source))
    session.run()
    assert session.exit_status == 1
    (conversion,) = session.past.explain().conversions
    (tried,) = conversion.legalizations[-1].tried
    assert [each.type for each in tried.types] == failed
