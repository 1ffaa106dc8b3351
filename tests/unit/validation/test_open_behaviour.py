"""What the documentation leaves open: passes may rely on it, and programs may not."""

from __future__ import annotations

import pytest

from actiondbg.validation.function_judgement import JudgementLimits, Query
from actiondbg.validation.module_judge import ModuleJudge

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
_LINEAR = """
func.func @f(%i: index, %j: index) -> index {{
  %r = affine.linearize_index disjoint [%i, %j] by ({basis}) : index
  return %r : index
}}
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
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(before, after))
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


def test_a_bound_may_not_become_smaller() -> None:
    """The next pass may rely on it: two passes must not both be right, and the program wrong."""
    wide, narrow = (_BOUND.format(basis=each) for each in ("3, 4", "2, 4"))
    assert _verdict(narrow, wide) == "equivalent"
    assert _verdict(wide, narrow) == "different"


@pytest.mark.parametrize("wide", ["5000", "400, 5000"])
def test_the_bound_of_disjoint_indices_may_not_become_smaller(wide: str) -> None:
    before, after = (_LINEAR.format(basis=each) for each in (wide, "300, 5000"))
    assert _verdict(after, before) == "equivalent"
    assert _verdict(before, after) == "different"


def test_the_bound_behind_a_zero_that_is_dropped() -> None:
    """As upstream's canonicalization does."""
    text = """
func.func @f(%i: index, %j: index) -> index {{
  %zero = arith.constant 0 : index
  %r = affine.linearize_index [{indices}] by ({basis}) : index
  return %r : index
}}
"""
    before = text.format(indices="%zero, %i, %j", basis="2, 3, 5")
    assert _verdict(before, text.format(indices="%i, %j", basis="3, 5")) == "equivalent"


_SUM = """
func.func @f(%m: memref<8xi32>, %s: memref<1xi32>) {{
  affine.{loop} {{
    %x = affine.load %m[%i] : memref<8xi32>
    %old = affine.load %s[0] : memref<1xi32>
    %new = arith.addi %old, %x : i32
    affine.store %new, %s[0] : memref<1xi32>
  }}
  return
}}
"""


_COLLAPSED = """
func.func @f(%m: memref<4x8xi32>, %at: index) -> vector<8xi32> {{
  %flat = memref.collapse_shape %m [[0, 1]] : memref<4x8xi32> into memref<32xi32>
  %r = vector.load %flat[%at] : memref<32xi32>, vector<8xi32>
  return %r : vector<8xi32>
}}
"""
_DELINEARIZED = """
func.func @f(%m: memref<4x8xi32>, %at: index) -> vector<8xi32> {{
  %i:2 = affine.delinearize_index %at into (4, 8) : index, index
  %r = vector.load %m[%i#0, {column}] : memref<4x8xi32>, vector<8xi32>
  return %r : vector<8xi32>
}}
"""


def test_a_vector_that_begins_outside_is_not_compared() -> None:
    before = _COLLAPSED.format()
    assert _verdict(before, _DELINEARIZED.format(column="%i#1")) == "equivalent"
    assert _verdict(before, _DELINEARIZED.format(column="%i#0")) == "different"


def test_freed_memory_is_not_compared() -> None:
    """The second function is not interpreted, as its pointer is not."""
    text = """
func.func @f(%m: memref<4xi32>) {{
  {body}
  return
}}
func.func private @free(!llvm.ptr)
"""
    freed = text.format(body="memref.dealloc %m : memref<4xi32>")
    lowered = text.format(
        body="""%at = memref.extract_aligned_pointer_as_index %m : memref<4xi32> -> index
  %number = arith.index_cast %at : index to i64
  %pointer = llvm.inttoptr %number : i64 to !llvm.ptr
  func.call @free(%pointer) : (!llvm.ptr) -> ()"""
    )
    assert _verdict(freed, lowered) == "unknown"


_RETURNED = """
func.func @f(%x: i32, %other: memref<1xi32>) -> memref<1xi32> {{
  %c0 = arith.constant 0 : index
  %m = memref.{made}() : memref<1xi32>
  memref.store %x, %m[%c0] : memref<1xi32>
  {last}
  return %{returned} : memref<1xi32>
}}
"""
_KEPT = _RETURNED.format(made="alloc", last="", returned="m")
_FREED = _RETURNED.format(made="alloc", last="memref.dealloc %m : memref<1xi32>", returned="m")
_STACK = _RETURNED.format(made="alloca", last="", returned="m")
_OTHER = _RETURNED.format(made="alloca", last="", returned="other")


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (_KEPT, _FREED, "different"),
        (_KEPT, _STACK, "different"),
        (_FREED, _KEPT, "equivalent"),
        (_FREED, _STACK, "equivalent"),
        (_STACK, _OTHER, "equivalent"),
    ],
)
def test_returned_memory_is_kept(before: str, after: str, verdict: str) -> None:
    assert _verdict(before, after) == verdict


def test_a_race_is_not_run() -> None:
    """A real run goes through the iterations in order, and says nothing."""
    before = _SUM.format(loop="for %i = 0 to 8")
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(
        Query(before, _SUM.format(loop="parallel (%i) = (0) to (8)"))
    )
    assert found.verdict == "unknown"
    assert "race" in found.detail


def test_an_operation_without_a_meaning_makes_no_poison() -> None:
    """The vector begins as poison, and one element is all that is read."""
    text = """
func.func @f(%x: i32, %y: i32) -> i32 {{
  %p = llvm.mlir.poison : vector<2xi32>
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %v = llvm.insertelement %{value}, %p[%c0 : i32] : vector<2xi32>
  %r = vector.extract %v[0] : i32 from vector<2xi32>
  return %r : i32
}}
"""
    assert _verdict(text.format(value="x"), text.format(value="y")) != "equivalent"


def test_what_is_hoisted_is_no_fault() -> None:
    loop = """
func.func @f(%a: tensor<?xf32>, %n: index, %k: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  {before}
  scf.for %i = %c0 to %n step %c1 {{
    {inside}
    func.call @use(%t) : (tensor<2xf32>) -> ()
  }}
  return
}}
func.func private @use(tensor<2xf32>)
"""
    made = "%t = tensor.extract_slice %a[%k] [2] [1] : tensor<?xf32> to tensor<2xf32>"
    texts = [loop.format(before="", inside=made), loop.format(before=made, inside="")]
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(
        Query(*texts, suspect="loop-invariant-code-motion")
    )
    assert found.verdict == "unknown"


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


def test_tensors_of_complex_numbers_are_compared() -> None:
    before = """\
func.func @f() -> tensor<2xcomplex<f32>> {
  %x = arith.constant 1.0 : f32
  %c = complex.create %x, %x : complex<f32>
  %r = tensor.splat %c : tensor<2xcomplex<f32>>
  return %r : tensor<2xcomplex<f32>>
}
"""
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(
        Query(before, before.replace("1.0", "2.0"))
    )
    assert (found.verdict, found.detail) == (
        "different",
        "result 0[0]: (1.0, 1.0) before, (2.0, 2.0) after",
    )


_ASSERTION = """
func.func @f(%c: i1, %d: i1) {{
  cf.assert {first}
  cf.assert {second}
  return
}}
"""


@pytest.mark.parametrize(
    "after",
    [
        _ASSERTION.format(first='%c, "c"', second='%d, "other"'),
        _ASSERTION.format(first='%d, "d"', second='%c, "c"'),
    ],
    ids=["another text", "another order"],
)
def test_what_a_failed_assertion_says_is_open(after: str) -> None:
    before = _ASSERTION.format(first='%c, "c"', second='%d, "d"')
    (found,) = ModuleJudge(JudgementLimits(seconds=10)).judge(Query(before, after))
    assert found.verdict == "unknown"
    assert "nothing differs but the text of a failed assertion" in found.detail


_GLOBAL = """
memref.global {visibility} @g : memref<2xi32> = dense<[1, {second}]>
func.func @f() {{
  return
}}
"""


@pytest.mark.parametrize("visibility", ["", '"private"'])
def test_a_global_that_only_other_modules_use_is_not_compared(visibility: str) -> None:
    before, after = (_GLOBAL.format(visibility=visibility, second=each) for each in (2, 3))
    found = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert [(each.symbol, each.verdict) for each in found] == (
        [] if visibility else [("g", "unknown")]
    )


def test_a_global_that_is_only_lowered_is_no_doubt() -> None:
    before = 'memref.global "public" constant @g : memref<2xi32> = dense<1>'
    moved = before.replace("xi32>", "xi32, 3>")
    lowered = (
        "llvm.mlir.global external constant @g(dense<1> : tensor<2xi32>) {addr_space = 0 : i32}"
        " : !llvm.array<2 x i32>"
    )
    judge = ModuleJudge(JudgementLimits(seconds=5))
    assert [judge.judge(Query(before, each)) for each in (lowered, moved)] == [[], []]


@pytest.mark.parametrize("after", ["", 'memref.global "public" @g : memref<2xi32> = dense<1>'])
def test_a_global_that_is_gone_or_no_constant_is_not_known(after: str) -> None:
    before = 'memref.global "public" constant @g : memref<2xi32> = dense<1>'
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert (found.symbol, found.verdict) == ("g", "unknown")


_WINDOW = """
func.func @f(%m: memref<8xi32>) -> memref<2xi32, strided<[?], offset: ?>> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %m[%c0] : memref<8xi32>
  memref.store %v, %m[%c1] : memref<8xi32>
  %w = memref.subview %m[{offset}] [2] [{stride}]
    : memref<8xi32> to memref<2xi32, strided<[{stride}], offset: {offset}>>
  %r = memref.cast %w : memref<2xi32, strided<[{stride}], offset: {offset}>>
    to memref<2xi32, strided<[?], offset: ?>>
  return %r : memref<2xi32, strided<[?], offset: ?>>
}}
"""


@pytest.mark.parametrize(("offset", "stride"), [(0, 0), (1, 0)])
def test_a_returned_view_of_other_places_is_no_other_view(offset: int, stride: int) -> None:
    """Its elements are the same, until somebody writes to one."""
    before, after = (
        _WINDOW.format(offset=0, stride=1),
        _WINDOW.format(offset=offset, stride=stride),
    )
    (found,) = ModuleJudge(JudgementLimits(seconds=5)).judge(Query(before, after))
    assert found.verdict == "unknown"
    assert "shares other places of argument buffer 0 than before" in found.detail
