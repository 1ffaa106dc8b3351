"""Diffs of renamed IR, compared by the real tool."""

from __future__ import annotations

import random
import re
import subprocess

import pytest

from actiondbg.ir.diff import make_diff
from tests.conftest import LIBRARY

BUILDS = LIBRARY

Names = list[tuple[str, str]]


REAL = r"""
func.func @f(%n: index, %c: i1, %a: memref<4x4xf32>) -> index {
  scf.for %i = %n to %n step %n {
    %x = "t.a"(%i) {text = "%0 \" {"} : (index) -> i32
  }
  %s = scf.for %i = %n to %n step %n iter_args(%sum = %n) -> (index) {
    %y = arith.addi %sum, %i : index
    scf.yield %y : index
  }
  %r:2 = scf.if %c -> (i32, index) {
    %q = "t.c"(%s) : (index) -> i32
    scf.yield %q, %s : i32, index
  } else {
    %q:2 = "t.d"() : () -> (i32, index)
    scf.yield %q#0, %q#1 : i32, index
  }
  linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  cf.br ^bb2
^bb1:
  "t.use"(%late) : (i32) -> ()
  return %r#1 : index
^bb2:
  %late = "t.f"(%r#0) : (i32) -> i32
  cf.cond_br %c, ^bb1, ^bb3(%late : i32)
^bb3(%p: i32):
  scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) {
    "t.use"(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  cf.br ^bb1
}
"""


@pytest.mark.parametrize("form", ["custom", "generic"])
@pytest.mark.parametrize("seed", range(3))
def test_text_with_renamed_values_has_the_same_meaning(mlir_opt: str, form: str, seed: int) -> None:
    def run(text: str, *args: str) -> str:
        argv = [mlir_opt, "--allow-unregistered-dialect", "--mlir-print-local-scope", *args]
        return subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout

    flags = ["--mlir-print-op-generic"] if form == "generic" else []
    texts = run(REAL, *flags), run(REAL, "--canonicalize", *flags)
    names: list[Names] = [[], []]
    if form == "generic":
        # Whatever the preferences, two values may not share a name.
        choice = random.Random(seed)
        results = r"^ *(%\w+)(?::\d+)? = "
        for text, pairs in zip(texts, names, strict=True):
            for line in text.splitlines():
                defined = re.findall(r"%\w+" if line.lstrip().startswith("^") else results, line)
                pairs += ((name, f"k{choice.randrange(30)}") for name in defined)
    after = make_diff(*texts, *names).after
    assert after != texts[1]
    assert run(after, "--mlir-print-op-generic") == run(texts[1], "--mlir-print-op-generic")
