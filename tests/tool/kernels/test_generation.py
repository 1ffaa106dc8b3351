"""Kernels generated from the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.paths import COMMAND

_SIZES = ["--problem-m", "16", "--problem-n", "16", "--problem-k", "10"]
_LINE = [COMMAND, "kernels", "generate", "--operation-kind", "matmul", *_SIZES]


def test_a_requested_configuration_that_does_not_fit_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "- {provider: mlir, name: mlir_two, parameters: {tile: [8, 8], vector: [4, 8]}}\n"
        "- {provider: mlir, name: mlir_three, parameters: {tile: [8, 8, 0], vector: [4, 8, 1]}}\n"
    )
    line = [*_LINE, "--configurations", "own.yaml"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == (
        "actiondbg: left out: matmul_16x16x10_f32t_f32t_f32t_mlir_two: The parameter 'tile' has 2 "
        "sizes, but linalg.matmul has 3 loops.\n"
    )
    assert "mlir_three" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--types", "f8"], "--types needs the fields of a problem"),
        (["--types", "f32", "--problem-set", "resnet50"], "--types needs the fields of a problem"),
        (["--operation-kind", "matmul,pooling", *_SIZES], "pooling has no field 'm'"),
    ],
)
def test_an_option_that_is_not_used_is_an_error(
    tmp_path: Path, options: list[str], message: str
) -> None:
    line = [COMMAND, "kernels", "generate", *options]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_slices_that_do_not_divide_the_sum_are_named(tmp_path: Path) -> None:
    line = [*_LINE, "--split-k-slices", "2,3"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert lines
    assert all("cannot be split into 3 equal slices" in each for each in lines)
    assert "_split_k_2" in done.stdout
