"""Kernels of a real compiler, profiled and reported by the commands."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.results.csv_file import read_csv
from actiondbg.kernels.sweep.settings import SweepSettings
from tests.fakes import command_line
from tests.paths import COMMAND

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two generated kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    kernels = Kernels(SweepSettings(generated_dir=folder))
    dispatches = kernels.plan([Matmul(16, 16, 16)], default=True).dispatches
    kernels.write(dispatches[:2])
    return folder


def _kernels(folder: Path, *words: str, compiler: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    if compiler:
        environment["CC"] = compiler
    return command_line.run("kernels", *words, cwd=folder, env=environment)


def test_profiled_kernels_are_reported_and_compared(folder: Path) -> None:
    first = _kernels(
        folder, "profile", "--output", "a.csv", "--output", "a.html", "--tags", "run:1",
    )  # fmt: skip
    assert first.returncode == 0, first.stderr
    assert "Verification  : SUCCESS\n" in first.stdout
    assert re.search(r" % of [\d.]+ GFLOP/s", first.stdout)
    assert "<svg" in (folder / "a.html").read_text()
    second = _kernels(
        folder, "profile", "--output", "a.csv", "--append", "--tags", "run:2", "--remeasure",
    )  # fmt: skip
    assert second.returncode == 0, second.stderr
    with (folder / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == ["1", "1", "2", "2"]
    assert all(float(row["GFLOPs"]) > 0 and row["Verification"] == "SUCCESS" for row in rows)
    assert [row["confirmed_s"] != "" for row in rows].count(True) == 2
    printed = _kernels(folder, "report", "a.csv")
    assert printed.stdout.endswith("4 dispatches: 4 right.\n")
    same = _kernels(folder, "report", "a.csv", "a.csv")
    assert same.returncode == 0
    assert "2 of 2 dispatches are the same.\n" in same.stdout


def test_the_peak_is_measured_without_a_compiler(folder: Path) -> None:
    done = _kernels(folder, "profile", "--output", "b.csv", compiler="/nonexistent/cc")
    assert (done.returncode, done.stderr) == (0, "")
    percents = [entry.percent_of_peak for entry in read_csv(folder / "b.csv")]
    assert len(percents) == 2 and None not in percents


def test_a_foreign_file_is_refused_before_the_sweep(folder: Path) -> None:
    (folder / "foreign.csv").write_text("date,price\n")
    done = _kernels(folder, "profile", "--output", "foreign.csv", "--append")
    assert done.returncode == 1
    assert "Nothing is appended: 'foreign.csv' is not a report" in done.stderr
    assert done.stdout == ""
    assert (folder / "foreign.csv").read_text() == "date,price\n"


@pytest.mark.parametrize("words", [["generate"], ["compile", "--dry-run"]])
def test_a_reader_that_ends_is_no_fault_of_the_folder(tmp_path: Path, words: list[str]) -> None:
    line = [COMMAND, "kernels", *words, "--problem-set", "resnet50", "--provider", "mlir"]
    with subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert "cannot be written" not in process.stderr.read()
