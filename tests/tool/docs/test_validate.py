"""The examples of docs/validate.md, run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

PAGE = (ROOT / "docs/validate.md").read_text()
_ROWS = re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \| (#\d+)[ ,]", PAGE, re.M)


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(autouse=True)
def _inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for source in (ROOT / "examples/miscompiles").glob("*.mlir"):
        shutil.copy(source, tmp_path)


def test_the_example_in_the_shell() -> None:
    line, _, printed = _blocks("text")[0].partition("\n")
    run = subprocess.run(
        shlex.split(line.removeprefix("$ ")), capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout == printed


def test_the_reduced_program() -> None:
    line, _, printed = _blocks("text")[1].partition("\n...\n")
    run = subprocess.run(
        shlex.split(line.removeprefix("$ ")), capture_output=True, text=True, check=False
    )
    assert run.stdout.endswith(printed)


def test_the_page_has_all_miscompiles() -> None:
    names = {each.stem for each in (ROOT / "examples/miscompiles").glob("*.mlir")}
    assert {name for name, *_ in _ROWS} == names


@pytest.mark.parametrize(("name", "options", "ordinal"), _ROWS)
def test_a_row_of_the_table(name: str, options: str, ordinal: str) -> None:
    command = ["actiondbg", "validate", "--", "mlir-opt", f"{name}.mlir", *shlex.split(options)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"The first different action is {ordinal} " in run.stdout


def test_the_counterexample_as_a_program() -> None:
    first, head, *printed = _blocks("text")[2].splitlines()
    subprocess.run(
        shlex.split(first.removeprefix("$ ")), capture_output=True, text=True, check=False
    )
    run = subprocess.run(
        shlex.split(head.removeprefix("$ ")), capture_output=True, text=True, check=True
    )
    wanted = [line for line in printed if not line.startswith("// Run: ")]
    lines = run.stdout.splitlines()
    assert [line for line in lines if not line.startswith("// Run: ")][: len(wanted)] == wanted


def test_the_example_in_python() -> None:
    (script,) = _blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == ("count result 0: 3 before, 50 after Input(arguments=(), buffers=())\n")
