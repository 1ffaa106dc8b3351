"""What the documentation leaves open: passes may rely on it, and programs may not."""

from __future__ import annotations

import pytest

from actiondbg.validation.judge import Judge
from actiondbg.validation.judgement import Limits, Query

_BOUND = """
func.func @f(%i: index) -> (index, index) {{
  %r:2 = affine.delinearize_index %i into ({basis}) : index, index
  return %r#0, %r#1 : index, index
}}
"""
_ALONE = """
func.func @f(%i: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  return %c0, %i : index, index
}
"""
_PRODUCT = """
func.func @f(%a: f32, %b: f32) -> (f32, f32) {{
  %z = complex.create %a, %b : complex<f32>
  %one = complex.constant [{one}, 0.0 : f32] : complex<f32>
  %r = complex.mul %z, %one : complex<f32>
  %re = complex.re %r : complex<f32>
  %im = complex.im %r : complex<f32>
  return %re, %im : f32, f32
}}
"""
_FACTOR = """
func.func @f(%a: f32, %b: f32) -> (f32, f32) {
  return %a, %b : f32, f32
}
"""
_FLAT = """
func.func @f(%m: memref<4x8xi32>) -> vector<8xi32> {
  %c5 = arith.constant 5 : index
  %flat = memref.collapse_shape %m [[0, 1]] : memref<4x8xi32> into memref<32xi32>
  %r = vector.load %flat[%c5] : memref<32xi32>, vector<8xi32>
  return %r : vector<8xi32>
}
"""
_ROWS = """
func.func @f(%m: memref<4x8xi32>) -> vector<8xi32> {{
  %c0 = arith.constant 0 : index
  %column = arith.constant {column} : index
  %r = vector.load %m[%c0, %column] : memref<4x8xi32>, vector<8xi32>
  return %r : vector<8xi32>
}}
"""
_NOTHING = """
func.func @f(%t: tensor<4xi32>, %i: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %r = tensor.extract_slice %t[%c0] [%c0] [1] : tensor<4xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}
"""
_BEHIND = """
func.func @f(%t: tensor<4xi32>, %i: index) -> tensor<?xi32> {{
  %c5 = arith.constant 5 : index
  %size = arith.constant {size} : index
  %r = tensor.extract_slice %t[%c5] [%size] [1] : tensor<4xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}}
"""


def _verdict(before: str, after: str) -> str:
    (found,) = Judge(Limits(seconds=10)).judge(Query(before, after))
    return found.verdict


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (_BOUND.format(basis="1, 4"), _ALONE, "equivalent"),
        (_FLAT, _ROWS.format(column="5"), "equivalent"),
        (_NOTHING, _BEHIND.format(size="0"), "equivalent"),
        # Lowerings differ in products of infinities; the solver sees signs of zeros.
        (_PRODUCT.format(one="1.0 : f32"), _FACTOR, "unknown"),
    ],
)
def test_a_pass_may_rely_on_it(before: str, after: str, verdict: str) -> None:
    assert _verdict(before, after) == verdict


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_BOUND.format(basis="4"), _ALONE),
        (_PRODUCT.format(one="2.0 : f32"), _FACTOR),
        (_FLAT, _ROWS.format(column="4")),
        (_NOTHING, _BEHIND.format(size="1")),
    ],
)
def test_all_else_is_different(before: str, after: str) -> None:
    assert _verdict(before, after) == "different"
