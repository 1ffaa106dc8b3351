"""Functions whose tensors become memrefs."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge

_BEFORE = """
func.func @f(%t: tensor<?xi32>, %i: index, %v: i32) -> (tensor<?xi32>, i32) {
  %old = tensor.extract %t[%i] : tensor<?xi32>
  %new = tensor.insert %v into %t[%i] : tensor<?xi32>
  return %new, %old : tensor<?xi32>, i32
}
"""
_HEAD = """
func.func @f(%t: memref<?xi32, strided<[?], offset: ?>>, %i: index, %v: i32)
    -> (memref<?xi32, strided<[?], offset: ?>>, i32) {
"""
_TAIL = """
  return %t, %old : memref<?xi32, strided<[?], offset: ?>>, i32
}
"""
_LOAD = "%old = memref.load %t[%i] : memref<?xi32, strided<[?], offset: ?>>\n"
_STORE = "memref.store %v, %t[%i] : memref<?xi32, strided<[?], offset: ?>>\n"


@pytest.mark.parametrize(
    ("body", "verdict", "said"),
    [
        (_LOAD + _STORE, "equivalent", "as tensors and as memrefs"),
        (_STORE + _LOAD, "unknown", "interpreted to differ (result 1"),
        (_LOAD, "unknown", "interpreted to differ (result 0"),
    ],
)
def test_an_insertion_in_place(body: str, verdict: str, said: str) -> None:
    after = _HEAD + body + _TAIL
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(_BEFORE, after))
    assert found.verdict == verdict
    assert said in found.detail


def test_other_types_are_not_compared() -> None:
    after = _HEAD.replace("i32", "i64") + (_LOAD + _STORE + _TAIL).replace("i32", "i64")
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(_BEFORE, after))
    assert (found.verdict, found.detail) == ("unknown", "its type changes")


def test_freed_memory_is_not_a_tensor() -> None:
    before = """
func.func @f(%x: i32) -> tensor<2xi32> {
  %r = tensor.from_elements %x, %x : tensor<2xi32>
  return %r : tensor<2xi32>
}
"""
    after = """
func.func @f(%x: i32) -> memref<2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<2xi32>
  memref.store %x, %m[%c0] : memref<2xi32>
  memref.store %x, %m[%c1] : memref<2xi32>
  DEALLOC
  return %m : memref<2xi32>
}
"""
    kept, freed = (
        ModuleJudge(JudgementLimits(seconds=10)).judge(
            Query(before, after.replace("DEALLOC", last))
        )[0]
        for last in ("", "memref.dealloc %m : memref<2xi32>")
    )
    assert kept.verdict == "equivalent"
    assert "freed" in freed.detail
    assert freed.verdict == "unknown"


def test_an_argument_belongs_to_the_caller() -> None:
    free = "memref.dealloc %t : memref<?xi32, strided<[?], offset: ?>>\n"
    before = """
func.func @f(%t: tensor<?xi32>, %i: index, %v: i32) -> i32 {
  %old = tensor.extract %t[%i] : tensor<?xi32>
  return %old : i32
}
"""
    head = "func.func @f(%t: memref<?xi32, strided<[?], offset: ?>>, %i: index, %v: i32) -> i32 {\n"
    for rest, verdict in (("", "equivalent"), (free, "unknown")):
        after = f"{head}{_LOAD}{rest}return %old : i32\n}}"
        (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(before, after))
        assert found.verdict == verdict
        assert ("argument buffer 0 is freed after, and not before" in found.detail) == bool(rest)
