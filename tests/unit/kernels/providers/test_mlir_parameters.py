"""Parameters of the provider ``mlir`` that do not fit are refused with a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.model import Configuration, Parameter
from actiondbg.kernels.operations.generic import Reduction
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.providers.mlir.predefined import (
    parameters_obstacle,
    predefined_schedules,
    schedule_of_choice,
)
from actiondbg.kernels.providers.mlir.provider import pipeline_passes
from actiondbg.kernels.providers.mlir.toolchain import find_toolchain
from tests.elements import some
from tests.fakes.kernels.operations import BF16


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"vector": [4, 16]},
            "The parameter 'vector' has 2 sizes, but linalg.matmul has 3 loops.",
        ),
        (
            {"vector": [4, 0, 1]},
            "The parameter 'vector' must be a list of integers of at least 1, got [4, 0, 1].",
        ),
        (
            {"tile": [4, 4, 4]},
            "A schedule needs the parameter 'vector', with a size for each loop.",
        ),
        (
            {"tiles": [4, 4, 4]},
            "The provider mlir has no parameter 'tiles': use partial, split_k_slices, tile, "
            "vector or pipeline.",
        ),
        (
            {"vector": [1, 8, 1], "split_k_slices": 3},
            "The reduction of 8 cannot be split into 3 equal slices.",
        ),
        (
            {"vector": [1, 8, 1], "split_k_slices": 2, "partial": True},
            "A reduction is either split into slices or partial, not both.",
        ),
        (
            {"pipeline": "canonicalize", "vector": [1, 1, 1]},
            "A configuration has either a pipeline or tile and vector sizes, not both.",
        ),
        (
            {"pipeline": "func.func(canonicalize"},
            "The brackets of the pipeline 'func.func(canonicalize' are unbalanced: write "
            "pass{option=value},pass.",
        ),
    ],
)
def test_parameters_that_do_not_fit(parameters: dict[str, Parameter], sentence: str) -> None:
    configuration = Configuration("mlir", "mlir_x", parameters)
    assert parameters_obstacle(Matmul(8, 8, 8), configuration) == sentence


@pytest.mark.parametrize(
    ("size", "vector", "is_refused"),
    [
        (33, 64, True),
        (97, 64, True),
        (35, 64, False),
        (32, 64, False),
        (9, 8, False),
        (33, 8, False),
    ],
)
def test_maxima_of_bf16_that_llc_cannot_select(size: int, vector: int, is_refused: bool) -> None:
    parameters: dict[str, Parameter] = {"vector": [4, vector], "partial": True}
    for operation, refused in (
        (Reduction((8, size), (1,), "max", BF16, BF16), is_refused),
        (Reduction((8, size), (1,), "sum", BF16, BF16), False),
        (Reduction((8, size), (1,), "max"), False),
    ):
        obstacle = parameters_obstacle(operation, Configuration("mlir", "mlir_x", parameters))
        assert (obstacle is not None) == refused


def test_another_build_of_the_same_version_is_another_compiler(tmp_path: Path) -> None:
    toolchain = find_toolchain()
    program = tmp_path / "bin" / "mlir-opt"
    program.parent.mkdir()
    program.write_bytes(b"one build")
    first = replace(toolchain, mlir_opt=program).identity
    assert replace(toolchain, mlir_opt=program).identity == first
    program.write_bytes(b"another build")
    assert replace(toolchain, mlir_opt=program).identity != first
    assert toolchain.version in first


def test_pipeline_becomes_options_on_buffers() -> None:
    assert pipeline_passes("affine-super-vectorize{virtual-vector-size=4,4}, cse") == [
        "--one-shot-bufferize=bufferize-function-boundaries",
        "--affine-super-vectorize=virtual-vector-size=4,4",
        "--cse",
    ]


def test_nested_pipeline_stays_one() -> None:
    assert pipeline_passes("cse,func.func(affine-loop-unroll{unroll-factor=2})") == [
        "--pass-pipeline=builtin.module(one-shot-bufferize{bufferize-function-boundaries},"
        "cse,func.func(affine-loop-unroll{unroll-factor=2}))"
    ]


def test_pipeline_that_bufferizes_begins_with_tensors() -> None:
    assert pipeline_passes("linalg-fuse-elementwise-ops,one-shot-bufferize,cse") == [
        "--linalg-fuse-elementwise-ops",
        "--one-shot-bufferize",
        "--cse",
    ]


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_vectors_are_as_wide_as_registers_or_wider(bits: int) -> None:
    for schedule in some(predefined_schedules(Matmul(64, 64, 64), bits)):
        assert schedule.vector[1] * 32 % bits == 0


def test_incomplete_choice() -> None:
    with pytest.raises(UsageError, match="needs an integer 'vector_0', got None"):
        schedule_of_choice(Matmul(8, 8, 8), {"tile_0": 4})
