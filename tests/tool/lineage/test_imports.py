"""Lineages of logs of passes on functions, before passes on the module."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.lineage.opened_lineage import open_lineage
from actiondbg.recording.imported.importer import import_log
from tests.conftest import LIBRARY
from tests.elements import some
from tests.fakes import command_line

BUILDS = LIBRARY

SOURCE = """\
func.func @f(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %a = arith.addi %x, %c1 : i32
  %b = arith.addi %a, %c1 : i32
  return %b : i32
}
func.func private @none() -> i32
func.func @g(%x: f32) -> f32 {
  %c1 = arith.constant 1.5 : f32
  %a = arith.mulf %x, %c1 : f32
  return %a : f32
}
"""
PASSES = "func.func(canonicalize,convert-arith-to-llvm),convert-func-to-llvm,cse"


def import_of(tool: str, folder: Path, *flags: str) -> Path:
    source, log, run = (folder / name for name in ("in.mlir", "run.log", "run.adbrec"))
    source.write_text(SOURCE)
    passes = f"--pass-pipeline=builtin.module({PASSES})"
    argv = [tool, str(source), passes, *flags, "--mlir-print-debuginfo", "-o", "/dev/null"]
    with log.open("wb") as file:
        subprocess.run([*argv, "--mlir-disable-threading"], stderr=file, check=True)
    import_log(str(log), run)
    return run


def test_the_input_is_put_together_from_what_is_printed_later(
    mlir_opt: str, tmp_path: Path
) -> None:
    flags = ("--mlir-print-ir-before-all", "--mlir-print-ir-after-all")
    lineage = open_lineage(import_of(mlir_opt, tmp_path, *flags)).lineage
    first, last = lineage.stages[0], lineage.stages[-1]
    plain = subprocess.run(
        [mlir_opt, str(tmp_path / "in.mlir")], capture_output=True, text=True, check=True
    )
    names = [line.split()[0] for line in plain.stdout.splitlines() if "func.func" in line]
    assert first.name == "input" and last.name.startswith("after convert-func-to-llvm")
    assert len(first.named("func.func")) == len(names) == 3
    assert len(first.named("arith.addi")) == 2
    found = lineage.track(first.named("arith.mulf"), last).operations
    assert [one.name for one in found] == ["llvm.fmul"]


def test_functions_answer_for_a_module_that_is_never_printed_before(
    mlir_opt: str, tmp_path: Path
) -> None:
    run = import_of(mlir_opt, tmp_path, "--mlir-print-ir-after-all")
    lineage = open_lineage(run).lineage
    titles = [(one.name.split(" #")[0], one.is_part) for one in lineage.stages]
    assert titles == [
        ("after canonicalize", True),
        ("after convert-arith-to-llvm", True),
        ("after convert-func-to-llvm", False),
    ]
    first, second, last = lineage.stages
    assert [one.symbol for one in first.named("func.func")] == ["f", "none", "g"]
    for product in some(first.named("arith.mulf")):
        for stage in (second, last):
            found = lineage.track([product], stage).operations
            assert [one.name for one in found] == ["llvm.fmul"]
    answer = command_line.run("track", str(run), "--from", "arith.mulf")
    assert answer.returncode == 0
    names = " and ".join(one.name for one in lineage.stages if one.is_part)
    assert answer.stderr.startswith(f"actiondbg: Only functions are known {names}: print the")


def test_functions_after_a_single_pass_are_refused(mlir_opt: str, tmp_path: Path) -> None:
    run = import_of(mlir_opt, tmp_path, "--mlir-print-ir-after=canonicalize")
    with pytest.raises(UsageError, match="does not show the module before and after a pass"):
        _ = open_lineage(run).lineage.stages
