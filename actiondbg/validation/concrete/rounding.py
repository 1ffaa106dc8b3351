"""Exact numbers rounded to a floating-point type."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from actiondbg.validation.domain import NotInterpreted
from actiondbg.validation.floats import rounded
from actiondbg.validation.types import FloatType, IntegerType


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
