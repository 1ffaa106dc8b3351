"""Bisections on a disk that fills."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.small_disk import SmallDisk, small_disk
from tests.paths import COMMAND

BUILDS = ("pypi",)
ADDS = """\
func.func @f(%x: i32) -> i32 {
  %two = arith.constant 2 : i32
  %once = arith.addi %x, %two : i32
  %twice = arith.addi %once, %two : i32
  return %twice : i32
}
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def words(tmp_path: Path, mlir_opt: str) -> list[str | Path]:
    path = tmp_path / "adds.mlir"
    path.write_text(ADDS)
    test = '! grep -q "constant 4" {}'
    return [COMMAND, "bisect", "--test", test, "--", mlir_opt, path, "--canonicalize"]


def bisect(
    words: list[str | Path], output: Path, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*words[:2], "-o", output, *options, *words[2:]],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
    )


@pytest.mark.parametrize("left", [4096, 16384, 32768])
def test_the_answer_is_printed_although_the_report_does_not_fit(
    left: int, disk: SmallDisk, words: list[str | Path]
) -> None:
    output = disk.path / "report"
    disk.fill(left)
    done = bisect(words, output)
    assert done.returncode == 1
    assert "Found: #" in done.stdout and "(AddIAddConstant)" in done.stdout
    assert "cannot be written" in done.stdout and "No space left on device" in done.stdout
    disk.grow()
    again = bisect(words, output, "--resume")
    assert again.returncode == 0
    assert "verified: shows good and bad" in again.stdout


@pytest.mark.parametrize("left", [4096, 8192, 16384])
def test_no_cut_output_is_judged(
    left: int, disk: SmallDisk, words: list[str | Path], tmp_path: Path
) -> None:
    """An output without what the test looks for was good."""
    disk.fill(left)
    done = bisect(words, tmp_path / "report", TMPDIR=str(disk.path))
    assert done.returncode == 1
    assert "Not bad" not in done.stdout
    assert "no space" in done.stderr.lower()
