"""Ranges of sizes, and problems with each combination of their fields."""

from __future__ import annotations

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.problems.problem import parse_range, problem_operations
from tests.fakes.kernels.operations import F16, F32, I8, I32


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("7", [7]),
        ("64,128", [64, 128]),
        ("64:513:64", [64, 128, 192, 256, 320, 384, 448, 512]),
        ("2:5", [2, 3, 4]),
        ("1, 4:9:2,1", [1, 4, 6, 8]),
    ],
)
def test_ranges(text: str, sizes: list[int]) -> None:
    assert parse_range(text) == sizes


@pytest.mark.parametrize("text", ["", "a", "1,", "-4", "1:2:3:4", "8:1", "1:9:0", "1:9:", "4:4"])
def test_what_is_no_range_is_reported(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a size|no size in|The step of"):
        parse_range(text)


def test_each_combination_is_an_operation() -> None:
    problem = {"kind": "matmul", "m": [1, 2], "n": 3, "k": "4,5", "types": "f32,i8-i32"}
    assert problem_operations(problem) == [
        Matmul(m, 3, k, *types)
        for m in (1, 2)
        for k in (4, 5)
        for types in ((F32, F32, F32), (I8, I8, I32))
    ]


def test_types_of_images_and_filters() -> None:
    names = ("batch", "height", "width", "channels", "filters", "kernel_h", "kernel_w")
    (made,) = problem_operations({"kind": "conv_2d", **dict.fromkeys(names, 1), "types": "f16-f32"})
    assert made == Conv2d(1, 1, 1, 1, 1, 1, 1, input_type=F16, filter_type=F16, result_type=F32)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"kind": "matmul", "m": 1, "k": 1}, "matmul needs n."),
        ({"kind": "matmul", "batch": 1}, "matmul has no field 'batch'; it has m, n, k"),
        ({"kind": "matmul", "m": 0, "n": 1, "k": 1}, "The m of a matmul must be at least 1, got 0"),
        ({"kind": "elementwise"}, "elementwise needs shape, steps."),
    ],
)
def test_fields_that_do_not_fit_are_reported(problem: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        problem_operations(problem)
