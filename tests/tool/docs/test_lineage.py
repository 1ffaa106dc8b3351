"""The examples of docs/lineage.md, run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT


def _blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "lineage.md").read_text()
    section = page.partition("## Dumps")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)


@pytest.fixture
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in _blocks("mlir"):
        name = block.partition("\n")[0].removeprefix("// ")
        Path(name).write_text(block)


def test_the_examples_with_dumps(mlir_opt: str, _inputs: None) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    compared = 0
    for command, expected in re.findall(
        r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(_blocks("text")), re.M
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
    assert compared == 3
