"""Bisections of Python programs that use MLIR: each trial is a fork of the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import actiondbg
from actiondbg.bisection import Execute
from tests.conftest import PYPI
from tests.fakes.folds import folded, write_folds

PROGRAM = """
import sys, tempfile, time
import mlir.ir as ir, mlir.passmanager as pm
with ir.Context():
    with open(sys.argv[1]) as file:
        module = ir.Module.parse(file.read())
    pm.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
time.sleep(0.02)  # files are dated by the ticks of the kernel
with tempfile.TemporaryDirectory() as directory:
    with tempfile.NamedTemporaryFile("w", dir=directory) as file:
        file.write(str(module))
        file.flush()
        print(open(file.name).read())
"""


@pytest.mark.parametrize("no_fork", [False, True])
def test_trials_remove_their_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_fork: bool
) -> None:
    pytest.importorskip("mlir.ir")
    source = write_folds(tmp_path / "folds.mlir", 30)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    result = actiondbg.bisect(
        [sys.executable, str(program), source],
        lambda output: 17 not in folded(output),
        no_fork=no_fork,
    )
    assert result.found, result.message
    assert result.trials > 4
    assert list(temporary.iterdir()) == []


def test_the_session_of_the_reproducer_finds_the_files_of_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlir.ir")
    monkeypatch.chdir(tmp_path)
    write_folds(tmp_path / "folds.mlir", 8)
    Path("helper.py").write_text(PROGRAM.replace("sys.argv[1]", "'folds.mlir'"))
    Path("program.py").write_text("import helper\n")
    test = "python3 -c \"import sys; sys.exit('@f5(%arg0: i32) -> i32 {\\n  return' in open('{}')"
    result = actiondbg.bisect(
        [sys.executable, "program.py"],
        f"{test}.read().replace('    ', '  '))\"",
        output="out",
    )
    assert result.found, result.message
    assert not Path("out/program.py").exists() and not Path("out/input.mlir").exists()
    notes = result.notes
    assert any("session.adb shows the culprit" in note for note in notes)
    assert not any("run and failed" in note for note in notes)
    assert result.reproducer_verified, notes
    # From another directory, with nothing of the bisection in the environment.
    done = subprocess.run(
        ["sh", str(tmp_path / "out/repro.sh")], capture_output=True, text=True, cwd="/"
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines() == [
        "1. bad, expected bad: the command as it is",
        "2. good, expected good: the command in actiondbg, with skips",
        "All 2 verdicts are as expected.",
    ]
    Path("out/verdict.skips").write_text(Path("out/verdict.skips").read_text().replace("f5", "f4"))
    done = subprocess.run(["sh", "out/repro.sh"], capture_output=True, text=True)
    assert "2. bad, expected good" in done.stdout and done.returncode == 1


MISCOMPILED = """
func.func private @printI64(i64)
func.func @f(%x: i64) -> i64 {
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %y = arith.addi %x, %two : i64
  %z = arith.addi %y, %three : i64
  return %z : i64
}
func.func @main() {
  %c = arith.constant 10 : i64
  %r = func.call @f(%c) : (i64) -> i64
  func.call @printI64(%r) : (i64) -> ()
  return
}
"""


def test_the_input_of_a_program_is_executed_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlir.ir")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(PYPI), prepend=os.pathsep)
    printed = "print(str(module).replace('constant 5 : i64', 'constant 6 : i64'))\n"
    Path("program.py").write_text(PROGRAM.partition("time.sleep")[0] + printed)
    Path("in.mlir").write_text(MISCOMPILED)
    oracle = Execute()
    command = [sys.executable, "-m", "program", "in.mlir"]
    result = actiondbg.bisect(command, oracle, output="out")
    assert result.found, result.message
    assert result.culprit is not None and result.culprit.name == "AddIAddConstant"
    assert result.reproducer_verified, result.notes
    assert Path("out/in.mlir").read_text() == MISCOMPILED
