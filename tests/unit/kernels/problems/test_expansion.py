"""Sizes and types on a command line, and their combinations."""

from __future__ import annotations

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.operations.conv_2d import Conv2d
from actiondbg.kernels.operations.elementwise import Elementwise
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.problems.expansion import expand, parse_types
from actiondbg.kernels.problems.ranges import parse_range
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
    with pytest.raises(UsageError, match=r"is no size|no size in|The step of"):
        parse_range(text)


def test_each_combination_is_an_operation() -> None:
    sizes = {"m": [1, 2], "n": [3], "k": [4, 5]}
    assert expand(Matmul, sizes, parse_types("f32,i8-i32")) == [
        Matmul(m, 3, k, *types)
        for m in (1, 2)
        for k in (4, 5)
        for types in ((F32, F32, F32), (I8, I8, I32))
    ]


def test_types_of_images_and_filters() -> None:
    names = ("batch", "height", "width", "channels", "filters", "kernel_h", "kernel_w")
    made = expand(Conv2d, {name: [1] for name in names}, [(F16, F32)])[0]
    assert made == Conv2d(1, 1, 1, 1, 1, 1, 1, input_type=F16, filter_type=F16, result_type=F32)


@pytest.mark.parametrize(
    ("kind", "sizes", "message"),
    [
        (Matmul, {"m": [1], "k": [1]}, "matmul needs a size for n."),
        (Matmul, {"batch": [1]}, "matmul has no size 'batch'; it has m, n, k."),
        (Matmul, {"m": [0], "n": [1], "k": [1]}, "The m of a matmul must be at least 1, got 0."),
        # Shapes and steps are not sizes: such a kind comes from a set or a file.
        (Elementwise, {}, "elementwise needs shape, steps: write a file of problems."),
    ],
)
def test_sizes_that_do_not_fit_are_reported(
    kind: type, sizes: dict[str, list[int]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        expand(kind, sizes)
