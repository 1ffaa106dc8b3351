"""The functions of recorded operations, where passes move operations or rename functions."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record

INLINED = """\
func.func private @callee(%x: i32, %c: i1) -> i32 {
  %r = scf.if %c -> (i32) {
    %0 = arith.muli %x, %x : i32
    scf.yield %0 : i32
  } else {
    scf.yield %x : i32
  }
  return %r : i32
}
func.func @caller(%x: i32, %c: i1) -> i32 {
  %0 = func.call @callee(%x, %c) : (i32, i1) -> i32
  return %0 : i32
}
"""
# The pass names @foo @_internal_foo, and makes another @foo that calls it.
ASSEMBLED = """\
#sparse = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
func.func @foo(%t: tensor<8xf64, #sparse>, %x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  return %0 : i32
}
"""


def functions_in_the_last_pass(
    text: str, passes: list[str], *tool: str, folder: Path
) -> set[tuple[str, str | None]]:
    """Return the operations of all actions in the last pass, each with its function."""
    (folder / "in.mlir").write_text(text)
    recording = folder / "run.adbrec"
    done = record([*tool, str(folder / "in.mlir"), *passes], str(recording), stdout=os.devnull)
    assert done.status == 0
    rows = open_recording(recording).table("actions", ("tag", "op", "function")).to_pylist()
    last = max(index for index, row in enumerate(rows) if row["tag"] == "pass-execution")
    return {(row["op"], row["function"]) for row in rows[last:]}


@pytest.mark.parametrize("threading", ["--mlir-disable-threading", "--mlir-print-debuginfo"])
def test_operations_of_an_inlined_function_are_in_its_caller(
    mlir_opt: str, tmp_path: Path, threading: str
) -> None:
    passes = ["--canonicalize", "--inline", "--canonicalize", threading]
    found = functions_in_the_last_pass(INLINED, passes, mlir_opt, folder=tmp_path)
    names = ("arith.muli", "func.func", "func.return", "scf.if", "scf.yield")
    assert found == {("builtin.module", None), *((name, "caller") for name in names)}


def test_operations_of_a_renamed_function_have_its_new_name(mlir_opt: str, tmp_path: Path) -> None:
    passes = ["--canonicalize", "--sparse-assembler", "--canonicalize"]
    found = functions_in_the_last_pass(ASSEMBLED, passes, mlir_opt, folder=tmp_path)
    assert ("arith.muli", "_internal_foo") in found and ("arith.muli", "foo") not in found
    assert {("func.func", "foo"), ("func.func", "_internal_foo")} <= found


DISPATCHED = """\
#map = affine_map<(i) -> (i)>
util.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  util.return %0 : tensor<8xf32>
}
"""


def test_operations_in_a_copy_that_is_inserted_later_have_its_function(tmp_path: Path) -> None:
    """A dispatch region is made around copies before it is put into the function."""
    tool = shutil.which("iree-opt", path=Path(sys.executable).parent)
    if tool is None:
        pytest.skip("iree-opt is not installed")
    passes = "iree-dispatch-creation-form-dispatch-regions,canonicalize"
    pipeline = f"--pass-pipeline=builtin.module(util.func({passes}))"
    found = functions_in_the_last_pass(DISPATCHED, [pipeline], tool, folder=tmp_path)
    assert {("arith.addf", "main"), ("linalg.generic", "main")} <= found
    assert {function for _, function in found} == {"main"}
