"""Reduction of inputs by lines and sets, against predicates without a tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from actiondbg.bisection.reduction import Chunks, Reduced, TextLines, reduce_input
from actiondbg.errors import FileNotWritten, UsageError
from tests.fakes import stock_tool as stock

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


@pytest.mark.parametrize("count", [1, 300])
def test_the_search_is_short(folder: Path, count: int) -> None:
    functions = [f"func.func @f{n}(%a: i32) -> i32 {{\n  return %a : i32\n}}" for n in range(count)]
    source = "\n".join(functions)
    found = reduce(source, lambda path: "@f0" in path.read_text(), folder)
    assert found.after == 2
    assert found.trials <= 40


def test_the_smallest_of_a_set_is_found(folder: Path) -> None:
    """Two operations that are far apart stay, and all between them goes."""
    ops = "\n".join(f'  "test.op{n}"() : () -> ()' for n in range(64))
    source = f"func.func @f() {{\n{ops}\n  return\n}}\n"

    def is_interesting(path: Path) -> bool:
        text = path.read_text()
        return 'op3"' in text and 'op60"' in text

    found = reduce(source, is_interesting, folder)
    left = [line.strip() for line in found.path.read_text().splitlines() if "test." in line]
    assert left == ['"test.op3"() : () -> ()', '"test.op60"() : () -> ()']


def test_lines_and_blocks() -> None:
    text = 'a {\n  b {\n  }\n  "}"\n} // }\nc\n'
    lines = TextLines(text)
    assert lines.text == text
    assert lines.count(0) == 2 and lines.count(1) == 6
    assert lines.without(0, [0]) == 'a {\n  "}"\n} // }\nc\n'
    assert lines.without(0, [1]) == "c\n"
    assert lines.without(1, [5, 0]) == text[4:-2]
    assert lines.without(1, range(6)) is None
    chunks = Chunks("a\n// -----\nb\n// ----- more\nc\n")
    assert chunks.size == 3
    assert chunks.without(0, [1]) == "a\n// -----\nc\n"
    assert chunks.without(0, [0, 1, 2]) is None


def test_the_time_is_bounded(folder: Path) -> None:
    path = Path(stock.write("big.mlir", LOOP))
    found = reduce_input(path, lambda _: pytest.fail("tried"), directory=folder, seconds=0)
    assert (found.ended, found.trials, found.path) == ("time", 0, path)


def test_input_is_returned_when_nothing_smaller_is_bad(folder: Path) -> None:
    path = Path(stock.write("small.mlir", LOOP))
    found = reduce_input(path, lambda _: False, directory=folder)
    assert found.path == path and list(folder.iterdir()) == []


def test_no_input_is_tested_twice(folder: Path) -> None:
    seen: list[str] = []

    def is_interesting(path: Path) -> bool:
        seen.append(path.read_text())
        return "muli" in seen[-1]

    found = reduce(LOOP, is_interesting, folder)
    tried = seen[1:-1]  # but for the checks of this test
    assert len(tried) == len(set(tried)) == found.trials


def test_errors_are_reported(folder: Path) -> None:
    with pytest.raises(UsageError, match="check the path"):
        reduce_input(Path("missing.mlir"), lambda _: True, directory=folder)
    with pytest.raises(FileNotWritten):
        reduce_input(
            Path(stock.write("big.mlir", LOOP)), lambda _: True, directory=folder / "missing"
        )

    def fails(_: Path) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        reduce_input(Path("big.mlir"), fails, directory=folder)
    assert list(folder.iterdir()) == []
