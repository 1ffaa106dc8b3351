"""Problems in files of the user's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.kernels.operations.generic import Elementwise, Reduction
from actiondbg.kernels.operations.matmul import Matmul
from actiondbg.kernels.operations.windowed import Conv2d
from actiondbg.kernels.problems.problem import read_problems
from tests.fakes.kernels.operations import F16, F32, I8, I32


def _write(folder: Path, text: str) -> Path:
    path = folder / "problems.yaml"
    path.write_text(text)
    return path


def test_problems_in_yaml(tmp_path: Path) -> None:
    text = """
    - {kind: matmul, m: 128, n: "64:193:64", k: [8, 16], types: i8-i32}
    - kind: conv_2d
      batch: 1
      height: 58
      width: 58
      channels: 64
      filters: 32
      kernel_h: 3
      kernel_w: 3
      stride_h: 2
      layout: nchw_fchw
      input_type: f16
      filter_type: f16
    - {kind: reduction, shape: [128, 256], axes: [1], combiner: max}
    - {kind: elementwise, shape: [64], steps: [add, exp], types: "f32,f16-f32"}
    """
    assert read_problems(_write(tmp_path, text)) == [
        *(Matmul(128, n, k, I8, I8, I32) for n in (64, 128, 192) for k in (8, 16)),
        Conv2d(1, 58, 58, 64, 32, 3, 3, 2, layout="nchw_fchw", input_type=F16, filter_type=F16),
        Reduction((128, 256), (1,), "max"),
        Elementwise((64,), ("add", "exp")),
        Elementwise((64,), ("add", "exp"), F16, F32),
    ]


def test_problems_in_json(tmp_path: Path) -> None:
    problems = [{"kind": "matmul", "m": [1, 2], "n": 3, "k": 4}]
    path = _write(tmp_path, json.dumps(problems))
    assert read_problems(path) == [Matmul(1, 3, 4), Matmul(2, 3, 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "problems.yaml is neither YAML nor JSON: while parsing"),
        ("\xff\x00", "problems.yaml is neither YAML nor JSON"),
        ("kind: matmul", "problems.yaml is not a list of problems: write '- {kind: matmul"),
        ("[]", "is not a list of problems"),
        ("- 3", "problems.yaml, problem 1: It has no kind; there are matmul, batch_matmul"),
        ("- {kind: conv}", "problem 1: Unknown kind of operation 'conv'; there are matmul"),
        (
            "- {kind: matmul, m: 1, n: 1, k: 1}\n- {kind: matmul, m: 1}",
            "problem 2: matmul needs n, k.",
        ),
        (
            "- {kind: matmul, m: 1, n: 1, k: 1, size: 3}",
            "problem 1: matmul has no field 'size'; it has m, n, k, lhs_type",
        ),
        ("- {kind: matmul, m: 1, n: 1, k: 1.5}", "problem 1: The k must be a size, got 1.5."),
        ("- {kind: matmul, m: 1, n: 1, k: []}", "problem 1: The k is an empty list."),
        ("- {kind: matmul, m: 1, n: 1, k: big}", "problem 1: 'big' is not a size"),
        ("- {kind: matmul, m: 0, n: 1, k: 1}", "problem 1: The m of a matmul must be at least 1"),
        (
            "- {kind: matmul, m: 1, n: 1, k: 1, lhs_type: f8}",
            "problem 1: A field of matmul is wrong: Invalid enum value 'f8' - at `$.lhs_type`.",
        ),
        (
            "- {kind: matmul, m: 1, n: 1, k: 1, types: f8}",
            "problem 1: Unknown type 'f8' in 'f8'; there are f16",
        ),
        (
            "- {kind: reduction, shape: 4, axes: [0]}",
            "problem 1: A field of reduction is wrong: Expected `array`, got `int` - at `$.shape`.",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_problems(_write(tmp_path, text))
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ActiondbgError, match=r"Cannot read .*none.yaml: No such file or directory"):
        read_problems(tmp_path / "none.yaml")
