"""Whole programs with tuning specs, compiled by IREE."""

from __future__ import annotations

import json
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.programs.extraction import operations_of
from actiondbg.kernels.providers.iree.configurations import (
    Lowering,
    find_roots,
    lowering_of,
    read_lowerings,
)
from actiondbg.kernels.providers.iree.provider import IreeProvider
from actiondbg.kernels.providers.iree.whole_model import (
    ModelRoot,
    WholeModel,
    root_key,
    tuning_spec,
)
from actiondbg.kernels.providers.provider import ProviderSettings
from actiondbg.kernels.search.tuning import ModelTuner, TuneSettings, compare_results
from actiondbg.kernels.sweep.settings import SweepSettings
from tests.elements import some
from tests.fakes import command_line

pytest.importorskip("iree.runtime", reason="needs the extra iree")
# Not imported: its bindings and those of MLIR cannot be loaded into one process.
if find_spec("iree") is None or find_spec("iree.compiler") is None:
    pytest.skip("needs the extra iree", allow_module_level=True)

# A convolution of one image, which IREE takes the dimension of the batch from and gives it back,
# and a product with a transposed operand; a ReLU is fused with each.
MODEL = """
#map = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }
func.func @main(%image: tensor<1x18x18x16xf32>, %filter: tensor<3x3x16x32xf32>,
                %weights: tensor<32x64xf32>) -> (tensor<256x64xf32>, tensor<1x16x16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<1x16x16x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<1x16x16x32xf32>)
    -> tensor<1x16x16x32xf32>
  %sums = linalg.conv_2d_nhwc_hwcf
    ins(%image, %filter : tensor<1x18x18x16xf32>, tensor<3x3x16x32xf32>)
    outs(%zeros : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %relu = linalg.generic {indexing_maps = [#map4, #map4],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums : tensor<1x16x16x32xf32>) outs(%none : tensor<1x16x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %max = arith.MAXIMUM %in, %zero : f32
      linalg.yield %max : f32
  } -> tensor<1x16x16x32xf32>
  %rows = tensor.collapse_shape %relu [[0, 1, 2], [3]]
    : tensor<1x16x16x32xf32> into tensor<256x32xf32>
  %empty = tensor.empty() : tensor<256x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x64xf32>) -> tensor<256x64xf32>
  %product = linalg.matmul ins(%rows, %weights : tensor<256x32xf32>, tensor<32x64xf32>)
    outs(%start : tensor<256x64xf32>) -> tensor<256x64xf32>
  %result = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<256x64xf32>) outs(%empty : tensor<256x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %max = arith.maximumf %in, %zero : f32
      linalg.yield %max : f32
  } -> tensor<256x64xf32>
  return %result, %relu : tensor<256x64xf32>, tensor<1x16x16x32xf32>
}
"""


def write_model(folder: Path, combiner: str = "maximumf") -> Path:
    """Write the model, in which the first ReLU can be another operation."""
    program = folder / "model.mlir"
    program.write_text(MODEL.replace("MAXIMUM", combiner))
    return program


def lowerings(program: Path, roots: list[ModelRoot]) -> list[tuple[ModelRoot, Lowering]]:
    """Return a lowering for each root, one that is not IREE's choice."""
    provider = IreeProvider(ProviderSettings())
    found: list[tuple[ModelRoot, Lowering]] = []
    for operation in operations_of(program):
        lowering = lowering_of(provider.configurations(operation)[-2])
        assert lowering is not None
        found += [(root, lowering) for root in roots if root.key == root_key(operation)]
    return found


def test_a_spec_reaches_each_root_of_the_whole_program(tmp_path: Path) -> None:
    program = write_model(tmp_path)
    model = WholeModel(program, tmp_path / "whole")
    assert model.signature.name == "main"
    pairs = lowerings(program, model.roots())
    assert sorted(len(root.key[0]) for root, _ in pairs) == [3, 7]
    spec = tmp_path / "spec.mlir"
    spec.write_text(tuning_spec(pairs))
    default, tuned = model.compile("default"), model.compile("tuned", spec)
    assert default[0].path.read_bytes() != tuned[0].path.read_bytes()
    chosen = find_roots(read_lowerings(model.configurations(spec)))
    for _, lowering in pairs:
        assert sum(each.has(lowering) for each in chosen) == 1
    agreement = compare_results(default, tuned, KernelProcess)
    assert agreement.finite and agreement.holds and agreement.largest > 0.1


def test_results_that_differ_do_not_agree(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    right = WholeModel(write_model(tmp_path), tmp_path / "right")
    wrong = WholeModel(write_model(tmp_path / "other", "minimumf"), tmp_path / "wrong")
    start = partial(KernelProcess, seconds=60.0)
    agreement = compare_results(right.compile("a"), wrong.compile("b"), start)
    assert agreement.finite and not agreement.holds


def test_a_function_must_be_public(tmp_path: Path) -> None:
    program = write_model(tmp_path)
    with pytest.raises(UsageError, match=r"has no public function helper \(it has main\)"):
        WholeModel(program, tmp_path, "helper")


def test_a_spec_without_a_folder_is_refused_before_the_searches(tmp_path: Path) -> None:
    settings = TuneSettings(spec=tmp_path / "missing" / "spec.mlir")
    with pytest.raises(UsageError, match="does not exist"):
        ModelTuner(write_model(tmp_path), settings, SweepSettings(tmp_path))


def test_the_command_measures_the_whole_model(tmp_path: Path) -> None:
    write_model(tmp_path)
    words = ["model.mlir", "--budget", "8", "--output", "spec.mlir", "--json"]
    done = command_line.run("kernels", "tune", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["default_s"]) == 25
    names = [each["operation"] for each in found["operations"]]
    assert any("conv_2d" in each for each in names) and any("matmul" in each for each in names)
    assert all(each["tried"] >= 8 for each in some(found["operations"]))
    tuned = [each for each in found["operations"] if each["configuration"]]
    assert (found["spec"] == "spec.mlir") == bool(tuned)
    assert (tmp_path / "spec.mlir").exists() == bool(tuned)
    assert found["agrees"] is (True if tuned else None)
