"""A pipeline of iree-compile, by its dumps: hoisted globals, outlined dispatches."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

from actiondbg.lineage.lineage import Lineage
from actiondbg.lineage.opened_lineage import open_lineage
from scripts.benchmarks.lineage.plants import Plants
from scripts.benchmarks.lineage.truth import (
    LEAST,
    Row,
    by_locations_and_by_texts,
    faults,
    figures,
)
from scripts.benchmarks.recording import command

_PACKAGE = "iree-base-compiler==3.13.0"
# Initializers of globals stay, because they are not evaluated.
_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
    "--iree-opt-const-eval=false",
    "--compile-to=executable-configurations",
    "--mlir-print-debuginfo",
)
_LOG = (
    "--mlir-print-ir-after-all",
    "--mlir-print-ir-module-scope",
    "--mlir-disable-threading",
)
_NAME = "iree-compile: globals hoisted, dispatches outlined"
_MAPS = """\
#map = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
"""
_MODEL = """\
func.func @model{n}(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>)
    -> (tensor<64x48xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x48xf32>
  %c = arith.constant dense<[{p}, {ones}]> : tensor<48xf32>
  %w = linalg.generic {indexing_maps = [#columns, #map],
                       iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32
    %s = math.tanh %x : f32
    %t = arith.mulf %s, %k : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %f = arith.constant {p} : f32
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
                     outs(%0 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map],
                       iterator_types = ["parallel", "parallel"]}
      ins(%1, %w : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %k = arith.constant {p} : f32
    %s = arith.mulf %x, %k : f32
    %t = arith.addf %s, %y : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %g = arith.constant {p} : f32
  %r = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%g : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #rows],
                       iterator_types = ["parallel", "reduction"]}
      ins(%2 : tensor<64x48xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32
    %s = arith.subf %x, %k : f32
    %t = arith.addf %s, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %2, %3 : tensor<64x48xf32>, tensor<64xf32>
}""".replace("{ones}", ", ".join(["1.0"] * 47))  # of different values, so that nothing is folded


def measured(directory: Path, copies: int) -> Iterator[Row]:
    """Compare the input of iree-compile with its executables, and import the log of all passes."""
    compiler = _installed(directory)
    source, output = directory / "model.mlir", directory / "executables.mlir"
    log, run = directory / "iree.log", directory / "iree.adbrec"
    source.write_text(_MAPS + Plants().grown(_MODEL, copies))
    with log.open("wb") as file:
        argv = [compiler, *_FLAGS, *_LOG, source, "-o", output]
        subprocess.run(argv, check=True, stderr=file)
    yield _row(_NAME, open_lineage(dumps=[str(source), str(output)]).lineage)
    command("import", str(log), "-o", str(run))
    lineage = open_lineage(run).lineage
    yield _row(f"the same: the import of its log, {len(lineage.stages)} stages", lineage)


def _row(name: str, lineage: Lineage) -> Row:
    first, last = lineage.stages[0], lineage.stages[-1]
    alone, dumps = by_locations_and_by_texts(lineage)
    cells = [name, f"{len(first):,}", f"{len(last):,}", f"{dumps.planted:,}"]
    cells += [*figures(alone), *figures(dumps), "", "", "", ""]
    return Row(f"| {' | '.join(cells)} |", tuple(faults("dumps", dumps)), dumps.recall >= LEAST)


def _installed(directory: Path) -> Path:
    """Install iree-compile into a virtual environment in a directory; return its path."""
    where = directory / "iree"
    print(f"Installing {_PACKAGE} into {where}", file=sys.stderr)
    venv.create(where, with_pip=True)
    pip = [str(where / "bin/python"), "-m", "pip", "install", "--quiet", _PACKAGE]
    subprocess.run(pip, check=True)
    return where / "bin/iree-compile"
