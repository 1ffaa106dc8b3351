"""Bisections of scripts that start a tool with their own arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LIBRARY
from tests.tool.targets.targets import TARGETS, TOOLS

BUILDS = LIBRARY

FOLDED = """\
func.func @f(%a: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %0 = arith.addi %a, %c3 : i32
  %1 = arith.addi %0, %c4 : i32
  return %1 : i32
}
"""
CRASHING = """\
func.func @store(%m: memref<4xi1>, %v: i1, %i: index) {
  memref.store %v, %m[%i] : memref<4xi1>
  return
}
"""
SHELL = '#!/bin/sh\nVARIABLE=1 {tool} "$@"\nexit $?\n'
PYTHON = """\
#!{python}
import subprocess, sys
sys.exit(subprocess.call([{tool!r}, *sys.argv[1:]]))
"""
MORE = '#!/bin/sh\nexec {tool} --mlir-print-op-generic "$@"\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folded.mlir").write_text(FOLDED)
    Path("crashing.mlir").write_text(CRASHING)


def bisect(script: str | Path, *words: str, oracle: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "actiondbg", "bisect", "--json", "-o", "out", *oracle]
    done = subprocess.run(
        [*command, "--", str(script), *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def write(name: str, text: str) -> Path:
    script = Path(name).absolute()
    script.write_text(text)
    script.chmod(0o755)
    return script


def check_reproducer(result: dict[str, Any]) -> None:
    assert result["reproducer_verified"], result["notes"]
    done = subprocess.run(
        ["out/repro.sh"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout


WITHOUT_SEVEN = ["--test", "! grep -q 'constant 7 ' {}"]


@pytest.mark.parametrize("text", [SHELL, PYTHON])
def test_the_tool_is_bisected_itself(mlir_opt: str, text: str) -> None:
    script = write("my-opt", text.format(tool=mlir_opt, python=sys.executable))
    result = bisect(script, "folded.mlir", "--canonicalize", oracle=WITHOUT_SEVEN)
    assert (result["verdict"], result["name"]) == ("found", "AddIAddConstant")
    (note,) = [note for note in result["notes"] if "with its own arguments" in note]
    assert os.path.realpath(mlir_opt) in note
    check_reproducer(result)


@pytest.mark.parametrize("start", ["env VARIABLE=1", "timeout 100"])
def test_a_tool_behind_other_arguments(mlir_opt: str, start: str) -> None:
    words = [*start.split(), mlir_opt, "folded.mlir", "--canonicalize"]
    result = bisect(words[0], *words[1:], oracle=WITHOUT_SEVEN)
    assert (result["verdict"], result["name"]) == ("found", "AddIAddConstant")
    (note,) = [note for note in result["notes"] if "with its own arguments" in note]
    assert os.path.realpath(mlir_opt) in note
    check_reproducer(result)


def test_a_tool_in_a_line_of_the_shell_stays_a_program(mlir_opt: str) -> None:
    line = f"exec {mlir_opt} folded.mlir --canonicalize"
    result = bisect("sh", "-c", line, oracle=WITHOUT_SEVEN)
    assert (result["verdict"], result["name"]) == ("found", "AddIAddConstant")
    assert not [note for note in result["notes"] if "with its own arguments" in note]


def test_a_crash_of_the_tool_is_one(mlir_opt: str) -> None:
    """The script turns the signal into a status of its own."""
    script = write("my-opt", PYTHON.format(tool=mlir_opt, python=sys.executable))
    # Builds without assertions do not crash in it.
    passes = "--finalize-memref-to-llvm"
    if Path(mlir_opt).is_relative_to("/usr"):
        passes = "--test-pass-crash"
    result = bisect(script, "crashing.mlir", "--canonicalize", passes, oracle=["--crash"])
    assert result["verdict"] == "found"
    assert not [note for note in result["notes"] if "addresses" in note]
    check_reproducer(result)


def test_a_script_that_does_more_stays_a_program(mlir_opt: str) -> None:
    script = write("my-opt", MORE.format(tool=mlir_opt))
    result = bisect(
        script, "folded.mlir", "--canonicalize", oracle=["--test", '! grep -q "= 7" {}']
    )
    assert not [note for note in result["notes"] if "with its own arguments" in note]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(TOOLS / name / "bin" / tool, marks=TARGETS[name].marks, id=tool)
        for name, tool in (("iree", "iree-opt"), ("torch-mlir", "torch-mlir-opt"))
    ],
)
def test_a_script_of_a_package(script: Path) -> None:
    result = bisect(script, "folded.mlir", "--canonicalize", oracle=WITHOUT_SEVEN)
    assert (result["verdict"], result["name"]) == ("found", "AddIAddConstant")
    assert not [note for note in result["notes"] if "program" in note]
    check_reproducer(result)
