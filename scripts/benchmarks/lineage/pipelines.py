"""Inputs with plants, and the pipelines that they go through."""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scripts.benchmarks.lineage.plants import Plants


class Pipeline(NamedTuple):
    """A pipeline with its input.

    Args:
        name: for the table.
        source: returns the text of the input, for a number of copies.
        passes: the text of ``--pass-pipeline``.
    """

    name: str
    source: Callable[[int], str]
    passes: str


_TO_LLVM = (
    "convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-math-to-llvm,"
    "convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize"
)
_BUFFERIZE = (
    "eliminate-empty-tensors,empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}"
)
_LINALG_TO_LLVM = (
    "builtin.module(func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),"
    f"canonicalize,cse,{_BUFFERIZE},func.func(convert-linalg-to-loops),canonicalize,cse,{_TO_LLVM})"
)
_TOSA_TO_LINALG = (
    "builtin.module(func.func(tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named,"
    "canonicalize,tosa-layerwise-constant-fold,tosa-make-broadcastable,tosa-to-linalg,"
    "tosa-to-arith{include-apply-rescale},tosa-to-tensor,linalg-fuse-elementwise-ops),"
    "canonicalize,cse)"
)
_AFFINE = (
    "builtin.module(func.func(affine-loop-fusion,affine-loop-tile{tile-size=4},affine-loop-unroll"
    "{unroll-factor=4},affine-scalrep,affine-loop-invariant-code-motion),canonicalize,cse,"
    "lower-affine,canonicalize)"
)
_VECTOR = (
    "builtin.module(func.func(affine-super-vectorize{virtual-vector-size=8},"
    "convert-vector-to-scf),canonicalize,cse,lower-affine,convert-scf-to-cf,"
    "convert-vector-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize)"
)
_BUFFERIZATION = (
    f"builtin.module(canonicalize,cse,{_BUFFERIZE},drop-equivalent-buffer-results,"
    "func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack),"
    "buffer-deallocation-pipeline,func.func(convert-linalg-to-affine-loops),canonicalize,cse)"
)
_INLINED = (
    "builtin.module(inline,canonicalize,cse,symbol-dce,convert-scf-to-cf,"
    "convert-arith-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts,"
    "canonicalize)"
)
_GPU = (
    "builtin.module(func.func(convert-linalg-to-parallel-loops,gpu-map-parallel-loops,"
    "convert-parallel-loops-to-gpu),canonicalize,gpu-kernel-outlining,lower-affine,canonicalize,cse)"
)

_LINALG = """\
func.func @linalg{n}(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %c: tensor<8x4xf32>)
    -> tensor<8x4xf32> {
  %f = arith.constant {p} : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>)
                     outs(%0 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map],
                       iterator_types = ["parallel", "parallel"]}
      ins(%1, %c : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %k = arith.constant {p} : f32
    %l = arith.constant {p} : f32
    %s = arith.mulf %x, %k : f32
    %t = arith.addf %y, %l : f32
    %u = arith.subf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x4xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32
    %s = arith.maximumf %x, %k : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}"""

# As a front end locates them that knows the lines of its own language only.
_SHARED = """\
func.func @shared{n}(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32> loc("model.py":1{n}:1)
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32 loc("model.py":1{n}:1)
    %s = arith.mulf %x, %k : f32 loc("model.py":1{n}:1)
    linalg.yield %s : f32 loc("model.py":1{n}:1)
  } -> tensor<8x4xf32> loc("model.py":1{n}:1)
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32 loc("model.py":1{n}:1)
    %s = arith.subf %x, %k : f32 loc("model.py":1{n}:1)
    linalg.yield %s : f32 loc("model.py":1{n}:1)
  } -> tensor<8x4xf32> loc("model.py":1{n}:1)
  %2 = linalg.generic {indexing_maps = [#map, #map, #map],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %k = arith.constant {p} : f32 loc("model.py":1{n}:1)
    %s = arith.addf %x, %y : f32 loc("model.py":1{n}:1)
    %t = arith.maximumf %s, %k : f32 loc("model.py":1{n}:1)
    linalg.yield %t : f32 loc("model.py":1{n}:1)
  } -> tensor<8x4xf32> loc("model.py":1{n}:1)
  return %2 : tensor<8x4xf32> loc("model.py":1{n}:1)
} loc("model.py":1{n}:1)"""

_TOSA = """\
func.func @tosa{n}(%a: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x8x8x4xf32> {
  %b = "tosa.const"() <{values = dense<{p}> : tensor<4xf32>}> : () -> tensor<4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %a, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
    : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x8x8x4xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = {p} : f32}
    : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %k = "tosa.const"() <{values = dense<{p}> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %2 = tosa.add %1, %k : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  return %2 : tensor<1x8x8x4xf32>
}"""

_LOOPS = """\
func.func @affine{n}(%a: memref<32xf32>, %b: memref<32xf32>, %c: memref<32x16xf32>) {
  %t = memref.alloc() : memref<32xf32>
  affine.for %i = 0 to 32 {
    %k = arith.constant {p} : f32
    %v = affine.load %a[%i] : memref<32xf32>
    %w = arith.mulf %v, %k : f32
    affine.store %w, %t[%i] : memref<32xf32>
  }
  affine.for %i = 0 to 32 {
    %k = arith.constant {p} : f32
    %v = affine.load %t[%i] : memref<32xf32>
    %w = arith.addf %v, %k : f32
    affine.store %w, %b[%i] : memref<32xf32>
  }
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 16 {
      %k = arith.constant {p} : f32
      %v = affine.load %c[%i, %j] : memref<32x16xf32>
      %w = arith.divf %v, %k : f32
      affine.store %w, %c[%i, %j] : memref<32x16xf32>
    }
  }
  memref.dealloc %t : memref<32xf32>
  return
}"""

_VECTORS = """\
func.func @vector{n}(%a: memref<64xf32>, %b: memref<64xf32>, %x: vector<8xf32>) -> vector<8xf32> {
  affine.for %i = 0 to 64 {
    %k = arith.constant {p} : f32
    %v = affine.load %a[%i] : memref<64xf32>
    %w = arith.mulf %v, %k : f32
    affine.store %w, %b[%i] : memref<64xf32>
  }
  affine.for %i = 0 to 64 {
    %k = arith.constant {p} : f32
    %v = affine.load %b[%i] : memref<64xf32>
    %w = arith.subf %v, %k : f32
    affine.store %w, %b[%i] : memref<64xf32>
  }
  %k = arith.constant dense<{p}> : vector<8xf32>
  %y = arith.addf %x, %k : vector<8xf32>
  return %y : vector<8xf32>
}"""

_TENSORS = """\
func.func @tensor{n}(%a: tensor<16xf32>, %i: index) -> (tensor<16xf32>, tensor<16xf32>) {
  %k = arith.constant {p} : f32
  %0 = tensor.insert %k into %a[%i] : tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %l = arith.constant {p} : f32
  %1 = linalg.fill ins(%l : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %2 = linalg.map ins(%0, %1 : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>)
    (%x: f32, %y: f32, %o: f32) {
      %m = arith.constant {p} : f32
      %s = arith.mulf %x, %m : f32
      %t = arith.addf %s, %y : f32
      linalg.yield %t : f32
    }
  %3 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%2 : tensor<16xf32>) outs(%a : tensor<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.constant {p} : f32
    %s = arith.subf %x, %m : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %3, %1 : tensor<16xf32>, tensor<16xf32>
}"""

_KERNELS = """\
func.func @gpu{n}(%a: memref<32x32xf32>, %b: memref<32x32xf32>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<32x32xf32>) outs(%b : memref<32x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32
    %s = arith.mulf %x, %k : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<32x32xf32>) outs(%a : memref<32x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %k = arith.constant {p} : f32
    %s = arith.addf %x, %k : f32
    linalg.yield %s : f32
  }
  return
}"""

_CALLS = """\
func.func private @leaf{n}(%x: f32) -> f32 {
  %k = arith.constant {p} : f32
  %s = arith.mulf %x, %k : f32
  return %s : f32
}
func.func @calls{n}(%x: f32, %c: i1) -> f32 {
  %a = func.call @leaf{n}(%x) : (f32) -> f32
  %b = scf.if %c -> f32 {
    %k = arith.constant {p} : f32
    %t = func.call @leaf{n}(%a) : (f32) -> f32
    %u = arith.divf %t, %k : f32
    scf.yield %u : f32
  } else {
    %k = arith.constant {p} : f32
    %u = arith.subf %a, %k : f32
    scf.yield %u : f32
  }
  return %b : f32
}"""

_MAPS = "#map = affine_map<(d0, d1) -> (d0, d1)>\n#row = affine_map<(d0) -> (d0)>\n"


def _of(template: str) -> Callable[[int], str]:
    return lambda count: _MAPS + Plants().grown(template, count)


GENERATED = (
    Pipeline("linalg to LLVM", _of(_LINALG), _LINALG_TO_LLVM),
    Pipeline("the same, one location a function", _of(_SHARED), _LINALG_TO_LLVM),
    Pipeline("TOSA to linalg", _of(_TOSA), _TOSA_TO_LINALG),
    Pipeline("affine: fused, tiled, unrolled", _of(_LOOPS), _AFFINE),
    Pipeline("vectors to LLVM", _of(_VECTORS), _VECTOR),
    Pipeline("bufferization", _of(_TENSORS), _BUFFERIZATION),
    Pipeline("calls, inlined, to LLVM", _of(_CALLS), _INLINED),
    Pipeline("the same, with sccp", _of(_CALLS), _INLINED.replace("inline,", "inline,sccp,")),
    Pipeline("GPU kernels, outlined", _of(_KERNELS), _GPU),
)


def real_pipelines(root: Path, folder: Path | None) -> list[Pipeline]:
    """Return pipelines of real models.

    Args:
        root: the repository, which has a 6-layer GPT.
        folder: more models, or None.
    """
    packed = (root / "tests/inputs/gpt6_fwd.linalg.mlir.xz").read_bytes()
    gpt6 = lzma.decompress(packed).decode()
    found = [
        Pipeline("a 6-layer GPT, linalg to LLVM", _model(gpt6), _LINALG_TO_LLVM),
        Pipeline("a 6-layer GPT, bufferization", _model(gpt6), _BUFFERIZATION),
    ]
    for path in sorted(folder.glob("*.mlir")) if folder is not None else ():
        text = path.read_text()
        if "tosa." in text:
            passes = _TOSA_TO_LINALG
        elif "linalg." in text and "gpt6" not in path.name:
            passes = _LINALG_TO_LLVM
        else:
            continue
        name = f"{path.stem}, {'TOSA to linalg' if 'tosa.' in text else 'linalg to LLVM'}"
        found.append(Pipeline(name, _model(text), passes))
    return found


def _model(text: str) -> Callable[[int], str]:
    def source(copies: int) -> str:
        del copies  # there is one model
        return planted(text)

    return source


def planted(text: str) -> str:
    """Plant constants into a model.

    Each value that the body of a ``linalg.generic`` yields is multiplied by a plant; fills, clamps
    and biases that are splats get plants of their own.
    """
    plants = Plants()
    lines: list[str] = []
    count = 0
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if found := re.match(r"\s*linalg\.yield (%[\w.]+) : (f32)\s*$", line):
            count += 1
            lines.append(f"{indent}%plant{count} = arith.constant {plants.float()} : f32")
            lines.append(f"{indent}%times{count} = arith.mulf {found[1]}, %plant{count} : f32")
            line = f"{indent}linalg.yield %times{count} : f32"
        elif found := re.search(r"linalg\.fill ins\((%[\w.]+) : f32\)", line):
            count += 1
            lines.append(f"{indent}%plant{count} = arith.constant {plants.float()} : f32")
            line = line.replace(f"ins({found[1]} : f32)", f"ins(%plant{count} : f32)")
        elif '"tosa.const"' in line and re.search(r"dense<0.0*e\+00> : tensor<[2-9][0-9]", line):
            line = line.replace("dense<0.000000e+00>", f"dense<{plants.float()}>")
        elif "tosa.clamp" in line:
            line = re.sub(r"max_val = [^ ,]+ : f32", f"max_val = {plants.float()} : f32", line)
        lines.append(line)
    return "\n".join(lines)
