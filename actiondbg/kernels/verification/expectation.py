"""What a kernel has to compute for given operands, and how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from actiondbg.kernels.model.operation import Operation
from actiondbg.kernels.verification.operands import OperandKind, exact_limit, make_operands
from actiondbg.kernels.verification.reference_providers import (
    NUMPY,
    ComputeReference,
    find_reference_provider,
)

if TYPE_CHECKING:
    import numpy as np

# Sums of k products of random signs: the partial sums grow as the root of k, and the k rounding
# errors, of random signs as well, add up to about k; so does |A||B|. So the factor does not depend
# on k. 3.6 was the most that was observed.
FACTOR = 8


@dataclass(frozen=True)
class Expectation:
    """Operands, and the result that they must give.

    Attributes:
        operands: of the kernel.
        values: the expected result, in float64 or int64.
        bound: the largest error of each element; None where the result must be equal.
        method: how elements are compared, in words.
    """

    operands: list[np.ndarray]
    values: np.ndarray
    bound: np.ndarray | None
    method: str


def expected_result(operation: Operation, provider: str = NUMPY) -> Expectation:
    """Compute what a kernel has to compute.

    Small integers come first: if all sums are small enough to be exact, in each order of adding
    up, the result must be equal. Else numbers are compared by a bound of the rounding errors.

    Args:
        operation: of the kernel.
        provider: of the reference.

    Raises:
        UsageError: there is no such provider.
        KernelError: there is no reference for the operation.
    """
    compute = find_reference_provider(provider)
    expectation = expectation_of(operation, "integers", compute)
    return expectation if expectation.bound is None else expectation_of(operation, "reals", compute)


def expectation_of(
    operation: Operation, kind: OperandKind, compute: ComputeReference
) -> Expectation:
    """Compute the expected result for one kind of operands."""
    import numpy

    operands = make_operands(operation, kind)
    reference = compute(operation, operands)
    values = numpy.asarray(reference.values)
    accumulator, result = operation.accumulator, operation.result.type
    if not result.is_float:
        return Expectation(operands, values, None, "equal")
    largest = float(numpy.max(reference.magnitude, initial=0.0))
    limit = min(exact_limit(accumulator), exact_limit(result))
    if kind == "integers" and reference.exact and largest <= limit:
        return Expectation(operands, values, None, "equal")
    bound = FACTOR * accumulator.unit_roundoff * numpy.asarray(reference.magnitude, numpy.float64)
    # The last rounding, and that of numbers below the smallest normal one.
    bound = bound + result.unit_roundoff * numpy.abs(values)
    bound = numpy.broadcast_to(bound, values.shape) + float(_tiny(result.value))
    return Expectation(operands, values, bound, f"bound {FACTOR} u |A||B|")


def _tiny(name: str) -> float:
    """Return the smallest normal number of a float type."""
    return 2.0 ** {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}[name]
