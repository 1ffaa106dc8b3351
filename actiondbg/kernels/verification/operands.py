"""The operands with which kernels are verified: the same for an operation in each run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation

if TYPE_CHECKING:
    import numpy as np

OperandKind = Literal["whole range", "integers", "signs", "reals"]
_LARGEST = {"integers": 3, "signs": 1}
_WIDE = 1000  # of i32: the product of two is not near its limit


def operand_kinds(operation: Operation) -> tuple[OperandKind, ...]:
    """Return the kinds of operands to try until the result is exact; the last one decides."""
    if operation.result.type.is_float:
        return ("integers", "signs", "reals")
    return ("whole range", "integers")


def make_operands(operation: Operation, kind: OperandKind) -> list[np.ndarray]:
    """Return the operands of an operation, of the types of its inputs.

    Args:
        operation: its name is the seed.
        kind: "whole range": all values of i8, a thousand either way of i32; "integers" in [-3, 3],
            or "signs", -1, 0 and 1: sums are exact as long as they are small; "reals": normally
            distributed numbers, where the type is of floating point.
    """
    import numpy

    seed = hashlib.sha256(operation.name.encode()).digest()
    numbers = numpy.random.default_rng(list(seed))
    arrays: list[np.ndarray] = []
    for tensor in operation.inputs:
        if kind == "reals" and tensor.type.is_float:
            values: np.ndarray = numbers.standard_normal(tensor.shape)
        else:
            lowest, highest = _range(kind, tensor.type)
            values = numbers.integers(lowest, highest + 1, tensor.shape)
        arrays.append(values.astype(tensor.type.dtype))
    return arrays


def _range(kind: OperandKind, element: ElementType) -> tuple[int, int]:
    if kind != "whole range" or element.is_float:
        largest = _LARGEST.get(kind, 3)
        return -largest, largest
    limit = 1 << element.precision
    return (-limit, limit - 1) if limit < _WIDE else (-_WIDE, _WIDE)


def exact_limit(accumulator: ElementType) -> int:
    """Return the largest sum of absolute values below which sums of integers are exact."""
    return 1 << accumulator.precision
