"""Races of parallel loops, which real runs do not show: they go through the iterations in order."""

from __future__ import annotations

from pathlib import Path

from actiondbg.validation.function_judgement import FunctionJudgement, JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge
from tests.conftest import LIBRARY

BUILDS = LIBRARY

_SUM = """
func.func @f(%t: tensor<8xi32>, %o: tensor<1xi32>) -> tensor<1xi32> {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %t[%c0] : tensor<8xi32>
  %r = tensor.insert %x into %o[%c0] : tensor<1xi32>
  return %r : tensor<1xi32>
}
"""
_THREADS = """
func.func @f(%t: tensor<8xi32>, %o: tensor<1xi32>) -> tensor<1xi32> {{
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in ({threads}) shared_outs(%s = %o) -> (tensor<1xi32>) {{
    %x = tensor.extract %t[%c0] : tensor<8xi32>
    %n = tensor.insert %x into %s[%c0] : tensor<1xi32>
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %n into %s[%c0] [1] [1] : tensor<1xi32> into tensor<1xi32>
    }}
  }}
  return %r : tensor<1xi32>
}}
"""
_LONG = """
func.func @f(%a: memref<512xi32>, %c: memref<1xi32>) {{
  %c0 = arith.constant 0 : index
  affine.for %k = 0 to 512 {{
    affine.{loop} {{
      %x = affine.load %a[%i] : memref<512xi32>
      %y = affine.load %c[0] : memref<1xi32>
      %z = arith.addi %x, %y : i32
      affine.store %z, %{to}] : memref<{size}xi32>
    }}
  }}
  return
}}
"""
_IN_ORDER = "for %i = 0 to 512"
_PARALLEL = "parallel (%i) = (0) to (512)"


def _judged(before: str, after: str, mlir_opt: str, scratch: Path) -> FunctionJudgement:
    limits = JudgementLimits(
        seconds=20, inputs=8, steps=20_000, tool=mlir_opt, scratch=str(scratch)
    )
    (found,) = ModuleJudge(limits).judge(Query(before, after))
    return found


def test_threads_that_insert_at_the_same_place(mlir_opt: str, tmp_path: Path) -> None:
    one, several = (
        _judged(_SUM, _THREADS.format(threads=count), mlir_opt, tmp_path) for count in (1, 2)
    )
    assert one.verdict == "equivalent"
    assert several.verdict == "unknown"
    assert several.detail == "after the action, threads of scf.forall insert slices that overlap"


def test_a_race_is_seen_in_a_loop_that_is_too_long(mlir_opt: str, tmp_path: Path) -> None:
    racy, right = (
        _judged(
            _LONG.format(loop=_IN_ORDER, to=to, size=size),
            _LONG.format(loop=_PARALLEL, to=to, size=size),
            mlir_opt,
            tmp_path,
        )
        for to, size in (("c[0", "1"), ("a[%i", "512"))
    )
    assert racy.verdict == "unknown"
    assert racy.detail == "after the action, iterations of affine.parallel race for memory"
    assert right.verdict == "equivalent"
    assert "real runs" in right.detail
