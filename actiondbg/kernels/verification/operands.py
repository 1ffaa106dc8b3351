"""The operands with which kernels are verified: the same for an operation in each run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation

if TYPE_CHECKING:
    import numpy as np

OperandKind = Literal["integers", "reals"]
_LARGEST = 3


def make_operands(operation: Operation, kind: OperandKind) -> list[np.ndarray]:
    """Return the operands of an operation, of the types of its inputs.

    Args:
        operation: its name is the seed.
        kind: "integers": in [-3, 3], so that sums are exact as long as they are small; "reals":
            normally distributed numbers, where the type is of floating point.
    """
    import numpy

    seed = hashlib.sha256(operation.name.encode()).digest()
    numbers = numpy.random.default_rng(list(seed))
    arrays: list[np.ndarray] = []
    for tensor in operation.inputs:
        if kind == "reals" and tensor.type.is_float:
            values: np.ndarray = numbers.standard_normal(tensor.shape)
        else:
            values = numbers.integers(-_LARGEST, _LARGEST + 1, tensor.shape)
        arrays.append(values.astype(tensor.type.dtype))
    return arrays


def exact_limit(accumulator: ElementType) -> int:
    """Return the largest sum of absolute values below which sums of integers are exact."""
    return 1 << accumulator.precision
