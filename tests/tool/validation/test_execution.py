"""Functions of all kinds, run for real: what was printed is what NumPy, or a hand, computes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from actiondbg.validation.execution.harness import make_test
from actiondbg.validation.execution.runner import ExecutedCall, Runner
from actiondbg.validation.inputs import Array, Input, View
from tests.conftest import LIBRARY

BUILDS = LIBRARY

NAN = float("nan")


@pytest.fixture
def runner(mlir_opt: str, tmp_path: Path) -> Runner:
    return Runner(Path(mlir_opt), tmp_path)


def run(runner: Runner, text: str, *inputs: Input, symbol: str = "f") -> list[ExecutedCall]:
    return runner.run(make_test(text, symbol, inputs))


def bits(executed: ExecutedCall, key: str = "result 0") -> tuple[int, ...]:
    assert executed.failure == ""
    return executed.part(key).bits


@pytest.mark.parametrize("width", [1, 3, 8, 16, 24, 32, 64])
def test_integers_of_all_widths(runner: Runner, width: int) -> None:
    text = f"""
      func.func @f(%a: i{width}, %b: i{width}) -> i{width} {{
        %0 = arith.subi %a, %b : i{width}
        return %0 : i{width}
      }}"""
    largest = 2**width - 1
    one, two = run(runner, text, Input((0, 1)), Input((largest, 2 % 2**width)))
    assert bits(one) == (largest,)
    assert bits(two) == ((largest - 2 % 2**width) % 2**width,)


def test_an_index(runner: Runner) -> None:
    text = """
      func.func @f(%a: index) -> index {
        %0 = index.sub %a, %a
        %1 = index.sub %0, %a
        return %1 : index
      }"""
    (done,) = run(runner, text, Input((5,)))
    assert bits(done) == (2**64 - 5,)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("f32", np.float32),
        ("f64", np.float64),
    ],
)
def test_floats_of_all_widths(runner: Runner, name: str, kind: type[np.generic]) -> None:
    text = f"""
      func.func @f(%a: {name}, %b: vector<5x{name}>) -> ({name}, vector<5x{name}>) {{
        return %a, %b : {name}, vector<5x{name}>
      }}"""
    given = np.array([-0.0, 0.1, 1e-7, NAN, float("-inf")]).astype(kind)
    values = tuple(float(each) for each in given)
    (done,) = run(runner, text, Input((values[1], Array((5,), values))))
    size = given.dtype.itemsize
    assert bits(done) == (int.from_bytes(given[1].tobytes(), "little"),)
    assert bits(done, "result 1")[:3] == tuple(given.view(f"u{size}").tolist())[:3]
    infinity = float(done.part("result 1").numbers()[4])
    assert infinity == float("-inf")
    assert np.isnan(done.part("result 1").numbers()[3])


def test_vectors_of_several_dimensions(runner: Runner) -> None:
    text = """
      func.func @f(%a: vector<2x3xi8>, %b: vector<i1>) -> (vector<3x2xi8>, vector<i1>) {
        %0 = vector.transpose %a, [1, 0] : vector<2x3xi8> to vector<3x2xi8>
        return %0, %b : vector<3x2xi8>, vector<i1>
      }"""
    given = np.array([[1, -2, 3], [4, 5, -6]], dtype=np.int8)
    (done,) = run(
        runner, text, Input((Array((2, 3), tuple(given.flatten().tolist())), Array((), (1,))))
    )
    assert bits(done) == tuple(given.T.astype(np.uint8).flatten().tolist())
    assert done.part("result 0").shape == (3, 2)
    assert bits(done, "result 1") == (1,)


def test_tensors_with_dynamic_sizes(runner: Runner) -> None:
    text = """
      func.func @f(%a: tensor<?x3xf32>, %b: tensor<3x?xf32>, %c: tensor<?x?xf32>)
          -> tensor<?x?xf32> {
        %0 = linalg.matmul ins(%a, %b : tensor<?x3xf32>, tensor<3x?xf32>)
          outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32>
      }"""
    left = np.arange(6, dtype=np.float32).reshape(2, 3)
    right = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    start = np.ones((2, 4), dtype=np.float32)
    arrays = [Array(each.shape, tuple(each.flatten().tolist())) for each in (left, right, start)]
    (done,) = run(runner, text, Input(tuple(arrays)))
    assert done.part("result 0").shape == (2, 4)
    assert done.part("result 0").numbers() == tuple((left @ right + start).flatten())


def test_a_tensor_without_elements(runner: Runner) -> None:
    text = "func.func @f(%a: tensor<?xi32>) -> tensor<?xi32> { return %a : tensor<?xi32> }"
    (done,) = run(runner, text, Input((Array((0,), ()),)))
    assert done.part("result 0").shape == (0,)
    assert bits(done) == ()


def test_a_tensor_with_many_elements(runner: Runner) -> None:
    text = """
      func.func @f(%a: tensor<3000xi16>) -> tensor<3000xi16> {
        %0 = arith.addi %a, %a : tensor<3000xi16>
        return %0 : tensor<3000xi16>
      }"""
    given = np.arange(3000, dtype=np.uint16) * 11
    (done,) = run(runner, text, Input((Array((3000,), tuple(given.tolist())),)))
    assert bits(done) == tuple((given + given).tolist())


def test_a_strided_memref_that_is_written(runner: Runner) -> None:
    text = """
      func.func @f(%a: memref<?x?xi32, strided<[?, ?], offset: ?>>, %x: i32) {
        %one = arith.constant 1 : index
        %zero = arith.constant 0 : index
        memref.store %x, %a[%one, %zero] : memref<?x?xi32, strided<[?, ?], offset: ?>>
        return
      }"""
    memory = np.arange(16, dtype=np.int32)
    view = View(0, 2, (2, 3), (5, 2))
    (done,) = run(runner, text, Input((view, -1), (tuple(memory.tolist()),)))
    memory[2 + 5] = -1
    assert bits(done, "memory 0") == tuple(memory.astype(np.uint32).tolist())


def test_memrefs_in_the_same_memory(runner: Runner) -> None:
    text = """
      func.func @f(%a: memref<4xi32>, %b: memref<2xi32, strided<[2], offset: 1>>) -> i32 {
        %one = arith.constant 1 : index
        %x = arith.constant 70 : i32
        memref.store %x, %b[%one] : memref<2xi32, strided<[2], offset: 1>>
        %three = arith.constant 3 : index
        %0 = memref.load %a[%three] : memref<4xi32>
        return %0 : i32
      }"""
    views = View(0, 0, (4,), (1,)), View(0, 1, (2,), (2,))
    (done,) = run(runner, text, Input(views, ((1, 2, 3, 4),)))
    assert bits(done) == (70,)
    assert bits(done, "memory 0") == (1, 2, 3, 70)


def test_a_memref_in_another_memory_space(runner: Runner) -> None:
    text = """
      func.func @f(%a: memref<?x2xf64, 1>) -> (f64, memref<?x2xf64, 1>) {
        %one = arith.constant 1 : index
        %0 = memref.load %a[%one, %one] : memref<?x2xf64, 1>
        return %0, %a : f64, memref<?x2xf64, 1>
      }"""
    (done,) = run(runner, text, Input((View(0, 0, (2, 2), (2, 1)),), ((1.0, 2.0, 3.0, 4.5),)))
    assert done.part("result 0").numbers() == (4.5,)
    assert done.part("result 1").numbers() == (1.0, 2.0, 3.0, 4.5)


def test_a_memref_without_dimensions(runner: Runner) -> None:
    text = """
      func.func @f(%a: memref<f32>) {
        %0 = memref.load %a[] : memref<f32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %a[] : memref<f32>
        return
      }"""
    (done,) = run(runner, text, Input((View(0, 0, (), ()),), ((1.25,),)))
    assert done.part("memory 0").numbers() == (2.5,)


COUNTER = """
  memref.global "private" @count : memref<2xi64> = dense<[40, -1]>
  memref.global "private" constant @step : memref<1xi64> = dense<2>
  func.func private @f(%at: index) {
    %zero = arith.constant 0 : index
    %count = memref.get_global @count : memref<2xi64>
    %step = memref.get_global @step : memref<1xi64>
    %0 = memref.load %count[%at] : memref<2xi64>
    %1 = memref.load %step[%zero] : memref<1xi64>
    %2 = arith.addi %0, %1 : i64
    memref.store %2, %count[%at] : memref<2xi64>
    return
  }"""


def test_globals_begin_anew_for_each_input(runner: Runner) -> None:
    runs = run(runner, COUNTER, Input((0,)), Input((0,)), Input((1,)))
    contents = [bits(each, "global @count") for each in runs]
    assert contents == [(42, 2**64 - 1), (42, 2**64 - 1), (40, 1)]


def test_a_module_with_its_own_main_and_functions_that_do_not_lower(runner: Runner) -> None:
    text = """
      module {
        func.func private @test(%a: i32) -> i32 {
          return %a : i32
        }
        func.func private @strange(%a: i32) -> i32 {
          %0 = "no.such"(%a) : (i32) -> i32
          return %0 : i32
        }
        func.func private @f(%a: i32) -> i32 {
          %0 = call @test(%a) : (i32) -> i32
          return %0 : i32
        }
        func.func @main() {
          return
        }
      }"""
    (done,) = run(runner, text, Input((-7,)))
    assert bits(done) == (2**32 - 7,)


def test_a_function_that_prints(runner: Runner) -> None:
    text = """
      func.func @f(%a: i32) -> i32 {
        vector.print %a : i32
        vector.print str "unfinished"
        return %a : i32
      }"""
    one, two = run(runner, text, Input((3,)), Input((4,)))
    assert (one.text, two.text) == ("3\nunfinished", "4\nunfinished")
    assert (bits(one), bits(two)) == ((3,), (4,))


def test_a_function_of_the_llvm_dialect(runner: Runner) -> None:
    text = """
      llvm.func @"odd name"(%a: i32, %b: f32) -> i32 {
        %0 = llvm.add %a, %a : i32
        llvm.return %0 : i32
      }"""
    (done,) = run(runner, text, Input((21, 0.5)), symbol="odd name")
    assert bits(done) == (42,)


def test_the_commands_for_a_person_run_the_test(runner: Runner, tmp_path: Path) -> None:
    text = "func.func @f(%a: i32, %b: f32) -> (i32, f32) { return %a, %b : i32, f32 }"
    test = make_test(text, "f", [Input((5, 1.0))])
    (tmp_path / "counterexample.mlir").write_text(test.text)
    done = subprocess.run(
        runner.commands(test, "counterexample.mlir"),
        shell=True,
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=True,
    )
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines == [
        "[test] input 1",
        "[test] returned",
        "[test] result 0: 5",
        "[test] result 1: 1065353216",
        "[test] end 1",
    ]
