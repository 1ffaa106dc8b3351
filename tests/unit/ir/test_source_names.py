"""The names in source text."""

from __future__ import annotations

from pathlib import Path

from actiondbg.ir.source_names import SourceNames

_TEXT = """\
// func.func @comment and arith.subi
#map = affine_map<(d0) -> (d0)>
module attributes {dlti.spec = "math.sin", tf.x} {
  func.func private @"odd name"(%a: !llvm.ptr) -> i32
  llvm.func internal @g(%x.y: i32)
  func.func @main(%arg0: i32) -> i32 attributes {llvm.emit_c_interface} {
    %0 = arith.addi %arg0, %arg0 overflow<nsw> : i32
    %1 = "arith.muli"(%0, %0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    linalg.generic {indexing_maps = [#map]} ins(%t : tensor<4xi32>)
    return %1 : i32
  }
  "gpu.func"() <{function_type = () -> (), sym_name = "kernel"}> ({}) : () -> ()
}
"""


def test_operations_and_functions_are_found(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(_TEXT)
    found = SourceNames([tmp_path / "in.mlir", tmp_path / "missing"])
    assert found.functions == {"odd name", "g", "main", "kernel"}
    wanted = {"func.func", "llvm.func", "arith.addi", "arith.muli", "linalg.generic", "gpu.func"}
    assert wanted <= found.operations
    assert not found.operations & {"arith.subi", "math.sin", "llvm.ptr", "arith.overflow"}
    assert "dlti.spec" not in found.operations
    assert found.may_have("odd name") and not found.may_have("arith.divsi")


def test_bytecode_has_none(tmp_path: Path) -> None:
    (tmp_path / "in.mlirbc").write_bytes(b"ML\xefR\x0d\x00\xff" + bytes(range(256)))
    found = SourceNames([tmp_path / "in.mlirbc"])
    assert (found.operations, found.functions) == (frozenset(), frozenset())


def test_functions_of_a_python_program(tmp_path: Path) -> None:
    program = "@triton.jit\ndef add_kernel(x):\n    def inner(): ...\n    return x // tl.sum(x)\n"
    (tmp_path / "kernel.py").write_text(program)
    found = SourceNames([tmp_path / "kernel.py"])
    assert found.functions == {"add_kernel", "inner"}
    assert found.operations == frozenset()


def test_lines_are_counted(tmp_path: Path) -> None:
    texts = {"in.mlir": "a\nb\n", "open.mlir": "a\nb", "empty.mlir": "", "in.mlirbc": "ML\0\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = SourceNames([tmp_path / name for name in [*texts, "missing"]])
    counts = [found.line_count(tmp_path / name) for name in [*texts, "missing"]]
    assert counts == [2, 2, None, None, None]
