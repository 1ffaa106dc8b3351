"""The interpreter computes with vectors, tensors and memory what MLIR's runner does."""

from __future__ import annotations

import pytest

from tests.paths import INPUTS
from tests.tool.validation.printed import executed, interpreted
from tests.tool.validation.vector_programs import program

BUILDS = ("pypi",)

pytestmark = pytest.mark.tool


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("vectors", 21),
        ("vector_memory", 23),
        ("tensors", 21),
        ("floats", 18),
        ("linalg", 44),
        ("complex", 16),
    ],
)
def test_prints_what_the_runner_prints(name: str, lines: int, mlir_opt: str) -> None:
    text = (INPUTS / f"interpreted_{name}.mlir").read_text()

    printed = interpreted(text)

    assert printed == executed(text, mlir_opt)
    assert len(printed.splitlines()) == lines


@pytest.mark.parametrize("seed", range(4))
def test_prints_what_the_runner_prints_for_random_operations(seed: int, mlir_opt: str) -> None:
    text = program(seed)

    printed = interpreted(text)

    assert printed == executed(text, mlir_opt)
    assert len(printed.splitlines()) > 50
