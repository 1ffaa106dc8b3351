"""The IR that a stop shows on a terminal, and the commands that show more of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.terminal.terminal import Terminal

BUILDS = LIBRARY

FUSION = """\
#map = affine_map<(d0) -> (d0)>
func.func @fuse(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %cst = arith.constant 2.0 : f32
  %e0 = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e0 : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.mulf %x, %cst : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @other(%a: i32) -> i32 {
  %far = arith.muli %a, %a : i32
  return %far : i32
}
"""
Open = Callable[..., Terminal]


def rows(text: str) -> list[str]:
    """Return the rows of a reply."""
    return text.strip("\n").split("\n")


def test_a_stop_shows_the_lines_around_the_cursor(terminal: Open) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break pattern:AddIAddConstant")
    stop = shell.do("run")
    assert re.search(r"^--> +@\d+ +%\w+ = arith\.addi %a, %\w+ : i32$", stop, re.MULTILINE)
    assert re.search(r"^ +@\d+ +return %\w+ : i32$", stop, re.MULTILINE), "lines after it"
    shell.do("set context 1")
    assert len(rows(shell.do("cursor-next"))) == 4, "the place, and three lines"
    shell.do("set context 0")
    assert "-->" not in shell.do("continue")
    assert "give a number of lines" in shell.do("set context many")


def test_a_step_over_a_rewrite_reads_like_a_diff(terminal: Open) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break pattern:AddIAddConstant")
    shell.do("run")
    while "-->" not in (after := shell.do("next")):
        shell.do("continue")
    assert re.search(r"^   - +@\d+ +%\w+ = arith\.addi", after, re.MULTILINE)
    assert re.search(r"^-->\+ +@\d+ +%\w+ = arith\.addi", after, re.MULTILINE)
    assert re.search(r"^   \+ +@\d+ +%c7_i32 = arith\.constant 7 : i32$", after, re.MULTILINE)
    assert re.search(r"^   ~ +@\d+ +return", after, re.MULTILINE)


def test_a_stop_that_repeats_an_operation_is_one_line(terminal: Open) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break pattern:AddIAddConstant")
    shell.do("run")
    assert rows(shell.do("step"))[0].startswith("Stopped after")
    assert len(rows(shell.do("step"))) == 1


@pytest.mark.parametrize("width", [80, 140])
def test_lines_fit_the_terminal(terminal: Open, width: int, tmp_path: Path) -> None:
    Path("fusion.mlir").write_text(FUSION)
    shell = terminal(tool=["mlir-opt", "fusion.mlir", "--linalg-fuse-elementwise-ops"])
    shell.resize(50, width)
    shell.ready()
    shell.do("break pattern:*FuseElementwiseOps --after --outcome succeeded")
    stop = [row for row in rows(shell.do("run")) if "Threading" not in row]
    assert len(stop) <= 21 and max(map(len, stop)) <= width
    assert any("[#map, #map, #map]" in row for row in stop)
    (line,) = (row for row in stop if row.startswith("The cursor is on"))
    assert "linalg.generic, inserted in place of @" in line
    (current,) = (row for row in stop if row.startswith("-->"))
    id = re.search(r"@\d+", current)
    assert id is not None and id[0] in line, "the sentence and the arrow agree"


def test_what_one_command_shows_every_other_takes(terminal: Open) -> None:
    """After a rewrite the printer numbers anew; names stay."""
    shell = terminal()
    shell.ready()
    shell.do("break pattern:AddIAddConstant --after --outcome succeeded")
    stop = shell.do("run")
    current = re.search(r"^-->\+? +@(\d+) +(%\w+) =", stop, re.MULTILINE)
    assert current is not None
    id, name = current.groups()
    assert f"operation @{id} " in shell.do(f"cursor-goto {name}")
    assert name in shell.do(f"print {name}") and name in shell.do("print function")
    assert f"+  {name} = " in shell.do("diff")
    shell.do("print function > printed.mlir")
    assert re.search(r"%1 = arith\.addi", Path("printed.mlir").read_text()), "the printer's names"


def test_places_elsewhere(terminal: Open) -> None:
    Path("fusion.mlir").write_text(FUSION)
    shell = terminal(tool=["mlir-opt", "fusion.mlir", "--linalg-fuse-elementwise-ops"])
    shell.ready()
    shell.do("break pattern:*FuseElementwiseOps")
    shell.do("run")
    listed = shell.do("list @other")
    assert "func.func @other" in listed and "arith.muli" in listed
    assert "in @other" in shell.do("cursor-goto @other")
    assert "in @fuse" in shell.do("cursor-goto action")
    assert "pattern:*FuseElementwiseOps" in shell.do("list"), "alone, it lists breakpoints"
    assert "There is no place 'nowhere'" in shell.do("list nowhere")
    first = rows(shell.do("around 2"))
    assert len(first) == 5 and any(row.startswith("-->") for row in first)
    after = rows(shell.do(""))
    assert after and not set(after) & set(first), "Enter goes on"


def test_the_regions_of_inner_operations_can_be_left_out(terminal: Open) -> None:
    Path("fusion.mlir").write_text(FUSION)
    shell = terminal(tool=["mlir-opt", "fusion.mlir", "--linalg-fuse-elementwise-ops"])
    shell.ready()
    shell.do("break pattern:*FuseElementwiseOps")
    shell.do("run")
    whole, short = shell.do("print function"), shell.do("print function --skip-regions")
    assert "arith.mulf" in whole and "arith.mulf" not in short
    assert "tensor.empty" in short and "{...} -> tensor<8xf32>" in short
    assert "--> " in shell.do("print function | grep -C1 -e '-->'"), "a pipe keeps the arrow"
    shell.do("print function > whole.mlir")
    assert "-->" not in Path("whole.mlir").read_text()


def test_a_diff_marks_the_words_that_differ(terminal: Open) -> None:
    shell = terminal()
    shell.ready()
    shell.do("break pattern:AddIAddConstant --after --outcome succeeded")
    shell.do("run")
    assert re.search(r"^\+ +return %\w+ : i32$", shell.do("diff"), re.MULTILINE)
    raw = shell.child.before or ""
    assert re.search(r"\x1b\[31m- +return \x1b\[7m%\w+\x1b\[27m : i32", raw)
    assert re.search(r"\x1b\[32m\+ +return \x1b\[7m%\w+\x1b\[27m : i32", raw)
    shell.do("diff --side-by-side")
    assert "\x1b[7m" in (shell.child.before or "")


def test_the_pager_opens_at_the_arrow(terminal: Open, tmp_path: Path) -> None:
    less = tmp_path / "bin" / "less"
    less.parent.mkdir()
    less.write_text('#!/bin/sh\necho "less got $*"; cat > "$HOME/paged"\n')
    less.chmod(0o755)
    body = "  %c1 = arith.constant 1 : i32\n  %x = arith.addi %a, %c1 : i32\n  return %x : i32\n"
    functions = [f"func.func @f{i}(%a: i32) -> i32 {{\n{body}}}\n" for i in range(9)]
    Path("long.mlir").write_text("".join(functions))
    tool = ["mlir-opt", "long.mlir", "--canonicalize"]
    shell = terminal(tool=tool, PAGER="", PATH=f"{less.parent}:{os.environ['PATH']}")
    shell.ready()
    shell.do("break pattern:AddIAddConstant")
    shell.do("run")
    told = re.search(r"less got .*\+(\d+)$", shell.do("print module"), re.MULTILINE)
    assert told is not None
    assert (tmp_path / "paged").read_text().splitlines()[int(told[1]) - 1].startswith("-->")
