"""Lineages of IREE's compiler up to a pass on the executable of a dispatch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fakes import command_line
from tests.fakes.lineage.planted_dispatches import FLAGS, PASSES, measured_up_to
from tests.fakes.lineage.planted_programs import TENSORS

if find_spec("iree") is None or find_spec("iree.compiler") is None:
    pytest.skip("needs the extra iree", allow_module_level=True)

MATMUL = """\
func.func @mm(%a: tensor<16x8xf32>, %b: tensor<8x4xf32>) -> tensor<16x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x4xf32>) -> tensor<16x4xf32>
  %product = linalg.matmul ins(%a, %b : tensor<16x8xf32>, tensor<8x4xf32>)
      outs(%filled : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %product : tensor<16x4xf32>
}
"""


def test_a_dispatch_is_tracked_up_to_its_conversion_to_llvm(tmp_path: Path) -> None:
    source = tmp_path / "mm.mlir"
    source.write_text(MATMUL)
    tool = ("iree-compile", source, *FLAGS, "-o", tmp_path / "mm.vmfb")
    words = ("--to", "iree-convert-to-llvm", "--from", "linalg.matmul")
    done = command_line.run("track", *words, "--", *tool)
    assert done.returncode == 0, done.stderr
    assert "operations of the IR after iree-convert-to-llvm #" in done.stdout
    assert " llvm.func @mm_dispatch_0" in done.stdout
    assert " = llvm.load " in done.stdout


def test_copies_that_a_pass_drops_are_no_operations_of_the_ir(tmp_path: Path) -> None:
    """Executables are compared by copies that are never inserted, the last operations made."""
    source, output = tmp_path / "mm.mlir", tmp_path / "flow.mlir"
    source.write_text(MATMUL + MATMUL.replace("@mm", "@again"))
    tool = ("iree-compile", source, *FLAGS, "--compile-to=flow", "-o", output)
    done = command_line.run("track", "--back", "--from", "linalg.matmul", "--", *tool)
    assert done.returncode == 0, done.stderr
    assert "%product = linalg.matmul ins(" in done.stdout
    done = command_line.run("lineage", "--loss", "--", *tool)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("after", PASSES)
def test_what_a_dispatch_became_is_right(after: str, seed: int, tmp_path: Path) -> None:
    found = measured_up_to(after, TENSORS, seed, "unknown", tmp_path)
    assert found.exact.planted > 5
    assert not found.exact.wrong and not found.default.wrong
    assert found.exact.recall > 0.9
