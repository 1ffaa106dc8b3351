"""Operations cut out of a model, and wrong ones: verification finds each."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import numpy as np
import pytest

from actiondbg.errors import UsageError
from actiondbg.kernels.errors import Unsupported
from actiondbg.kernels.model import Operation
from actiondbg.kernels.verification.expectation import expected_results
from actiondbg.kernels.verification.result_check import compare
from tests.elements import some

pytest.importorskip("mlir.ir")
pytest.importorskip("ml_dtypes")

from actiondbg.kernels.programs.extraction import cut
from actiondbg.kernels.programs.interpretation import interpret
from actiondbg.kernels.programs.structured_operation import parse_program

_IDENTITY = "affine_map<(d0, d1) -> (d0, d1)>"
_ROWS = "affine_map<(d0, d1) -> (d0)>"
_MODEL = f"""
func.func @f(%scores: tensor<16x16xf32>, %lhs: tensor<16x16xf32>, %rhs: tensor<16x16xf32>,
             %bias: tensor<16xf32>, %flags: tensor<16x16xi1>, %rows: tensor<16xi32>,
             %table: tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16x16xf32>, tensor<16x16xf32>,
             tensor<16x16xf32>, tensor<16x16xi1>, tensor<16x16xf32>) {{
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<16xf32>
  %none = linalg.fill ins(%lowest : f32) outs(%row : tensor<16xf32>) -> tensor<16xf32>
  %maxima = linalg.generic {{indexing_maps = [{_IDENTITY}, {_ROWS}],
      iterator_types = ["parallel", "reduction"]}}
      ins(%scores : tensor<16x16xf32>) outs(%none : tensor<16xf32>) {{
  ^bb0(%score: f32, %old: f32):
    %larger = arith.maximumf %score, %old : f32
    linalg.yield %larger : f32
  }} -> tensor<16xf32>
  %square = tensor.empty() : tensor<16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%square : tensor<16x16xf32>) -> tensor<16x16xf32>
  %product = linalg.matmul ins(%lhs, %rhs : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%start : tensor<16x16xf32>) -> tensor<16x16xf32>
  %active = linalg.generic {{indexing_maps = [{_IDENTITY}, {_ROWS}, {_IDENTITY}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%product, %bias : tensor<16x16xf32>, tensor<16xf32>)
      outs(%square : tensor<16x16xf32>) {{
  ^bb0(%sum: f32, %addend: f32, %old: f32):
    %biased = arith.addf %sum, %addend : f32
    %positive = arith.cmpf ugt, %biased, %zero : f32
    %kept = arith.select %positive, %biased, %zero : f32
    linalg.yield %kept : f32
  }} -> tensor<16x16xf32>
  %wide = tensor.empty() : tensor<16x16xf32>
  %exponentials = linalg.generic {{indexing_maps = [{_IDENTITY}, {_ROWS}, {_IDENTITY}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%scores, %bias : tensor<16x16xf32>, tensor<16xf32>)
      outs(%wide : tensor<16x16xf32>) {{
  ^bb0(%score: f32, %largest: f32, %old: f32):
    %difference = arith.subf %score, %largest : f32
    %exponential = math.exp %difference : f32
    linalg.yield %exponential : f32
  }} -> tensor<16x16xf32>
  %masked = linalg.generic {{indexing_maps = [{_IDENTITY}, {_IDENTITY}, {_ROWS}, {_IDENTITY}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%flags, %scores, %bias : tensor<16x16xi1>, tensor<16x16xf32>, tensor<16xf32>)
      outs(%wide : tensor<16x16xf32>) {{
  ^bb0(%flag: i1, %score: f32, %other: f32, %old: f32):
    %chosen = arith.select %flag, %score, %other : f32
    linalg.yield %chosen : f32
  }} -> tensor<16x16xf32>
  %bits = tensor.empty() : tensor<16x16xi1>
  %less = linalg.generic {{indexing_maps = [{_IDENTITY}, {_ROWS}, {_IDENTITY}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%scores, %bias : tensor<16x16xf32>, tensor<16xf32>)
      outs(%bits : tensor<16x16xi1>) {{
  ^bb0(%score: f32, %limit: f32, %old: i1):
    %below = arith.cmpf olt, %score, %limit : f32
    linalg.yield %below : i1
  }} -> tensor<16x16xi1>
  %gathered = linalg.generic {{indexing_maps = [{_ROWS}, {_IDENTITY}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%rows : tensor<16xi32>) outs(%wide : tensor<16x16xf32>) {{
  ^bb0(%at: i32, %old: f32):
    %place = arith.index_cast %at : i32 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %table[%place, %column] : tensor<16x16xf32>
    linalg.yield %element : f32
  }} -> tensor<16x16xf32>
  return %maxima, %active, %exponentials, %masked, %less, %gathered : tensor<16xf32>,
      tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xi1>, tensor<16x16xf32>
}}
"""
# One word for another, at each place.
_WORDS = [
    ("maximumf", "minimumf"),
    ("maximumf", "maxnumf"),
    ("maximumf", "addf"),
    ("addf", "subf"),
    ("addf", "mulf"),
    ("subf", "addf"),
    ("subf", "mulf"),
    ("math.exp ", "math.exp2 "),
    ("math.exp ", "math.tanh "),
    ("math.exp ", "math.absf "),
    ("cmpf ugt", "cmpf ogt"),
    ("cmpf ugt", "cmpf ult"),
    ("cmpf ugt", "cmpf une"),
    ("cmpf olt", "cmpf ole"),
    ("cmpf olt", "cmpf ult"),
    ("cmpf olt", "cmpf oge"),
    ("cmpf olt", "cmpf ogt"),
    ("select %in, %in_0, %in_1", "select %in, %in_1, %in_0"),
    ("select %in, %in_0, %in_1", "select %in, %in_0, %in_0"),
    ("linalg.index 1", "linalg.index 0"),
    ("[%1, %2]", "[%2, %2]"),
    ("[%1, %2]", "[%1, %1]"),
    ("[%1, %2]", "[%2, %1]"),
    ("(d0)>", "(d1)>"),
    ("(d0, d1)>", "(d1, d0)>"),
    ("constant 0.0", "constant 1.0"),
    ("constant 0xF", "constant 0x7"),
    ("constant 0xFF800000", "constant 0.0"),
    ("constant 0xFF800000", "constant -500.0"),
]


def _model_operations() -> list[Operation]:
    return list(cut(parse_program(_MODEL, "The model")).operations)


def _mutants(text: str) -> Iterator[tuple[str, str]]:
    for word, other in _WORDS:
        for number, found in enumerate(re.finditer(re.escape(word), text)):
            yield (
                f"{word} {number} is {other}",
                text[: found.start()] + other + text[found.end() :],
            )
    for found in re.finditer(r"arith\.(sub\w|div\w|cmp\w \w+,|select) (%\w+), (%\w+)", text):
        name, left, right = found.groups()
        swapped = f"arith.{name} {right}, {left}"
        yield f"{name} swapped", text[: found.start()] + swapped + text[found.end() :]


@pytest.mark.parametrize("operation", _model_operations(), ids=lambda each: each.root)
def test_every_wrong_program_is_found(operation: Operation) -> None:
    text = operation.function()
    expectations = expected_results(operation)
    kind = operation.result.type.dtype

    def is_kept(program: str) -> bool:
        with np.errstate(all="ignore"):
            return not any(
                compare(
                    interpret(program, each.operands, operation.accumulator).values.astype(kind),
                    each,
                ).wrong.any()
                for each in expectations
            )

    assert is_kept(text)
    valid: list[str] = []
    kept: list[str] = []
    for words, program in some(_mutants(text)):
        with contextlib.suppress(Unsupported, UsageError):
            if is_kept(program):
                kept.append(words)
            valid.append(words)
    assert len(valid) >= 6
    assert kept == []


def _negation(flags: str = "") -> Operation:
    text = f"""
func.func @f(%x: tensor<9x7xf32>) -> tensor<9x7xf32> {{
  %new = tensor.empty() : tensor<9x7xf32>
  %result = linalg.generic {{indexing_maps = [{_IDENTITY}, {_IDENTITY}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<9x7xf32>) outs(%new : tensor<9x7xf32>) {{
  ^bb0(%element: f32, %old: f32):
    %negated = arith.negf %element {flags} : f32
    linalg.yield %negated : f32
  }} -> tensor<9x7xf32>
  return %result : tensor<9x7xf32>
}}"""
    return cut(parse_program(text, "The program")).operations[0]


def test_a_negation_by_a_subtraction_from_zero_is_found() -> None:
    expectations = expected_results(_negation())
    assert not any(compare(-each.operands[0], each).wrong.any() for each in expectations)
    assert any(compare(0 - each.operands[0], each).wrong.any() for each in expectations)


@pytest.mark.parametrize("flag", ["nsz", "contract,nsz", "fast"])
def test_zeros_have_any_sign_where_the_program_says_so(flag: str) -> None:
    for each in some(expected_results(_negation(f"fastmath<{flag}>"))):
        assert not compare(0 - each.operands[0], each).wrong.any()


@pytest.mark.parametrize("flag", ["nnan", "ninf", "fast"])
def test_nan_and_infinities_are_left_out_where_the_program_has_none(flag: str) -> None:
    for each in some(expected_results(_negation(f"fastmath<{flag}>"))):
        assert np.isfinite(each.operands[0]).all()
