"""Floating-point types of MLIR as NumPy's, and numbers rounded to them."""

from __future__ import annotations

import math
import struct
from ctypes import c_float
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.types import FloatType, IntegerType

_NATIVE = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_OTHERS = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}


@lru_cache
def numpy_type(type: FloatType) -> np.dtype[Any]:
    """Return the type of NumPy, or of ml_dtypes, with the same bits.

    Raises:
        NotInterpreted: there is none.
    """
    if type.name in _NATIVE:
        return np.dtype(_NATIVE[type.name])
    name = _OTHERS.get(type.name, type.name.replace("f8E", "float8_e").lower())
    found = getattr(import_module("ml_dtypes"), name, None)
    if found is None:
        raise NotInterpreted(f"the type {type}")
    return np.dtype(found)


def rounded(value: float, type: FloatType) -> float:
    """Return a number rounded to a type, as a Python float."""
    # Most numbers are of these types, and NumPy takes its time.
    if type.name == "f64":
        return float(value)
    if type.name == "f32":
        return c_float(value).value
    if type.name == "bf16":
        value = _to_odd_float(value)
    with np.errstate(all="ignore"):
        return float(numpy_type(type).type(value))


def _to_odd_float(value: float) -> float:
    """Return an f32 near a number, with an odd last bit if it is inexact.

    ml_dtypes rounds to f32 on its way to bf16.
    """
    near = c_float(value).value
    narrow = np.float32(near)
    if not math.isfinite(near) or near == value or narrow.view(np.int32) & 1:
        return near
    return float(np.nextafter(narrow, np.float32(math.inf if near < value else -math.inf)))


def bits_of(value: float, type: FloatType) -> int:
    """Return the bits of a number of a type, unsigned; those of one NaN for all NaNs."""
    kind = numpy_type(type)
    with np.errstate(all="ignore"):
        return int.from_bytes(np.array(value, dtype=kind).tobytes(), "little")


def from_bits(bits: int, type: FloatType) -> float:
    """Return the number with some bits."""
    kind = numpy_type(type)
    content = bits.to_bytes(kind.itemsize, "little")
    return float(np.frombuffer(content, dtype=kind)[0])


def rounded_exactly(value: Fraction, type: IntegerType | FloatType) -> float:
    """Round an exact number once: a double between would round twice."""
    if not isinstance(type, FloatType):
        raise NotInterpreted(f"a float of type {type}")
    if type.name == "f64":
        try:
            return value.numerator / value.denominator
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    double = _to_odd(value)
    return rounded(double, type)


def _to_odd(value: Fraction) -> float:
    """Return a double near a number, with an odd last bit if it is inexact.

    A double has more than twice the bits of any smaller type, so that a second rounding of it is
    that of the number.
    """
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    if math.isinf(near) or Fraction(near) == value:
        return near
    bits = struct.unpack("<q", struct.pack("<d", near))[0]
    if bits & 1:
        return near
    return math.nextafter(near, math.inf if Fraction(near) < value else -math.inf)
