"""How much of an answer rests on locations, and where they show nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.lineage.opened_lineage import open_lineage
from actiondbg.lineage.stage import symbol_around
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line

BUILDS = LIBRARY

VECTORISED = """\
func.func @f(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %k = arith.constant 2.5 : f32 loc(LOCATION)
    %l = arith.constant 3.5 : f32 loc(LOCATION)
    %v = affine.load %a[%i] : memref<64xf32> loc(LOCATION)
    %w = arith.mulf %v, FIRST : f32 loc(LOCATION)
    %x = arith.mulf %w, SECOND : f32 loc(LOCATION)
    affine.store %x, %b[%i] : memref<64xf32> loc(LOCATION)
  }
  return
}
"""
SQUARED = VECTORISED.replace("FIRST", "%v").replace("SECOND", "%w")
SCALED = VECTORISED.replace("FIRST", "%k").replace("SECOND", "%l")
# Which of two equal operations became which, nothing but locations shows.
TWICE = SCALED.replace(
    "    affine.store %x",
    "    %y = arith.mulf %v, %k : f32\n    %z = arith.mulf %y, %l : f32\n"
    "    affine.store %z, %b[%i] : memref<64xf32> loc(LOCATION)\n    affine.store %x",
)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def track(*words: str, location: str, program: str = SQUARED) -> str:
    lines = program.split("\n")
    places = [line.replace("LOCATION", location.format(at)) for at, line in enumerate(lines)]
    Path("in.mlir").write_text("\n".join(places))
    tool = ("mlir-opt", "in.mlir", "--affine-super-vectorize=virtual-vector-size=8")
    done = command_line.run("track", *words, "--", *tool)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_answer_counts_what_rests_on_locations() -> None:
    answer = track("--from", "arith.mulf", location='"a.py":{}:1')
    assert answer.count("became 1 operation of the output, all by location:") == 2


def test_a_location_of_many_operations_shows_nothing() -> None:
    answer = track("--from", "arith.mulf", "--back", location='"a.py":7:1')
    assert answer.count("came from nothing in the input.") == 2
    why = "was inserted, and more operations share its location than it can tell apart"
    assert answer.count(why) == 2


def test_the_value_of_a_constant_tells_it_apart() -> None:
    answer = track("--from", "arith.constant", location='"a.py":7:1', program=TWICE)
    assert answer.count("became 1 operation of the output, all by text:") == 2
    assert answer.count("has a text of") == 2
    exact = track("--from", "arith.constant", "--exact", location='"a.py":7:1', program=TWICE)
    assert exact.count("became nothing in the output.") == 2


@pytest.mark.parametrize("location", ['"a.py":{}:1', '"a.py":7:1', "unknown"])
def test_what_computes_the_same_from_the_same_constants_is_exact(location: str) -> None:
    answer = track("--from", "arith.*", "--exact", location=location, program=SCALED)
    assert answer.count("became 1 operation of the output:\n") == 4
    assert answer.count("recomputed by #2 pass:affine-super-vectorize") == 4
    for number in ("2.5", "3.5"):
        [found] = re.findall(rf"arith.constant {number}.*\n.*\n(.*)", answer)
        assert f"arith.constant dense<{number}" in found


def test_equal_operations_are_not_told_apart() -> None:
    answer = track("--from", "arith.mulf", "--exact", location='"a.py":{}:1', program=TWICE)
    assert answer.count("became nothing in the output.") == 4


def test_an_annotation_names_the_operation_itself() -> None:
    Path("in.mlir").write_text(
        """\
func.func @layer(%x: memref<4x8xf32>, %w: memref<8x2xf32>, %y: memref<4x2xf32>) {
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x2xf32>) outs(%y : memref<4x2xf32>)
  return
}
"""
    )
    tool = ("mlir-opt", "in.mlir", "--convert-linalg-to-loops", "--convert-arith-to-llvm")
    words = ("--origin", "convert-linalg-to-loops", "--snapshot", "loops.mlir")
    done = command_line.run("annotate", *words, "--", *tool)
    assert done.returncode == 0, done.stderr
    loops = Path("loops.mlir").read_text().split("\n")
    [line] = [at for at, text in enumerate(loops, start=1) if "arith.mulf" in text]
    column = loops[line - 1].index("arith.mulf") + 1
    [made] = [text for text in done.stdout.split("\n") if "llvm.fmul" in text]
    assert f'loc("loops.mlir":{line}:{column})' in made
    assert f"// from arith.mulf %3 line {line}" in made


@pytest.mark.parametrize("count", [4, 5000])
@pytest.mark.parametrize("is_resource", [False, True])
def test_an_annotated_module_without_the_data_of_constants_is_noted(
    count: int, is_resource: bool
) -> None:
    value = "dense_resource<blob>" if is_resource else f"dense<{[*range(count)]}>"
    data = '{-# dialect_resources: {builtin: {blob: "0x04000000%s"}} #-}' % ("00" * 4 * count)
    Path("in.mlir").write_text(
        f"""\
func.func @weights() -> tensor<{count}xi32> {{
  %0 = arith.constant {value} : tensor<{count}xi32>
  return %0 : tensor<{count}xi32>
}}
{data if is_resource else ""}
"""
    )
    done = command_line.run("annotate", "-o", "out.mlir", "--", "mlir-opt", "in.mlir", "--cse")
    assert done.returncode == 0, done.stderr
    name = "blob" if is_resource else "__elided__"
    text = Path("out.mlir").read_text()
    is_whole = f"dense_resource<{name}>" not in text or "0x04000000" in text
    assert is_whole == (count == 4)
    assert (f"such as dense_resource<{name}>: it cannot be compiled" in done.stderr) != is_whole


MATMUL = """\
func.func @layer(%x: memref<4x8xf32>, %w: memref<8x2xf32>, %y: memref<4x2xf32>) {
  linalg.matmul ins(%x, %w : memref<4x8xf32>, memref<8x2xf32>) outs(%y : memref<4x2xf32>)
  return
}
"""


def test_an_operation_that_is_not_printed_is_inside_the_one_around_it() -> None:
    Path("in.mlir").write_text(MATMUL)
    tool = ("mlir-opt", "in.mlir", "--convert-linalg-to-loops")
    done = command_line.run("track", "--from", "linalg.matmul", "--", *tool)
    yields = [line for line in done.stdout.splitlines() if ": scf.yield inside " in line]
    assert len(yields) == 3
    assert all(": scf.yield inside scf.for " in line for line in yields)


def test_dumps_from_standard_input(mlir_opt: str) -> None:
    Path("in.mlir").write_text(MATMUL)
    argv = [mlir_opt, "in.mlir", "--convert-linalg-to-loops", "--mlir-print-debuginfo"]
    subprocess.run([*argv, "-o", "loops.mlir"], check=True)
    dumps = ("--input", "-", "--then", "loops.mlir", "--remap", "in.mlir=%i")
    done = command_line.run("track", *dumps, "--from", "linalg.matmul", stdin=MATMUL)
    assert done.returncode == 0, done.stderr
    words = ("--input", "in.mlir", "--then", "loops.mlir", "--from", "linalg.matmul")
    named = command_line.run("track", *words)
    assert "operations of loops.mlir, by location" in named.stdout
    assert done.stdout == named.stdout.replace("in.mlir:", "standard input:", 1)


def test_the_module_that_is_added_around_a_text_is_no_orphan(mlir_opt: str) -> None:
    Path("in.mlir").write_text('"test.a"() : () -> ()\n')
    argv = [mlir_opt, "in.mlir", "--allow-unregistered-dialect", "--mlir-print-debuginfo"]
    subprocess.run([*argv, "-o", "out.mlir"], check=True)
    assert "module" in Path("out.mlir").read_text()
    dumps = ("--input", "in.mlir", "--then", "out.mlir")
    done = command_line.run("lineage", *dumps, "--fail-on-orphan")
    assert done.returncode == 0, done.stdout


REBUILT = """\
from mlir.ir import Context, InsertionPoint, Location, Module, Operation
from mlir.passmanager import PassManager

def rebuild(old, new):
    def run(module, _):
        for function in list(module.regions[0].blocks[0]):
            for one in list(function.regions[0].blocks[0]):
                if one.operation.name == old:
                    kept = {"layer": one.attributes["layer"]}
                    types = [one.results[0].type]
                    with InsertionPoint(one):
                        made = Operation.create(new, types, list(one.operands), kept)
                    one.results[0].replace_all_uses_with(made.results[0])
                    one.erase()
            with InsertionPoint(function):
                kept = {name: function.attributes[name] for name in ("sym_name", "function_type")}
                made = Operation.create("func.func", attributes=kept, regions=1)
            function.regions[0].blocks[0].append_to(made.regions[0])
            function.operation.erase()
    return run

with Context() as context, Location.unknown():
    context.allow_unregistered_dialects = True
    module = Module.parse('''
func.func @f(%a: f32) -> f32 {
  %0 = "my.conv"(%a) {layer = "first"} : (f32) -> f32
  %1 = "my.conv"(%0) {layer = "same"} : (f32) -> f32
  %2 = "my.conv"(%1) {layer = "same"} : (f32) -> f32
  return %2 : f32
}
func.func @g(%a: f32) -> f32 {
  %0 = "my.conv"(%a) {layer = "first"} : (f32) -> f32
  return %0 : f32
}
''')
    passes = PassManager("builtin.module")
    for old, new in PAIRS:
        passes.add(rebuild(old, new))
    passes.run(module.operation)
"""


@pytest.mark.parametrize(
    "pairs", [[("my.conv", "my.run")], [("my.conv", "x.y"), ("x.y", "my.run")]]
)
def test_attributes_and_symbols_tell_what_a_pass_built_anew(pairs: list[tuple[str, str]]) -> None:
    """Which of two with one string became which, it does not tell."""
    pytest.importorskip("mlir.ir")
    Path("rebuilt.py").write_text(REBUILT.replace("PAIRS", repr(pairs)))
    record = ("record", "--lineage", "-o", "run.adbrec", "--", sys.executable, "rebuilt.py")
    assert command_line.run(*record).returncode == 0
    lineage = open_lineage("run.adbrec").lineage
    first, last = lineage.stages
    for old in some([*first.named("my.conv"), *first.named("func.func")]):
        traces = lineage.track([old], last).traces
        is_told = bool(old.symbol) or "first" in old.text
        news = [trace.operation for trace in traces]
        places = [(new.symbol, symbol_around(new), "first" in new.text) for new in news]
        assert places == [(old.symbol, symbol_around(old), True)] * is_told
        assert not lineage.track([old], last, exact=True).traces
