"""The scanner of IR against MLIR itself, over texts that real tools print."""

from __future__ import annotations

import subprocess
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actiondbg.lineage.stage import Stage, scanned_stage
from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

# Between them regions, branches, symbols, attributes, implicit terminators and hidden bodies.
KERNELS = """
#map = affine_map<(d0, d1) -> (d0, d1)>
module @kernels attributes {test.note = "}{"} {
  memref.global "private" constant @weights : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]>
  func.func private @external(f32) -> f32
  func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x2xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
    %m = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>)
      outs(%f : tensor<4x2xf32>) -> tensor<4x2xf32>
    %g = linalg.generic {
      indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]
    } ins(%m : tensor<4x2xf32>) outs(%e : tensor<4x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = func.call @external(%in) : (f32) -> f32
      linalg.yield %r : f32
    } -> tensor<4x2xf32>
    return %g : tensor<4x2xf32>
  }
  func.func @control(%n: index, %c: i1, %m: memref<?xi32>) -> (i32, i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = arith.constant dense<"0x01000000"> : tensor<1xi32>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (index) {
      %x = scf.if %c -> (index) {
        %y = arith.addi %acc, %i : index
        scf.yield %y : index
      } else {
        scf.yield %acc : index
      }
      scf.yield %x : index
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = memref.load %m[%i] : memref<?xi32>
      memref.store %v, %m[%i] : memref<?xi32>
    }
    %w:2 = scf.while (%k = %c0, %l = %s) : (index, index) -> (index, index) {
      %p = arith.cmpi slt, %k, %n : index
      scf.condition(%p) %k, %l : index, index
    } do {
    ^bb0(%k: index, %l: index):
      %t = arith.addi %k, %c1 : index
      scf.yield %t, %l : index, index
    } attributes {note = "x"}
    cf.cond_br %c, ^bb1(%w#0 : index), ^bb2
  ^bb1(%arg: index):
    %q, %r = arith.addui_extended %arg, %s : index, i1
    cf.br ^bb2
  ^bb2:
    %z = index.casts %s : index to i32
    "test.unregistered"(%z) <{text = "a\\22b"}> ({
      "test.inner"() : () -> ()
    }, {
    }) {extra = [@matmul, {a}]} : (i32) -> ()
    return %z, %z : i32, i32
  }
}
"""

PIPELINES = [
    (),
    ("--one-shot-bufferize=bufferize-function-boundaries", "--convert-linalg-to-affine-loops"),
    (
        "--one-shot-bufferize=bufferize-function-boundaries",
        "--convert-linalg-to-loops",
        "--convert-scf-to-cf",
        "--expand-strided-metadata",
        "--lower-affine",
        "--convert-to-llvm",
    ),
]
FORMS = [(), ("--mlir-print-op-generic",), ("--mlir-print-local-scope",)]


class Truth(NamedTuple):
    """An operation as MLIR parsed it: name, location, and the index of the one around it."""

    name: str
    location: str
    parent: int


def truth(text: str) -> list[Truth]:
    """Return the operations of a text in its order, by MLIR's own parser."""
    ir: Any = import_module("mlir.ir")
    context = ir.Context()
    context.allow_unregistered_dialects = True
    context.enable_multithreading(False)
    module = ir.Module.parse(text, context)
    found: list[Truth] = []
    places: dict[Any, int] = {}

    def add(operation: Any) -> Any:
        parent = operation.parent
        place = places.get(parent.operation, -1) if parent is not None else -1
        places[operation.operation] = len(found)
        found.append(Truth(operation.name, str(operation.location), place))
        return ir.WalkResult.ADVANCE

    module.operation.walk(add, ir.WalkOrder.PRE_ORDER)
    return found


def printed(tool: str, text: str, *args: str) -> str:
    return subprocess.run(
        [tool, "--allow-unregistered-dialect", *args],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def scanned(text: str) -> Stage:
    found = scanned_stage(text, "text", file="-")
    assert found.note == ""
    return found.stage


def is_hidden(name: str) -> bool:
    """Whether the pretty form may leave an operation out: terminators, bodies of linalg."""
    last = name.rpartition(".")[2]
    return last in ("yield", "reduce", "terminator", "return") or name in (
        "arith.addf",
        "arith.mulf",
    )


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("debug_info", [False, True])
def test_generic_form_has_each_operation(
    mlir_opt: str, pipeline: tuple[str, ...], debug_info: bool
) -> None:
    args = [*pipeline, "--mlir-print-op-generic"]
    text = printed(mlir_opt, KERNELS, *args, *["--mlir-print-debuginfo"] * debug_info)
    stage = scanned(text)
    assert len(stage) > 30
    assert [
        Truth(operation.name, f"loc({operation.location.text})", stage.parents[operation.index])
        for operation in stage
    ] == truth(text)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("form", [(), ("--mlir-print-debuginfo",)])
def test_pretty_form_has_all_but_hidden_operations(
    mlir_opt: str, pipeline: tuple[str, ...], form: tuple[str, ...]
) -> None:
    text = printed(mlir_opt, KERNELS, *pipeline, *form)
    stage = scanned(text)
    mine = Counter((each.name, f"loc({each.location.text})") for each in stage)
    theirs = Counter((each.name, each.location) for each in truth(text))
    assert not mine - theirs
    assert {name for name, _ in theirs - mine if not is_hidden(name)} == set()


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("examples/**/*.mlir")), ids=lambda file: file.name
)
def test_files_have_the_lines_that_the_parser_gives(file: Path) -> None:
    text = file.read_text()
    mine = Counter((each.name, f"loc({each.location.text})") for each in scanned(text))
    theirs = Counter((each.name, each.location) for each in truth(text))
    # The parser puts several operations into a module.
    assert not mine - theirs
    assert {name for name, _ in theirs - mine if not is_hidden(name)} <= {"builtin.module"}


def test_columns_are_those_of_the_tool(mlir_opt: str, tmp_path: Path) -> None:
    file = tmp_path / "in.mlir"
    file.write_text(KERNELS)
    run = subprocess.run(
        [mlir_opt, "--allow-unregistered-dialect", "--mlir-print-debuginfo", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    source = scanned_stage(KERNELS, "in.mlir", file=str(file)).stage
    output = scanned_stage(run.stdout, "out").stage
    own = {(each.name, each.location.text) for each in source}
    later = {(each.name, each.location.text) for each in output if not is_hidden(each.name)}
    assert own <= {(each.name, each.location.text) for each in output}
    assert later <= own
