"""The examples of docs/compare.md, run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tool.suite.conftest import LIT, write_suite

PAGE = (ROOT / "docs/compare.md").read_text()
BUILDS = ("pypi",)


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mlir_opt: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = (Path(sys.executable).parent, Path(mlir_opt).parent)
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, path)), prepend=os.pathsep)
    (source,) = _blocks("mlir")
    Path("shift.mlir").write_text(source)


@pytest.mark.parametrize("block", [each for each in _blocks("text") if each.startswith("$ ")])
def test_the_examples_in_the_shell(block: str) -> None:
    line, _, said = block.partition("\n")
    run = subprocess.run(
        line.removeprefix("$ "), shell=True, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stdout.endswith(said.removeprefix("...\n"))


def test_the_example_with_suites(mlir_opt: str, tmp_path: Path) -> None:
    if not LIT.exists():
        pytest.skip("lit is not installed")
    write_suite(tmp_path, mlir_opt)
    (script,) = _blocks("sh")
    run = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, check=False)
    said = "5 runs of both suites:\n       5  the same output by the same actions\n"
    assert (run.returncode, run.stdout[-len(said) :]) == (0, said)


def test_the_example_in_python() -> None:
    (script,) = _blocks("python")
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "twin other other\nshift same same\narith.subi\n"
