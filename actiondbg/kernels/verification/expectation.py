"""What a kernel has to compute for given operands, and how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import TYPE_CHECKING

from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.model.operation import Operation, Reference
from actiondbg.kernels.verification.operands import (
    OperandKind,
    OperandRun,
    exact_limit,
    further_runs,
    make_operands,
    operand_kinds,
    precise_scale,
)
from actiondbg.kernels.verification.reference_providers import (
    NUMPY,
    ComputeReference,
    find_reference_provider,
)

if TYPE_CHECKING:
    import numpy as np

# The partial sums of products of random signs walk randomly: after i of k terms they are about
# sqrt(i) terms large, and each addition rounds by up to u of that. The errors add up randomly too,
# to some 0.4 u |A||B|, whatever k and the order of adding up are. The largest of a million elements
# is five times that; 3.9 was the most that was observed.
FACTOR = 8
# The smallest normal number may be flushed to zero, but for half precision, where none is.
_TINY = {"f16": -24, "bf16": -126, "f32": -126, "f64": -1022}
_EQUAL = "equal"
_INTEGERS = ("whole range", "integers", "signs")


@dataclass(frozen=True)
class Expectation:
    """Operands, and the result that they must give.

    Attributes:
        operands: of the kernel.
        values: the expected result, in float64 or int64.
        bound: the largest error of each element; None where the result must be equal.
        method: how elements are compared, in words.
        name: of the operands.
    """

    operands: list[np.ndarray]
    values: np.ndarray
    bound: np.ndarray | None
    method: str
    name: str = ""

    def reshaped(self, shape: tuple[int, ...]) -> Expectation:
        """Return the same for a result of another shape."""
        bound = None if self.bound is None else self.bound.reshape(shape)
        return replace(self, values=self.values.reshape(shape), bound=bound)


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
    *kinds, last = operand_kinds(operation)
    for kind in kinds:
        expectation = expectation_of(operation, kind, compute)
        if expectation.method == _EQUAL:
            return expectation
    return expectation_of(operation, last, compute)


def expected_results(operation: Operation, provider: str = NUMPY) -> list[Expectation]:
    """Compute what a kernel has to compute, for each of the operands that verify it.

    Sums of small integers find lost and doubled elements; operands with all their bits and reals
    find lost precision; maxima at each place find a maximum of too few elements.

    Args:
        operation: of the kernel.
        provider: of the references.

    Raises:
        UsageError: there is no such provider.
        KernelError: there is no reference for the operation.
    """
    compute = find_reference_provider(provider)
    first = expected_result(operation, provider)
    exact = _reference(operation, first.operands, compute).exact
    return [
        first,
        *(
            expectation_of(operation, run.kind, compute, run.index)
            for run in further_runs(operation, exact)
            if run.name != first.name
        ),
    ]


def expectation_of(
    operation: Operation, kind: OperandKind, compute: ComputeReference, index: int = 0
) -> Expectation:
    """Compute the expected result for one kind of operands; see OperandRun.

    Raises:
        KernelError: the reference needs too much memory, or has another shape.
    """
    import numpy

    operands = make_operands(operation, kind, index)
    reference = _reference(operation, operands, compute)
    values, result = reference.values, operation.result.type
    name = OperandRun(kind, index).name
    limit = min(exact_limit(operation.accumulator), exact_limit(result))
    small = float(numpy.max(reference.magnitude, initial=0.0)) < limit
    if kind == "extremes" or (kind in _INTEGERS and reference.exact and small):
        return Expectation(operands, values, None, _EQUAL, name)
    if kind == "precise" and not result.is_float:
        # A sum beyond the limit wraps around, unless a maximum follows: only the others are known.
        bound = numpy.where(reference.magnitude < limit, 0.0, numpy.inf)
        bound = numpy.broadcast_to(bound, values.shape)
        return Expectation(operands, values, bound, _EQUAL, name)
    if not result.is_float:
        return Expectation(operands, values, None, f"{_EQUAL} modulo 2**{result.bits}", name)
    factor = _factor(operation, reference)
    magnitude = numpy.asarray(reference.magnitude, numpy.float64)
    bound = factor * operation.accumulator.unit_roundoff * magnitude
    # The last rounding, and that of numbers below the smallest normal one.
    bound = bound + result.unit_roundoff * numpy.abs(values)
    bound = numpy.broadcast_to(bound, values.shape) + 2.0 ** _TINY[result.value]
    method = f"bound {factor:.3g} u |A||B|"
    if kind == "precise" and reference.exact:
        bound = numpy.where(_exact_sums(operation, operands, index, reference, compute), 0.0, bound)
        method = _EQUAL
    return Expectation(operands, values, bound, method, name)


def _exact_sums(
    operation: Operation,
    operands: list[np.ndarray],
    index: int,
    reference: Reference,
    compute: ComputeReference,
) -> np.ndarray:
    """Return which results of precise operands are exact.

    They are if the results of the same operands as integers are, and are multiples of them.
    """
    at = index % len(operands)
    scale = precise_scale(operation.inputs[at].type)
    integers = [
        (each / each.dtype.type(scale)) if number == at else each
        for number, each in enumerate(operands)
    ]
    unscaled = _reference(operation, integers, compute)
    limit = min(exact_limit(operation.accumulator), exact_limit(operation.result.type))
    return (unscaled.magnitude < limit) & (unscaled.values * scale == reference.values)


def _reference(
    operation: Operation, operands: list[np.ndarray], compute: ComputeReference
) -> Reference:
    import numpy

    try:
        reference = compute(operation, operands)
    except MemoryError as error:
        raise KernelError("The reference needs more memory than there is.") from error
    values = numpy.asarray(reference.values)
    if values.shape != operation.result.shape:
        raise KernelError(
            f"The reference has the shape {values.shape}, the result {operation.result.shape}."
        )
    return replace(reference, values=values)


def _factor(operation: Operation, reference: Reference) -> float:
    """Return c of the bound.

    Operations that round in any case, such as softmax, add up terms of one sign: partial sums grow
    with i, not with its root, and the errors by the root of k more.
    """
    if reference.exact:
        return FACTOR
    terms = prod(loop.size for loop in operation.loops if loop.type == "reduction")
    return FACTOR + sqrt(terms)
