"""Kernels generated from the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fakes import command_line
from tests.paths import COMMAND

_SIZES = ["--problem-m", "16", "--problem-n", "16", "--problem-k", "10"]
_EXPONENTIAL = [
    *("--operation-kind", "elementwise"),
    *("--problem", "shape=8", "--problem", "steps=exp"),
]
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
        ([*_SIZES, "--device", "cuda"], "--device is not used: it needs the provider iree"),
        ([*_SIZES, "--provider", "iree", "--pipeline", "cse"], "--pipeline is not used"),
        (
            [*_EXPONENTIAL, "--split-k-slices", "2"],
            "has no reduction to split",
        ),
    ],
)
def test_an_option_that_is_not_used_is_an_error(
    tmp_path: Path, options: list[str], message: str
) -> None:
    line = ["kernels", "generate", *options]
    done = command_line.run(*line, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_slices_that_do_not_divide_the_sum_are_named(tmp_path: Path) -> None:
    line = [*_LINE, "--split-k-slices", "2,3"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert lines
    assert all("cannot be split into 3 equal slices" in each for each in lines)
    assert "_split_k_2" in done.stdout
    assert done.stdout.count("mlir_tile_") > done.stdout.count("_split_k_2")  # and whole sums


@pytest.mark.parametrize(
    ("option", "off", "needed"),
    [
        ("--remeasure", "--compile-only", "kernels to be measured"),
        ("--bisect", "--verify=false", "kernels to be verified"),
        ("--timeout=5", "--compile-only", "kernels to run"),
    ],
)
def test_an_option_of_a_stage_that_is_left_out_is_an_error(
    tmp_path: Path, option: str, off: str, needed: str
) -> None:
    line = ["kernels", "run", *_SIZES, "--dry-run", option, off]
    done = command_line.run(*line, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option.partition('=')[0]} is not used: it needs {needed}." in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {provider: mlir, name: ../../evil, parameters: {vector: [4, 8, 1]}}", "'../../evil'"),
        ("- {provider: mlir, name: '', parameters: {vector: [4, 8, 1]}}\n" * 2, "Two config"),
        (None, "Cannot read own.yaml: No such file or directory."),
    ],
)
def test_configurations_with_names_that_are_no_folders(
    tmp_path: Path, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / "own.yaml").write_text(text)
    line = [*_LINE, "--configurations", "own.yaml"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert not (tmp_path.parent / "evil").exists()


def test_problems_that_compile_names_are_generated(tmp_path: Path) -> None:
    options = ["--operation-kind", "matmul", *_SIZES, "--iree-hal-target-backends", "llvm-cpu"]
    line = ["kernels", "compile", *options, "--dry-run"]
    done = command_line.run(*line, cwd=tmp_path, check=True)
    assert "mlir-opt" in done.stdout
    assert list(tmp_path.glob("generated/linalg/matmul/*/*/configured.mlir"))
