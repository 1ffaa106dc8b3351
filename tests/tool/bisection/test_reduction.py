"""Inputs are made small: by operations and by modules, with the real tool."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection.reduction import Reduced, read_operations, reduce_input
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

Debian = Callable[[str], str]

LOOP = """\
memref.global "private" @cell : memref<1xi32> = dense<7>
func.func private @unused(%a: i32) -> i32 {
  return %a : i32
}
func.func @main(%m: memref<8xi32>, %n: index, %other: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %seven) -> (i32) {
    %v = memref.load %m[%i] : memref<8xi32>
    %w = arith.addi %v, %s : i32
    %x = arith.muli %w, %seven : i32
    scf.yield %x : i32
  }
  %q = arith.divsi %r, %seven : i32
  %z = call @unused(%q) : (i32) -> i32
  return %z : i32
}
"""


def tool_says(tool: str, *needles: str, flags: tuple[str, ...] = ()) -> Callable[[Path], bool]:
    """Return a predicate: the tool's output has all these texts."""

    def is_interesting(path: Path) -> bool:
        done = stock.run([tool, str(path), *flags])
        return done.returncode == 0 and all(needle in done.stdout for needle in needles)

    return is_interesting


def reduce(source: str, is_interesting: Callable[[Path], bool], folder: Path) -> Reduced:
    path = Path(stock.write("big.mlir", source))
    assert is_interesting(path)
    found = reduce_input(path, is_interesting, directory=folder)
    assert is_interesting(found.path)
    assert path.read_text() == source
    return found


@pytest.fixture
def folder(tmp_path: Path, folds: str) -> Path:
    """Where candidates are written; the current directory is another."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_irrelevant_operations_are_removed(mlir_opt: str, folder: Path) -> None:
    found = reduce(LOOP, tool_says(mlir_opt, "arith.divsi"), folder)
    assert (found.unit, found.ended, found.path) == ("operations", "", folder / "reduced.mlir")
    assert found.after < found.before == 15
    names = [line.split("=")[-1].split()[0] for line in found.path.read_text().splitlines()[2:-2]]
    assert names.count("arith.divsi") == 1 and len(names) <= 4
    assert "@unused" not in found.path.read_text()
    assert sorted(file.name for file in folder.iterdir()) == ["reduced.mlir"]


def test_operations_of_a_loop_stay_in_it(mlir_opt: str, folder: Path) -> None:
    found = reduce(LOOP, tool_says(mlir_opt, "scf.for", "arith.muli"), folder)
    text = found.path.read_text()
    assert "memref.load" not in text and "arith.divsi" not in text and "f32" not in text
    assert text.index("scf.for") < text.index("arith.muli") < text.index("scf.yield")


def test_memory_does_not_become_a_constant(mlir_opt: str, folder: Path) -> None:
    source = """\
func.func @f(%a: i32, %i: index) {
  %m = memref.alloc() : memref<8xi32>
  memref.store %a, %m[%i] : memref<8xi32>
  return
}
"""
    found = reduce(source, tool_says(mlir_opt, "memref.store"), folder)
    assert "= memref.alloc" in found.path.read_text()


def test_reduction_keeps_an_effect_of_a_pass(mlir_opt: str, folder: Path) -> None:
    """It takes two constants and their sum, in a function."""
    said = tool_says(mlir_opt, "arith.constant 5", flags=("--sccp",))
    found = reduce(stock.MIXED, said, folder)
    assert found.after == 5


@pytest.mark.parametrize("source", [LOOP, stock.MIXED])
def test_no_candidate_is_invalid(mlir_opt: str, folder: Path, source: str) -> None:
    def is_interesting(path: Path) -> bool:
        done = stock.run([mlir_opt, str(path)])
        assert done.returncode == 0, f"{done.stderr}\n{path.read_text()}"
        return "scf.yield" in done.stdout

    reduce(source, is_interesting, folder)


def test_irrelevant_modules_of_a_split_input_are_removed(mlir_opt: str, folder: Path) -> None:
    source = f"{LOOP}// -----\n{stock.MIXED}// -----\nmodule {{}}\n"
    flags = ("--split-input-file",)
    found = reduce(source, tool_says(mlir_opt, "arith.remsi", flags=flags), folder)
    text = found.path.read_text()
    assert "-----" not in text and "scf.for" not in text
    assert found.unit == "operations" and found.after <= 4


def test_unparsable_input_is_reduced_by_lines(debian: Debian, folder: Path) -> None:
    """Its dialect is Fortran's, and a comment of it has an unbalanced brace."""
    source = """\
// A comment with a {
func.func @first(%a: !fir.ref<i32>) {
  %0 = fir.load %a : !fir.ref<i32>
  fir.store %0 to %a : !fir.ref<i32>
  return
}
func.func @second(%a: !fir.ref<f32>, %c: i1) {
  fir.if %c {
    %0 = fir.load %a : !fir.ref<f32>
    fir.store %0 to %a : !fir.ref<f32>
  } else {
  }
  return
}
"""
    assert read_operations(source.encode()) is None
    fir_opt = debian("fir-opt")
    found = reduce(source, tool_says(fir_opt, "fir.store", "f32"), folder)
    assert (found.unit, found.before) == ("lines", 14)
    assert found.path.read_text() == (
        "func.func @second(%a: !fir.ref<f32>, %c: i1) {\n"
        "    %0 = fir.load %a : !fir.ref<f32>\n"
        "    fir.store %0 to %a : !fir.ref<f32>\n"
        "  return\n"
        "}\n"
    )


def test_an_interrupt_keeps_the_smallest(mlir_opt: str, folder: Path) -> None:
    calls = itertools.count(1)

    def is_interesting(path: Path) -> bool:
        if next(calls) == 8:
            raise KeyboardInterrupt
        return "arith.divsi" in path.read_text()

    path = Path(stock.write("big.mlir", LOOP))
    lines: list[str] = []
    found = reduce_input(path, is_interesting, lines.append, directory=folder)
    assert found.ended == "interrupt"
    assert found.after < found.before
    operations = read_operations(found.path.read_bytes())
    assert operations is not None and operations.size == found.after
    assert lines[-1].startswith(f"{found.after} of {found.before} operations are left")
    assert [file.name for file in folder.iterdir()] == ["reduced.mlir"]


def test_bytecode_is_read(mlir_opt: str, folder: Path) -> None:
    source = stock.write("loop.mlir", LOOP)
    argv = [mlir_opt, source, "--emit-bytecode", "-o", "loop.mlirbc"]
    subprocess.run(argv, check=True)
    found = reduce_input(Path("loop.mlirbc"), tool_says(mlir_opt, "arith.divsi"), directory=folder)
    assert found.unit == "operations" and found.after < found.before
    assert tool_says(mlir_opt, "arith.divsi")(found.path)


def test_bisection_of_the_reduced_input_finds_the_same_culprit(mlir_opt: str, folds: str) -> None:
    source = stock.write("mixed.mlir", stock.MIXED)
    test = "! grep -q 'arith.constant 5 ' {}"
    result = actiondbg.bisect([mlir_opt, source, "--sccp"], test, output="out", reduce=True)
    assert result.verdict == "found", result.message
    assert result.reproducer_verified is True
    # What names the removed file would name nothing.
    assert result.culprit is not None and result.culprit.location is not None
    assert result.culprit.location.startswith("input.mlir:")
    for file in some(Path("out").iterdir()):
        assert "reduced.mlir" not in file.read_text(), file
    small = read_operations(Path("out/input.mlir").read_bytes())
    large = read_operations(stock.MIXED.encode())
    assert small is not None and large is not None
    assert small.size < large.size / 2
    whole = actiondbg.bisect([mlir_opt, source, "--sccp"], test)
    for key in ("tag", "name"):
        assert result.as_json()[key] == whole.as_json()[key]
