"""References of operations that are cut out of a program."""

from __future__ import annotations

import numpy as np
import pytest

from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.model import ElementType, Operation, Reference
from tests.fakes.kernels.operations import OPERATIONS

pytest.importorskip("mlir.ir")

from actiondbg.kernels.programs.interpretation import interpret


def _operands(operation: Operation) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [random.integers(-3, 4, each.shape).astype(each.type.dtype) for each in operation.inputs]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_it_agrees_with_the_references_of_the_kinds(operation: Operation) -> None:
    inputs = _operands(operation)
    expected = operation.reference(inputs)
    found = interpret(operation.function(), inputs, operation.accumulator)
    assert found.values.dtype == expected.values.dtype
    if found.exact:
        assert expected.exact
    if expected.exact:
        np.testing.assert_array_equal(found.values, expected.values)
    # A constant, such as the scale of a softmax, is rounded to f32 in the text.
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)
    assert np.all(found.magnitude >= np.abs(found.values))


def _generic(body: str, kind: str = "f32", result: str = "f32") -> str:
    arguments = ", ".join(f"%x{at}: tensor<4x{kind}>" for at in range(2))
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * 3)
    return f"""func.func @f({arguments}) -> tensor<4x{result}> {{
      %e = tensor.empty() : tensor<4x{result}>
      %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
          ins(%x0, %x1 : tensor<4x{kind}>, tensor<4x{kind}>) outs(%e : tensor<4x{result}>) {{
      ^bb0(%a: {kind}, %b: {kind}, %old: {result}):
        {body}
      }} -> tensor<4x{result}>
      return %r : tensor<4x{result}>
    }}"""


def _evaluate(body: str, x: list[float], y: list[float], kind: str = "f32") -> Reference:
    element = ElementType(kind)
    inputs = [np.array(each, element.dtype) for each in (x, y)]
    return interpret(_generic(body, kind, kind), inputs, element)


def test_functions_and_selections() -> None:
    body = """%c = arith.cmpf oge, %a, %b : f32
        %s = arith.select %c, %a, %b : f32
        %x = math.exp %s : f32
        %l = math.log %x : f32
        %q = arith.divf %l, %b : f32
        linalg.yield %q : f32"""
    reference = _evaluate(body, [1, 2, 3, 4], [4, 3, 2, 1])
    np.testing.assert_allclose(reference.values, [1, 1, 1.5, 4])
    assert not reference.exact
    assert np.all(reference.magnitude > reference.values)


def test_operands_outside_of_a_domain_give_nan() -> None:
    body = "%r = math.rsqrt %a : f32\nlinalg.yield %r : f32"
    reference = _evaluate(body, [-1, 0, 4, 1], [0] * 4)
    np.testing.assert_array_equal(reference.values, [np.nan, np.inf, 0.5, 1])
    assert reference.magnitude[0] == 0
    assert np.isfinite(reference.magnitude[2:]).all()


def test_integers_wrap() -> None:
    body = "%p = arith.muli %a, %b : i32\nlinalg.yield %p : i32"
    reference = _evaluate(body, [2**30, 1, -(2**31), 3], [4, 2, -1, 5], "i32")
    assert reference.values.tolist() == [0, 2, -(2**31), 15]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%w = arith.extsi %a : i1 to i32", [-1, 0, -1, 0]),
        ("%w = arith.extui %a : i1 to i32", [1, 0, 1, 0]),
        ("%s = arith.addi %a, %b : i1\n%w = arith.extui %s : i1 to i32", [0, 1, 1, 0]),
        ("%s = arith.subi %a, %b : i1\n%w = arith.extui %s : i1 to i32", [0, 1, 1, 0]),
        ("%s = arith.maxsi %a, %b : i1\n%w = arith.extui %s : i1 to i32", [1, 0, 0, 0]),
        ("%s = arith.cmpi slt, %a, %b : i1\n%w = arith.extui %s : i1 to i32", [0, 0, 1, 0]),
        ("%s = arith.cmpi eq, %a, %b : i1\n%w = arith.extui %s : i1 to i32", [1, 0, 0, 1]),
    ],
)
def test_the_only_bit_of_i1_is_its_sign(body: str, expected: list[int]) -> None:
    inputs = [np.array(each, bool) for each in ([1, 0, 1, 0], [1, 1, 0, 0])]
    text = _generic(f"{body}\nlinalg.yield %w : i32", "i1", "i32")
    assert interpret(text, inputs, ElementType.I32).values.tolist() == expected


def _lookup(row: str) -> str:
    return f"""func.func @f(%rows: tensor<4xi32>, %table: tensor<3xf32>) -> tensor<4xf32> {{
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
          iterator_types = ["parallel"]}} ins(%rows : tensor<4xi32>) outs(%e : tensor<4xf32>) {{
      ^bb0(%a: i32, %old: f32):
        {row}
        %element = tensor.extract %table[%row] : tensor<3xf32>
        linalg.yield %element : f32
      }} -> tensor<4xf32>
      return %r : tensor<4xf32>
    }}"""


def test_elements_at_indices() -> None:
    text = _lookup("%row = arith.index_cast %a : i32 to index")
    table = np.array([5, 6, 7], np.float32)
    rows = np.array([2, 0, 1, 2], np.int32)
    assert interpret(text, [rows, table], ElementType.F32).values.tolist() == [7, 5, 6, 7]
    for outside in (3, -1):
        rows[1] = outside
        with pytest.raises(Unsupported, match="read outside of its tensor"):
            interpret(text, [rows, table], ElementType.F32)


def test_errors_of_cancelled_sums_stay() -> None:
    body = """%p = arith.mulf %a, %b : f32
        %m = arith.subf %p, %a : f32
        linalg.yield %m : f32"""
    reference = _evaluate(body, [1000, 1, 0, 2], [1, 1, 1, 1])
    assert reference.values.tolist() == [0, 0, 0, 0]
    assert reference.magnitude.tolist() == [1000, 1, 0, 2]


def test_fractions_make_sums_of_integers_inexact() -> None:
    half = """%h = arith.constant {} : f32
        %p = arith.mulf %a, %h : f32
        linalg.yield %p : f32"""
    assert _evaluate(half.format("2.0"), [1] * 4, [1] * 4).exact
    assert not _evaluate(half.format("0.3"), [1] * 4, [1] * 4).exact


def test_narrow_types_round_more() -> None:
    body = """%n = arith.truncf %a : f32 to f16
        %w = arith.extf %n : f16 to f32
        linalg.yield %w : f32"""
    reference = _evaluate(body, [1, 2, 3, 4], [0] * 4)
    assert reference.magnitude.tolist() == [2.0**13 * each for each in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%p = math.powf %a, %b : f32\nlinalg.yield %p : f32", "does not interpret math.powf."),
        (
            "%c = arith.cmpf true, %a, %b : f32\n%s = arith.select %c, %a, %b : f32\n"
            "linalg.yield %s : f32",
            "predicate 15 of a comparison.",
        ),
    ],
)
def test_what_is_not_interpreted_is_named(body: str, message: str) -> None:
    with pytest.raises(Unsupported, match=message):
        _evaluate(body, [1] * 4, [1] * 4)


def test_reductions_that_are_no_sums_are_named() -> None:
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty() : tensor<f32>
      %i = linalg.fill ins(%one : f32) outs(%e : tensor<f32>) -> tensor<f32>
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%i : tensor<f32>) {
      ^bb0(%a: f32, %old: f32):
        %d = arith.divf %old, %a : f32
        linalg.yield %d : f32
      } -> tensor<f32>
      return %r : tensor<f32>
    }"""
    with pytest.raises(Unsupported, match=r"the reduction of linalg.generic: it is not one sum"):
        interpret(text, [np.ones(4, np.float32)], ElementType.F32)


def test_comparisons_with_nan_are_ordered_or_not() -> None:
    found: dict[str, list[float]] = {}
    for name in ("ogt", "ugt", "one", "une"):
        body = f"""%c = arith.cmpf {name}, %a, %b : f32
            %s = arith.select %c, %a, %b : f32
            linalg.yield %s : f32"""
        found[name] = _evaluate(body, [np.nan, 2, 3, 3], [7, 1, 4, 3]).values.tolist()
    assert found["ogt"] == [*found["one"][:1], 2, 4, 3]
    assert np.isnan(found["ugt"][0])
    assert np.isnan(found["une"][0])
    assert found["une"][1:] == found["one"][1:] == [2, 3, 3]


def test_numbers_on_the_way_that_are_too_large_are_reported() -> None:
    narrow = """%n = arith.truncf %a : f32 to f16
        %w = arith.extf %n : f16 to f32
        linalg.yield %w : f32"""
    assert not _evaluate(narrow, [65504, 1, 2, 3], [0] * 4).overflows
    assert _evaluate(narrow, [65536, 1, 2, 3], [0] * 4).overflows
    square = "%s = arith.mulf %a, %a : f32\n"
    yielded = f"{square}linalg.yield %s : f32"
    assert not _evaluate(yielded, [1e30, 1, 2, 3], [0] * 4).overflows  # so is the result
    product = f"{square}%p = arith.mulf %s, %b : f32\nlinalg.yield %p : f32"
    assert _evaluate(product, [1e30, 1, 2, 3], [1e-30] * 4).overflows
    assert not _evaluate(product, [np.inf, 1, 2, 3], [1e-30] * 4).overflows
    wide = """%large = arith.constant 1.0e300 : f64
        %small = arith.constant 1.0e-300 : f64
        %w = arith.extf %a : f32 to f64
        %p = arith.mulf %w, %large : f64
        %q = arith.mulf %p, %small : f64
        %r = arith.truncf %q : f64 to f32
        linalg.yield %r : f32"""
    assert not _evaluate(wide, [1e7, 1, 2, 3], [0] * 4).overflows
    assert _evaluate(wide, [1e10, 1, 2, 3], [0] * 4).overflows


def test_a_maximum_of_nothing_is_what_it_begins_with() -> None:
    text = """func.func @f(%x: tensor<3x0xf32>, %start: tensor<3xf32>) -> tensor<3xf32> {
      %r = linalg.reduce { arith.maximumf } ins(%x : tensor<3x0xf32>)
        outs(%start : tensor<3xf32>) dimensions = [1]
      return %r : tensor<3xf32>
    }"""
    inputs = [np.zeros((3, 0), np.float32), np.array([1, -2, 3], np.float32)]
    assert interpret(text, inputs, ElementType.F32).values.tolist() == [1, -2, 3]


def test_a_diagonal_is_not_interpreted() -> None:
    text = """func.func @f(%x: tensor<3xf32>, %old: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %r = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>],
          iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%old : tensor<3x3xf32>) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      } -> tensor<3x3xf32>
      return %r : tensor<3x3xf32>
    }"""
    with pytest.raises(Unsupported, match=r"\(d0\) -> \(d0, d0\)"):
        interpret(text, [np.zeros(3, np.float32), np.zeros((3, 3), np.float32)], ElementType.F32)
