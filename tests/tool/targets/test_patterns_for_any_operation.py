"""Explanations where compilers try patterns for any operation beside those for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fakes import command_line
from tests.tool.targets.targets import TARGETS


class Scene(NamedTuple):
    """An operation that is not legalized, and what is said of it."""

    target: str
    program: str
    passes: str
    left: str | None
    source: str
    cause: str


TRANSPOSED = """\
func.func @f(%a: !torch.vtensor<[1,2,5,7],f32>, %w: !torch.vtensor<[2,4,3,3],f32>,
    %is: !torch.bool) -> !torch.vtensor<[1,4,?,?],f32> {
  %n = torch.constant.none
  %i = torch.constant.int 1
  %s = torch.prim.ListConstruct %i, %i : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.convolution %a, %w, %n, %s, %s, %s, %is, %s, %i : !torch.vtensor<[1,2,5,7],f32>,
      !torch.vtensor<[2,4,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>,
      !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[1,4,?,?],f32>
  return %0 : !torch.vtensor<[1,4,?,?],f32>
}
"""
CUMSUM = """\
func.func @f(%a: !torch.vtensor<[3,4],f32>, %d: !torch.int) -> !torch.vtensor<[3,4],f32> {
  %n = torch.constant.none
  %0 = torch.aten.cumsum %a, %d, %n : !torch.vtensor<[3,4],f32>, !torch.int, !torch.none
      -> !torch.vtensor<[3,4],f32>
  return %0 : !torch.vtensor<[3,4],f32>
}
"""
PAD = """\
util.func public @f(%a: tensor<4xf32>) -> tensor<6xf32> {
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    %c = arith.constant 0.0 : f32
    tensor.yield %c : f32
  } : tensor<4xf32> to tensor<6xf32>
  util.return %0 : tensor<6xf32>
}
"""

NUMBER = "func.func @f(%a: i64, %b: tensor<4xf32>) {\n  return\n}\n"

SCENES = {
    "a conversion that only verifies": Scene(
        "torch-mlir",
        "torch-mlir-opt",
        "--torch-verify-tosa-backend-contract",
        None,
        NUMBER,
        "the target refuses it, as its type converter does not convert i64; the conversion only "
        "verifies, and has no patterns",
    ),
    "one pattern": Scene(
        "torch-mlir",
        "torch-mlir-opt",
        "--convert-torch-to-linalg",
        None,
        TRANSPOSED,
        "pattern ConvertAtenConvolutionOp did not match: "
        "unimplemented: only constant transposed supported",
    ),
    "no pattern": Scene(
        "torch-mlir",
        "torch-mlir-opt",
        "--convert-torch-to-linalg",
        "op:torch.aten.cumsum",
        CUMSUM,
        "no pattern for torch.aten.cumsum, but 3 for any operation: ",
    ),
    "the same again": Scene(
        "iree",
        "iree-opt",
        "--iree-stream-conversion",
        None,
        PAD,
        "pattern GenericResourcePattern makes tensor.pad, which the target refuses, and for which "
        "there is no pattern, but 1 for any operation: GenericResourcePattern is not tried for "
        "what it makes itself",
    ),
}


@pytest.mark.parametrize(
    "scene",
    [pytest.param(one, marks=TARGETS[one.target].marks, id=id) for id, one in SCENES.items()],
)
def test_what_is_said_of_them(scene: Scene, tmp_path: Path) -> None:
    found: dict[str, Any] = json.loads(explained(scene, tmp_path, "--json"))
    cause = found["left"][0]["cause"] if scene.left else found["cause"]
    assert cause["text"].startswith(scene.cause)
    assert scene.cause in explained(scene, tmp_path)


@pytest.mark.parametrize("hidden", [pytest.param(3, marks=TARGETS["torch-mlir"].marks)])
def test_they_are_hidden_beside_one_for_the_operation(hidden: int, tmp_path: Path) -> None:
    scene = SCENES["one pattern"]
    shown = explained(scene, tmp_path)
    assert "ConvertElementwiseOp" not in shown
    assert f"{hidden} other patterns: --all shows them" in shown
    assert "ConvertElementwiseOp" in explained(scene, tmp_path, "--all")


def explained(scene: Scene, folder: Path, *options: str) -> str:
    (folder / "in.mlir").write_text(scene.source)
    tool = str(TARGETS[scene.target].programs[scene.program])
    left = [] if scene.left is None else ["--left", scene.left]
    command = ["explain", *options, *left, "--", tool, "in.mlir", scene.passes]
    done = command_line.run(*command, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
