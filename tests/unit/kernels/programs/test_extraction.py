"""Kernels cut out of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.generated import add_to_manifest, read_manifest
from actiondbg.kernels.model import Configuration, Dispatch
from actiondbg.kernels.programs.extraction import cut_program, operations_of
from actiondbg.kernels.programs.model_operation import ModelOperation
from actiondbg.kernels.verification.expectation import expected_results
from tests.elements import some
from tests.fakes.kernels.program import PROGRAM

pytest.importorskip("mlir.ir")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def _summary(operation: ModelOperation) -> tuple[str, int, list[str]]:
    lines = operation.body("%out", "").splitlines()
    inside = [word for line in lines for word in line.split() if word.startswith("linalg.")]
    members = [word.removeprefix("linalg.") for word in inside if word != "linalg.yield"]
    return operation.root_name, operation.count, members


def test_operations_are_fused_around_their_root_and_counted(program: Path) -> None:
    assert [_summary(each) for each in operations_of(program)] == [
        # Two layers of the same shape; the bias is broadcast in the kernel.
        ("linalg.matmul", 2, ["fill", "matmul", "generic", "generic"]),
        ("linalg.transpose", 1, ["transpose"]),
        # A sum with what is before and behind it.
        ("linalg.generic", 1, ["generic", "fill", "generic", "generic"]),
        # The bias fills the destination.
        ("linalg.conv_2d_nhwc_hwcf", 1, ["generic", "conv_2d_nhwc_hwcf", "generic"]),
        ("linalg.pooling_nhwc_max", 1, ["fill", "pooling_nhwc_max"]),
        # The destination is another value, which must not be overwritten.
        ("linalg.conv_2d_nhwc_hwcf", 1, ["copy", "conv_2d_nhwc_hwcf"]),
        # What reads a product transposed is a kernel of its own.
        ("linalg.matmul", 1, ["fill", "matmul"]),
        ("linalg.generic", 1, ["generic", "index", "index"]),
        ("linalg.generic", 1, ["generic"]),
    ]


def test_operands_are_what_comes_from_outside(program: Path) -> None:
    operands = [[tensor.mlir for tensor in each.inputs] for each in operations_of(program)]
    assert operands[0] == ["tensor<4x8xf32>", "tensor<8x8xf32>", "tensor<8xf32>"]
    assert operands[2] == ["tensor<4x8xf32>", "tensor<1x8xf32>"]  # weights are an operand
    assert operands[3] == ["tensor<5xf32>", "tensor<1x7x7x3xf32>", "tensor<3x3x3x5xf32>"]
    assert operands[4] == ["tensor<1x3x3x5xf32>"]


def test_work_and_loops_are_those_of_the_root(program: Path) -> None:
    matmul = operations_of(program)[0]
    assert matmul.flops == 2 * 4 * 8 * 8 + 2 * 4 * 8
    assert [loop.type for loop in matmul.loops] == ["parallel", "parallel", "reduction"]
    assert [loop.size for loop in matmul.loops] == [4, 8, 8]
    assert matmul.name.startswith("model_matmul_4x8x8_f32_")


def test_results_use_the_destination_without_further_memory(program: Path) -> None:
    for operation in some(operations_of(program)):
        text = operation.function(destination=True)
        assert text.count("%out :") >= 1
        # Of the first layer the broadcast bias, of the square the terms, of the pooling the window.
        assert text.count("tensor.empty") <= 1


def test_the_root_gets_its_attributes(program: Path) -> None:
    for operation in some(operations_of(program)):
        marked = operation.body("%out", "marked = 1 : i64")
        lines = [line for line in marked.splitlines() if "marked = 1 : i64" in line]
        assert len(lines) == 1
        assert operation.root in lines[0]
        assert "actiondbg" not in operation.function()


def test_operands_that_are_indices_are_known(tmp_path: Path) -> None:
    path = tmp_path / "lookup.mlir"
    path.write_text(_LOOKUP)
    plain, computed = operations_of(path)
    assert plain.index_limits == (7, 0)
    assert computed.index_limits == ()


def test_what_is_no_kernel_is_reported(program: Path) -> None:
    assert cut_program(program).left_out == [
        "linalg.exp has a dynamic shape, tensor<?xf32>.",
        "linalg.generic has 2 results, not one tensor.",
        "linalg.exp has no loops: it computes one number.",
        "An operand has the type tensor<4xi64>; kernels have elements of f16, bf16, f32, f64, i1, "
        "i8, i32.",
    ]


def test_the_manifest_restores_them(program: Path, tmp_path: Path) -> None:
    operations = operations_of(program)
    dispatches = [Dispatch(each, Configuration("mlir", "mlir_default")) for each in operations]
    add_to_manifest(tmp_path / "manifest.json", dispatches)
    assert read_manifest(tmp_path / "manifest.json") == dispatches


# Rows of a table by their numbers, and by their doubles, of which nothing is known.
_LOOKUP = """
#row = affine_map<(n, m) -> (n)>
#all = affine_map<(n, m) -> (n, m)>
func.func @f(%rows: tensor<4xi32>, %table: tensor<7x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %empty = tensor.empty() : tensor<4x8xf32>
  %plain = linalg.generic {indexing_maps = [#row, #all],
      iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<4xi32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%at: i32, %old: f32):
    %wide = arith.extsi %at : i32 to i64
    %row = arith.index_cast %wide : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<7x8xf32>
    linalg.yield %element : f32
  } -> tensor<4x8xf32>
  %doubled = linalg.generic {indexing_maps = [#row, #all],
      iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<4xi32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%at: i32, %old: f32):
    %double = arith.addi %at, %at : i32
    %row = arith.index_cast %double : i32 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%row, %column] : tensor<7x8xf32>
    linalg.yield %element : f32
  } -> tensor<4x8xf32>
  return %plain, %doubled : tensor<4x8xf32>, tensor<4x8xf32>
}
"""
_TOSA = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
_LOOPS = """func.func @f(%x: memref<4xf32>, %v: f32) {
  affine.for %i = 0 to 4 { affine.store %v, %x[%i] : memref<4xf32> }
  return
}"""
_DYNAMIC = """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_TOSA, "has no linalg operation on tensors: lower tosa to linalg first, with mlir-opt --"),
        (_LOOPS, "has no linalg operation on tensors: lower it to linalg first; it has affine, f"),
        (_DYNAMIC, "has no operation that can be a kernel: linalg.exp has a dynamic shape, tensor"),
        (
            "func.func @f(",
            "model.mlir is not valid MLIR: expected non-function type at line 1, column 13.",
        ),
    ],
)
def test_programs_without_kernels_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "model.mlir"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        operations_of(path)
    assert message in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ActiondbgError, match=r"Cannot read .*none.mlir: No such file or directory"):
        operations_of(tmp_path / "none.mlir")
    (tmp_path / "binary").write_bytes(b"ML\xefR\x0d")
    with pytest.raises(
        UsageError, match=r"binary is not text: write the program as .mlir, not bytecode"
    ):
        operations_of(tmp_path / "binary")


def _rows(body: str) -> str:
    """Return a reduction of the rows of an operand, with a second operand for each column."""
    maps = ", ".join(f"affine_map<(i, j) -> ({each})>" for each in ("i, j", "j", "i"))
    return f"""
    func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {{
      %r = linalg.generic {{
          indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}
          ins(%x, %y : tensor<4x6xf32>, tensor<6xf32>) outs(%start : tensor<4xf32>) {{
      ^bb0(%a: f32, %b: f32, %old: f32):
        {body}
        linalg.yield %m : f32
      }} -> tensor<4xf32>
      return %r : tensor<4xf32>
    }}"""


@pytest.mark.parametrize(
    "body",
    [
        "%m = arith.maximumf %a, %old : f32",
        "%t = arith.addf %a, %b : f32\n%m = arith.maximumf %t, %old : f32",
        "%t = arith.mulf %a, %a : f32\n%m = arith.minnumf %old, %t : f32",
    ],
)
def test_a_maximum_with_further_operands_selects_none(tmp_path: Path, body: str) -> None:
    """Its terms are rounded, and its operands have shapes of their own."""
    path = tmp_path / "program.mlir"
    path.write_text(_rows(body))
    (operation,) = operations_of(path)
    assert operation.extreme is None
    for expectation in some(expected_results(operation)):
        shapes = [each.shape for each in expectation.operands]
        assert shapes == [each.shape for each in operation.inputs]


def test_a_maximum_of_its_only_operand_selects_it(tmp_path: Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_text("""func.func @f(%x: tensor<4x6xbf16>) -> tensor<4xf32> {
      %lowest = arith.constant 0xFF800000 : f32
      %empty = tensor.empty() : tensor<4xf32>
      %fill = linalg.fill ins(%lowest : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      %r = linalg.reduce ins(%x : tensor<4x6xbf16>) outs(%fill : tensor<4xf32>) dimensions = [1]
        (%a: bf16, %old: f32) {
          %wide = arith.extf %a : bf16 to f32
          %m = arith.maximumf %old, %wide : f32
          linalg.yield %m : f32
        }
      return %r : tensor<4xf32>
    }""")
    (operation,) = operations_of(path)
    assert operation.extreme == "max"
    assert operation.reduced_axes == (1,)
