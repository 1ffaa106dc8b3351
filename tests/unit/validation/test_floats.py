"""Rounding of numbers, and flags."""

from __future__ import annotations

import math
import struct

import pytest

from actiondbg.validation.domain import fast_math, overflow_flags
from actiondbg.validation.floats import rounded
from actiondbg.validation.program import OpaqueAttribute
from actiondbg.validation.types import FloatType

_F32 = FloatType("f32")
_LARGEST = 3.4028234663852886e38


@pytest.mark.parametrize("value", [0.1, -1e-45, 16777217.0, -0.0, 1.5, 7e-46])
def test_a_number_is_rounded_to_f32_as_c_does(value: float) -> None:
    (expected,) = struct.unpack("<f", struct.pack("<f", value))
    found = rounded(value, _F32)
    assert (found, math.copysign(1, found)) == (expected, math.copysign(1, expected))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3.4028235677973366e38, math.inf), (-1e300, -math.inf), (3.4028235677973362e38, _LARGEST)],
)
def test_a_number_beyond_f32_is_rounded_to_infinity(value: float, expected: float) -> None:
    assert rounded(value, _F32) == expected


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("value", "expected"),
    [(2**-8, 0), (2**-8 + 2**-40, 2**-7), (2**-8 - 2**-40, 0), (2**-7 + 2**-8 - 2**-40, 2**-7)],
)
def test_a_number_is_rounded_to_bf16_once(value: float, expected: float, sign: int) -> None:
    assert rounded(sign * (1 + value), FloatType("bf16")) == sign * (1 + expected)


def test_a_nan_stays_a_nan() -> None:
    assert math.isnan(rounded(math.nan, _F32))
    assert math.isnan(rounded(math.nan, FloatType("f64")))


def test_a_number_of_f64_stays_as_it_is() -> None:
    assert rounded(0.1, FloatType("f64")) == 0.1
    assert rounded(3, FloatType("f64")) == 3.0


def test_flags_are_read_from_any_attribute_with_their_text() -> None:
    attributes = {"fastmath": OpaqueAttribute("#arith.fastmath<nnan,ninf>")}
    assert fast_math(attributes) == {"nnan", "ninf"}
    assert fast_math({"fastmath": OpaqueAttribute("#arith.fastmath<none>")}) == set()
    assert overflow_flags({"overflowFlags": OpaqueAttribute("#arith.overflow<nsw>")}) == {"nsw"}
    assert overflow_flags({}) == set()
