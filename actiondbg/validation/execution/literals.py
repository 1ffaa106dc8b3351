"""Numbers, constants and types in MLIR's syntax."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from math import prod

import numpy as np

from actiondbg.validation.execution.subject import NotRunnable
from actiondbg.validation.floats import bits_of, numpy_type, rounded
from actiondbg.validation.inputs import Number
from actiondbg.validation.types import FloatType, IntegerType, ShapedType, Type, signed

_WIDEST = 64  # bits of an element that is printed
_MOST_WRITTEN = 256  # elements that are written out one by one
_EXPONENT = re.compile(r"^(-?\d+)(e.*)$")

Element = IntegerType | FloatType


def element_of(type: Type) -> Element:
    """Return the type of the scalars in a type.

    Raises:
        NotRunnable: a test can neither make nor print them.
    """
    element = type.element if isinstance(type, ShapedType) else type
    if not isinstance(element, IntegerType | FloatType):
        raise NotRunnable(f"a test can make no values of type {type}")
    if not 0 < bits_in(element) <= _WIDEST:
        raise NotRunnable(f"a test cannot print values of type {type}")
    return element


def bits_in(type: Element) -> int:
    """Return how many bits a scalar has.

    Raises:
        NotInterpreted: Python has no such floats.
    """
    if isinstance(type, IntegerType):
        return type.width
    return numpy_type(type).itemsize * 8


def as_bits(value: Number, type: Element) -> int:
    """Return the bits of a number, unsigned."""
    if isinstance(type, FloatType):
        return bits_of(float(value), type)
    return int(value) & ((1 << type.width) - 1)


def all_bits(values: Sequence[Number], type: Element) -> list[int]:
    """Return the bits of many numbers of a type, unsigned."""
    if isinstance(type, FloatType):
        with np.errstate(all="ignore"):
            array = np.array(values, dtype=np.float64).astype(numpy_type(type))
        return array.view(f"u{array.dtype.itemsize}").tolist()
    mask = (1 << type.width) - 1
    return [int(value) & mask for value in values]


def all_numbers(bits: Sequence[int], type: Element) -> list[Number]:
    """Return the numbers with some bits; integers are unsigned."""
    if isinstance(type, FloatType):
        kind = numpy_type(type)
        array = np.array(bits, dtype=f"u{kind.itemsize}").view(kind)
        return array.astype(np.float64).tolist()
    return list(bits)


def number(value: Number, type: Element) -> str:
    """Return a number in MLIR's syntax, without its type."""
    if isinstance(type, FloatType):
        return _float(rounded(float(value), type), type)
    bits = as_bits(value, type)
    if type.width == 1:
        return "true" if bits else "false"
    return str(signed(bits, type.width))


def _float(value: float, type: FloatType) -> str:
    if not math.isfinite(value) or bits_in(type) % 8 or bits_in(type) < 16:
        return f"0x{bits_of(value, type):0{bits_in(type) // 4}X}"
    written = repr(value)
    return written if "." in written else _EXPONENT.sub(r"\1.0\2", written)


def dense(shape: Sequence[int], values: Sequence[Number], type: Element) -> str:
    """Return a constant of elements, without its type: ``dense<[[1, 2], [3, 4]]>``."""
    assert len(values) == prod(shape), (shape, len(values))
    if not values:
        return "dense<>"
    bits = all_bits(values, type)
    if len(set(bits)) == 1:
        return f"dense<{number(values[0], type)}>"
    size = bits_in(type) / 8
    if len(values) > _MOST_WRITTEN and size in {1, 2, 4, 8}:
        content = np.array(bits, dtype=f"<u{size:.0f}").tobytes()
        return f'dense<"0x{content.hex().upper()}">'
    return f"dense<{_nested(shape, [number(value, type) for value in values])}>"


def _nested(shape: Sequence[int], written: Sequence[str]) -> str:
    if not shape:
        return written[0]
    if len(shape) == 1:
        return f"[{', '.join(written)}]"
    step = prod(shape[1:])
    rows = [_nested(shape[1:], written[at : at + step]) for at in range(0, len(written), step)]
    return f"[{', '.join(rows)}]"


def shaped(kind: str, shape: Sequence[int | None], element: Element | str, rest: str = "") -> str:
    """Return a type of elements: ``tensor<2x?xf32>``; the rest stands before the last bracket."""
    sizes = "".join(f"{'?' if size is None else size}x" for size in shape)
    return f"{kind}<{sizes}{element}{rest}>"


def strided(strides: Sequence[int], offset: int) -> str:
    """Return a layout."""
    at = f", offset: {offset}" if offset else ""
    return f"strided<[{', '.join(map(str, strides))}]{at}>"
