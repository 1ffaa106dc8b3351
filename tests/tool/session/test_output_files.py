"""The output file of a run that went to and fro is the one that the user named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import actiondbg
from tests.conftest import LIBRARY
from tests.fakes import stock_tool as stock

BUILDS = LIBRARY

CONVERGES = "canonicalize{test-convergence=true max-iterations=1}"
OUT = Path("out.mlir")


def pipeline(passes: str) -> str:
    return f"--pass-pipeline=builtin.module({passes})"


def cold(tool: str, source: str, passes: str) -> str:
    """What the plain tool prints."""
    return stock.run([tool, source, pipeline(passes)], check=True).stdout


def start(tool: str, source: str, passes: str, *more: str) -> actiondbg.Session:
    return actiondbg.launch([tool, source, pipeline(passes), "-o", str(OUT), *more])


def skip_pass(session: actiondbg.Session, name: str) -> None:
    """Go back to a pass, skip it, and run to the end."""
    [ordinal] = [one.ordinal for one in session.past.passes() if one.name == name]
    session.timeline.goto(ordinal)
    assert session.skip().status == 0


def test_the_file_of_a_failed_run_is_made_again_each_time(mlir_opt: str, folds: str) -> None:
    with start(mlir_opt, folds, f"cse,{CONVERGES}") as session:
        assert session.run().status == 1
        assert not OUT.exists()
        session.timeline.reverse_step()
        assert OUT.exists()
        skip_pass(session, "canonicalize")
        assert OUT.read_text() == cold(mlir_opt, folds, "cse")
        session.timeline.goto(1)
        assert session.continue_().status == 0
        assert OUT.read_text() == cold(mlir_opt, folds, "cse")
    assert sorted(os.listdir()) == sorted(["folds.mlir", "out.mlir"])


@pytest.mark.parametrize("spacing", [0, 1])
def test_the_file_of_a_branch_that_failed_is_made_again(
    mlir_opt: str, folds: str, spacing: int
) -> None:
    with start(mlir_opt, folds, f"cse,{CONVERGES},symbol-dce") as session:
        session.timeline.checkpoints.spacing = spacing
        session.start()
        session.timeline.checkpoints.add()
        assert session.continue_().status == 1
        skip_pass(session, "canonicalize")
        assert OUT.read_text() == cold(mlir_opt, folds, "cse,symbol-dce")
        session.timeline.checkpoints.restore(1)
        assert OUT.read_text() == ""


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
def test_a_file_that_lost_its_name_is_made_again(mlir_opt: str, folds: str, how: str) -> None:
    whole = cold(mlir_opt, folds, "cse,canonicalize")
    with start(mlir_opt, folds, "cse,canonicalize") as session:
        assert session.run().status == 0
        assert OUT.read_text() == whole
        if how == "moved":
            OUT.rename("kept.mlir")
        else:
            OUT.unlink()
        if how == "replaced":
            OUT.write_text("mine\n" * 10_000)
        skip_pass(session, "canonicalize")
        assert OUT.read_text() == cold(mlir_opt, folds, "cse")
        if how == "moved":
            assert Path("kept.mlir").read_text() == whole
        skip_pass(session, "cse")
        session.timeline.goto(1)
        assert session.continue_().status == 0


def test_a_file_that_was_moved_at_a_stop_is_made_again(mlir_opt: str, folds: str) -> None:
    with start(mlir_opt, folds, "cse,canonicalize") as session:
        session.start()
        OUT.rename("kept.mlir")
        session.timeline.checkpoints.add()  # notes the files
        session.step(2)
        session.timeline.checkpoints.restore(1)
        assert session.continue_().status == 0
        assert OUT.read_text() == cold(mlir_opt, folds, "cse,canonicalize")
        assert Path("kept.mlir").read_text() == ""


def test_a_file_in_a_removed_folder_is_reported(mlir_opt: str, folds: str) -> None:
    argv = [mlir_opt, folds, "--canonicalize", "-o", "folder/out.mlir"]
    Path("folder").mkdir()
    with actiondbg.launch(argv) as session:
        assert session.run().status == 0
        shutil.rmtree("folder")
        stop = session.timeline.goto(1)
        assert stop.message is not None
        assert "folder/out.mlir' cannot be written (No such file or directory)" in stop.message
        Path("folder").mkdir()
        stop = session.timeline.goto(2)
        stop = session.timeline.goto(1)
        assert not stop.message
        assert session.continue_().status == 0
    assert Path("folder/out.mlir").read_text() == cold(mlir_opt, folds, "canonicalize")


FUNCTION = """\
func.func @f{number}(%arg0: i32) -> i32 {{
  %c = arith.constant {number} : i32
  %0 = arith.addi %arg0, %c : i32
  %1 = arith.addi %0, %c : i32
  return %1 : i32
}}
"""
NO_FIXPOINT = """\
func.func @last(%arg0: i32) -> i32 {
  %c = arith.constant 7 : i32
  %0 = arith.addi %arg0, %c : i32
  %1 = arith.addi %0, %c : i32
  %2 = arith.addi %1, %c : i32
  return %2 : i32
}
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Many parts, whose output the tool writes from time to time."""
    monkeypatch.chdir(tmp_path)
    part = "".join(FUNCTION.format(number=number) for number in range(40))
    Path("parts.mlir").write_text("// -----\n".join([part] * 6))
    return "parts.mlir"


@pytest.mark.parametrize("spacing", [0, 1])
def test_output_that_was_written_in_part_is_that_of_its_branch(
    mlir_opt: str, parts: str, spacing: int
) -> None:
    """Checkpoints are made while the file has a part of the output, of each branch."""
    argv = [mlir_opt, parts, "--split-input-file", "--canonicalize", "--cse", "-o", str(OUT)]
    plain = stock.run([*argv[:-2], "-o", "-"], check=True).stdout
    with actiondbg.launch(argv) as session:
        session.timeline.checkpoints.spacing = spacing
        session.breakpoints.add("pass:canonicalize")
        session.run()
        session.continue_(3)
        session.timeline.checkpoints.add()  # 1
        written = OUT.stat().st_size
        assert 0 < written < len(plain)
        session.breakpoints.delete([1])
        assert session.continue_().status == 0
        assert OUT.read_text() == plain
        session.timeline.goto(1)
        assert session.skip().status == 0  # another branch
        branched = OUT.read_text()
        assert branched != plain
        OUT.rename("kept.mlir")
        session.timeline.checkpoints.restore(1)
        assert OUT.read_text() == plain[:written]
        session.timeline.checkpoints.add()  # 2
        OUT.unlink()
        assert session.timeline.checkpoints.restore(2).when == "before"
        assert OUT.read_text() == plain[:written]
        assert session.continue_().status == 0
        assert OUT.read_text() == plain
        assert Path("kept.mlir").read_text() == branched


def test_a_compiler_that_renames_its_file_can_go_back(
    debian: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stock.write("s.f90", "subroutine s(a)\n  real :: a\n  a = a + 1.0\nend subroutine\n")
    argv = [debian("flang-22"), "-O1", "-S", "-emit-llvm", "s.f90", "-o", "s.ll"]
    plain = stock.run([*argv[:-1], "plain.ll"])
    assert plain.returncode == 0
    with actiondbg.launch(argv) as session:
        assert session.run().status == 0
        Path("s.ll").unlink()
        session.timeline.reverse_step()
        assert session.continue_().status == 0
        assert Path("s.ll").read_text() == Path("plain.ll").read_text()
    assert sorted(os.listdir()) == ["plain.ll", "s.f90", "s.ll"]
