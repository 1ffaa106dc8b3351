"""The examples of docs/kernels/index.md, run."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actiondbg.kernels.operations.registry import find_kind, kind_names
from actiondbg.kernels.problems.problem import SETS, read_configurations, read_problems
from tests.elements import some
from tests.paths import COMMAND, ROOT

_PAGE = (ROOT / "docs" / "kernels" / "index.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", _PAGE, re.M | re.S)


def _run(folder: Path, line: str) -> str:
    environment = {**os.environ, "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        line, shell=True, cwd=folder, env=environment, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def test_a_range_of_matmuls_is_right(tmp_path: Path) -> None:
    printed = _run(tmp_path, _blocks("sh")[0].splitlines()[0])
    assert re.search(
        r"^(\d+) dispatches: \1 right\.\nReport: \S+report.csv, \S+report.html$", printed, re.M
    )
    assert (tmp_path / "generated/linalg/matmul/matmul_128x128x256_f32t_f32t_f32t").is_dir()


def test_convolutions_are_generated(tmp_path: Path) -> None:
    printed = _run(tmp_path, _blocks("sh")[1])
    assert printed.count("[Generating]: ") == 2


def test_the_files_are_read(tmp_path: Path) -> None:
    problems, configurations = _blocks("yaml")
    (tmp_path / "problems.yaml").write_text(problems)
    (tmp_path / "configurations.yaml").write_text(configurations)
    assert len(read_problems(tmp_path / "problems.yaml")) == 17
    (configuration,) = read_configurations(tmp_path / "configurations.yaml")
    assert configuration.name == "mlir_wide"


def test_the_python_example(tmp_path: Path) -> None:
    (example,) = _blocks("python")
    assert len([line for line in example.splitlines() if line]) <= 10
    (tmp_path / "example.py").write_text(example)
    printed = _run(tmp_path, f"{sys.executable} example.py")
    assert re.search(r"^matmul_64x128x256_\S+: SUCCESS, \d+ GFLOP/s$", printed, re.M)


@pytest.mark.parametrize("name", kind_names())
def test_each_kind_is_in_the_table_with_what_it_needs(name: str) -> None:
    table = _PAGE.partition("## Operations")[2].partition("\n\n`--problem-m`")[0]
    lines = [line.split("|") for line in table.splitlines() if line.startswith("|")]
    (needed,) = [cells[2] for cells in lines if f"`{name}`" in cells[1]]
    if "the same" in needed or "--from" in needed:
        return
    for field in some(dataclasses.fields(find_kind(name))):
        if field.default is dataclasses.MISSING:
            assert f"`{field.name}`" in needed


def test_each_problem_set_is_named() -> None:
    assert [name for name in SETS if f"`{name}`" not in _PAGE] == []
