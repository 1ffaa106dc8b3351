"""The examples of docs/lineage.md, run."""

from __future__ import annotations

import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LIBRARY
from tests.elements import some
from tests.paths import ROOT

BUILDS = LIBRARY


def _blocks(language: str, heading: str = "Dumps") -> list[str]:
    page = (ROOT / "docs" / "lineage.md").read_text()
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)


@pytest.fixture
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in (*_blocks("mlir"), *_blocks("mlir", "Runs")):
        name = block.partition("\n")[0].removeprefix("// ")
        Path(name).write_text(block)
    model = ROOT / "tests" / "inputs" / "face_detection.mlir.xz"
    Path("face_detection.mlir").write_bytes(lzma.decompress(model.read_bytes()))


@pytest.mark.parametrize(("heading", "count"), [("Dumps", 3), ("Runs", 2), ("A model", 3)])
def test_the_examples(mlir_opt: str, _inputs: None, heading: str, count: int) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    compared = 0
    for command, expected in some(
        re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(_blocks("text", heading)), re.M)
    ):
        run = subprocess.run(
            command.replace("mlir-opt", mlir_opt),
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        assert run.stdout == expected
        assert run.returncode == 0
        compared += bool(expected)
    assert compared == count


def test_the_commands_for_recordings_and_the_python_example(mlir_opt: str, _inputs: None) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for script in some(_blocks("sh", "Runs")):
        run = ["bash", "-ec", script.replace("mlir-opt", mlir_opt)]
        done = subprocess.run(run, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    [example] = _blocks("python", "Runs")
    python = [sys.executable, "-c", example]
    done = subprocess.run(python, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    assert "scf.for" in done.stdout and "Evidence.CREATED" in done.stdout
