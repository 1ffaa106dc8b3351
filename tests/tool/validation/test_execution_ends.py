"""How runs of functions end that crash, hang, or cannot be lowered."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from actiondbg.bisection.command_runner import Cancelled
from actiondbg.validation.execution.harness import make_test
from actiondbg.validation.execution.runner import NotLowered, Runner
from actiondbg.validation.execution.tested_function import NotTestable
from actiondbg.validation.inputs import Array, Input, View

BUILDS = ("pypi",)

DIVISION = """
  func.func @f(%a: i32, %b: i32) -> i32 {
    %0 = arith.divsi %a, %b : i32
    return %0 : i32
  }"""
LOOP = """
  func.func @f(%a: i1) {
    cf.br ^again
  ^again:
    cf.cond_br %a, ^again, ^end
  ^end:
    return
  }"""


@pytest.fixture
def runner(mlir_opt: str, tmp_path: Path) -> Runner:
    return Runner(Path(mlir_opt), tmp_path, seconds=5)


def test_a_division_by_zero_costs_its_input_only(runner: Runner) -> None:
    test = make_test(DIVISION, "f", [Input((7, 2)), Input((7, 0)), Input((9, 3))])
    runs = runner.run(test)
    assert [each.failure for each in runs] == ["", "died of SIGFPE", ""]
    assert [each.part("result 0").bits for each in (runs[0], runs[2])] == [(3,), (3,)]


def test_an_assertion(runner: Runner) -> None:
    text = """
      func.func @f(%a: i1) {
        cf.assert %a, "never"
        return
      }"""
    (done,) = runner.run(make_test(text, "f", [Input((0,))]))
    assert done.failure == "died of SIGABRT"


def test_a_null_pointer(runner: Runner) -> None:
    text = """
      llvm.func @f() -> i32 {
        %0 = llvm.mlir.zero : !llvm.ptr
        %1 = llvm.load %0 : !llvm.ptr -> i32
        llvm.return %1 : i32
      }"""
    (done,) = runner.run(make_test(text, "f", [Input(())]))
    assert done.failure == "died of SIGSEGV"


def test_an_endless_loop(runner: Runner) -> None:
    runner.seconds = 1
    began = time.monotonic()
    (done,) = runner.run(make_test(LOOP, "f", [Input((1,))]))
    assert done.failure == "did not end in 1 s"
    assert time.monotonic() - began < 5


def test_more_memory_than_there_may_be(runner: Runner) -> None:
    text = """
      func.func @f(%n: index) -> i8 {
        %zero = arith.constant 0 : index
        %x = arith.constant 7 : i8
        %0 = memref.alloc(%n) : memref<?xi8>
        memref.store %x, %0[%zero] : memref<?xi8>
        %1 = memref.load %0[%zero] : memref<?xi8>
        return %1 : i8
      }"""
    (done,) = runner.run(make_test(text, "f", [Input((2**36,))]))
    assert done.failure == "died of SIGSEGV"  # as malloc returns null


def test_an_unknown_operation(runner: Runner) -> None:
    text = """
      func.func @f(%a: i32) -> i32 {
        %0 = "no.such"(%a) : (i32) -> i32
        return %0 : i32
      }"""
    with pytest.raises(NotLowered, match=r"the plain lowering leaves no\.such"):
        runner.run(make_test(text, "f", [Input((1,))]))


def test_a_cancelled_runner(runner: Runner) -> None:
    runner.cancel()
    with pytest.raises(Cancelled):
        runner.run(make_test(DIVISION, "f", [Input((1, 1))]))


@pytest.mark.parametrize(
    ("text", "given", "why"),
    [
        ("func.func private @f(i32)", (1,), "@f has no body"),
        ("func.func @g() { return }", (), "there is no function @f"),
        ("func.func @f(%a: i128) { return }", (1,), "type i128"),
        ("func.func @f(%a: memref<*xf32>) { return }", (1,), "type memref<\\*xf32>"),
        ("func.func @f(%a: memref<4xi4>) { return }", (1,), "memory of i2 and i4"),
        ("func.func @f(%a: i32) { return }", (), "takes 1 arguments"),
        ("func.func @f(%a: i32) { return }", (Array((1,), (1,)),), "is no i32"),
        ("func.func @f(%a: memref<1x1xi32>) { return }", (View(0, 0, (1,), (1,)),), "is no memref"),
    ],
)
def test_no_test_can_be_made(text: str, given: tuple[int, ...], why: str) -> None:
    with pytest.raises(NotTestable, match=why):
        make_test(text, "f", [Input(given, ((1,),))])
