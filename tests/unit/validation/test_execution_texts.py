"""The texts around a run for real: constants, pipelines, and what a test prints."""

from __future__ import annotations

import math

import pytest

from actiondbg.validation.execution.harness import Part, dense, describe, number
from actiondbg.validation.execution.lowerings import PLAIN, fitted
from actiondbg.validation.execution.runner import parse_printed
from actiondbg.validation.inputs import Array, Input, View
from actiondbg.validation.types import INDEX, FloatType, IntegerType

F32, F16 = FloatType("f32"), FloatType("f16")


@pytest.mark.parametrize(
    ("value", "type", "written"),
    [
        (255, IntegerType(8), "-1"),
        (-1, IntegerType(8), "-1"),
        (1, IntegerType(1), "true"),
        (2**63, INDEX, "-9223372036854775808"),
        (-0.0, F32, "-0.0"),
        (1e-5, FloatType("f64"), "1.0e-05"),
        (1e30, FloatType("f64"), "1.0e+30"),
        (math.inf, F16, "0x7C00"),
        (0.1, F16, "0.0999755859375"),
    ],
)
def test_numbers(value: float, type: IntegerType | FloatType, written: str) -> None:
    assert number(value, type) == written


@pytest.mark.parametrize(
    ("shape", "values", "written"),
    [
        ((2, 2), (1, 2, 3, 4), "dense<[[1, 2], [3, 4]]>"),
        ((2, 2), (7, 7, 7, 263), "dense<7>"),
        ((), (7,), "dense<7>"),
        ((0, 2), (), "dense<>"),
        ((300,), (1, *(0,) * 299), 'dense<"0x01' + "00" * 299 + '">'),
    ],
)
def test_constants(shape: tuple[int, ...], values: tuple[int, ...], written: str) -> None:
    assert dense(shape, values, IntegerType(8)) == written


def test_an_input_in_words() -> None:
    views = View(0, 0, (2, 2), (2, 1)), View(1, 1, (2,), (2,))
    given = Input((3, Array((2,), (1.5, 2.0)), *views), ((1, 2, 3, 4), (5, 6, 7, 8)))
    assert describe(given) == (
        "%arg0 = 3, %arg1 = 2[1.5, 2.0], %arg2 = 2x2 memory 0[1, 2, 3, 4], "
        "%arg3 = 2 memory 1[5, 6, 7, 8] at 1 by [2]"
    )


def test_scalar_code_is_lowered_without_passes_that_fold() -> None:
    words = fitted(PLAIN, "arith.addi").pipeline
    dropped = (
        *("one-shot-bufferize", "lower-vector-mask", "convert-vector-to-scf", "func.func"),
        *("expand-strided-metadata", "convert-linalg-to-loops", "convert-math-to-funcs"),
    )
    assert [each for each in dropped if each in words] == []
    assert words.startswith("builtin.module(lower-affine,arith-expand,")


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("tensor<4xf32>", "one-shot-bufferize{bufferize-function-boundaries}"),
        ("vector.mask %m {", "func.func(lower-vector-mask)"),
        ("memref.subview", "expand-strided-metadata"),
        ("vector.print %0 : vector<2xi32>", "convert-vector-to-scf"),
    ],
)
def test_passes_stay_where_a_program_needs_them(text: str, needed: str) -> None:
    assert needed in fitted(PLAIN, text).pipeline


PRINTED = """
[test] input 1
8 is printed
[test] returned
[test] result 0: -1
[test] result 1: ( ( 1, 2 ), ( 3, 4 ) )
[test] memory 0: 2, 1, elements: 1065353216, 3,

[test] end 1
"""
PARTS = (
    Part("result 0", IntegerType(64), ()),
    Part("result 1", IntegerType(8), (2, 2)),
    Part("memory 0", F32, None),
)


def test_printed_values_are_read() -> None:
    done = parse_printed(PRINTED, "test", 1, PARTS)
    assert done.failure == ""
    assert done.text == "8 is printed"
    assert [each.bits for each in done.parts] == [(2**64 - 1,), (1, 2, 3, 4), (1065353216, 3)]
    assert [each.shape for each in done.parts] == [(), (2, 2), (2, 1)]
    assert done.part("memory 0").numbers()[0] == 1.0


def test_a_test_that_ended_early_printed_nothing() -> None:
    done = parse_printed(PRINTED.partition("[test] end")[0], "test", 1, PARTS)
    assert done.failure == "printed something else than a test does"


def test_a_tensor_of_a_negative_size_has_no_elements() -> None:
    printed = "\n[test] input 1\n\n[test] returned\n[test] r: -1, 6, elements: \n\n[test] end 1\n"
    done = parse_printed(printed, "test", 1, [Part("r", F32, None)])
    assert (done.parts[0].shape, done.parts[0].bits) == ((-1, 6), ())
