"""The examples of docs/lint.md, run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.lint.rules import RULES
from tests.conftest import LIBRARY
from tests.paths import ROOT

BUILDS = LIBRARY

PAGE = (ROOT / "docs/lint.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    (source,) = _blocks("mlir")
    Path("send.mlir").write_text(source)


def test_the_example_in_the_shell(mlir_opt: str) -> None:
    (block,) = _blocks("text")
    line, _, said = block.partition("\n")
    run = subprocess.run(
        line.removeprefix("$ ").replace("mlir-opt", mlir_opt),
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (1, "")
    assert re.sub(r"[\d.,]+ [num]?s\b", "9.12 us", run.stdout) == said


def _run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_example_in_python() -> None:
    script, _ = _blocks("python")
    assert _run(script) == "not-notified FoldCast<mlir::mpi::SendOp> modified mpi.send 7\n"


def test_the_example_with_a_suite(mlir_opt: str) -> None:
    tool = [mlir_opt, "send.mlir", "--canonicalize", "-o", "out.mlir"]
    subprocess.run(["actiondbg", "suite", "record", "-q", "-o", "suite", "--", *tool], check=True)
    _, script = _blocks("python")
    first, *found = _run(script).splitlines()
    assert first == "1 of 1"
    assert "not-notified FoldCast<mlir::mpi::SendOp> 1" in found


def test_the_page_has_every_rule() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \| .* \|$", PAGE.split("*Checks*")[0], re.M) == [
        each.name for each in RULES
    ]
