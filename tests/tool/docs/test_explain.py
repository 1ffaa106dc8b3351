"""The examples of docs/explain.md, run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.fakes.silent_patterns import CASES
from tests.paths import ROOT

BUILDS = LIBRARY


def _blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "explain.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in _blocks("mlir"):
        name = block.partition("\n")[0].removeprefix("// ")
        Path(name).write_text(block)


@pytest.mark.parametrize(
    "block", [block for block in _blocks("text") if block.startswith("$ actiondbg explain")]
)
def test_the_examples_of_the_page(block: str, mlir_opt: str) -> None:
    line, _, said = block.partition("\n")
    command = line.removeprefix("$ ").replace("mlir-opt", mlir_opt)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    run = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": path},
    )
    if mlir_opt.startswith("/usr"):  # a build without assertions has no debug output
        said = "".join(line for line in said.splitlines(True) if "debug output: " not in line)
    assert run.stdout == said
    assert run.returncode == 0


@pytest.mark.parametrize(
    "block", [block for block in _blocks("text") if block.startswith("$ actiondbg --batch")]
)
def test_the_batches_of_the_page(block: str, mlir_opt: str) -> None:
    line, _, said = block.partition("\n")
    command = line.removeprefix("$ ").replace("mlir-opt", mlir_opt)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    run = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout == said


def test_the_table_of_contrasts() -> None:
    page = (ROOT / "docs" / "explain.md").read_text()
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \| (yes|after it|after relations) \|$", page, re.M)
    assert [(name, condition) for name, condition, _ in rows] == [
        (case.pattern.strip("*"), case.precondition) for case in CASES
    ]
