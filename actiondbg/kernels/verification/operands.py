"""The operands with which kernels are verified: the same for an operation in each run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING, Literal

from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.operation import Operation

if TYPE_CHECKING:
    import numpy as np

OperandKind = Literal["whole range", "integers", "signs", "reals", "large", "precise", "extremes"]
_LARGEST = {"integers": 3, "signs": 1}
_WIDE = 1000  # of i32: the product of two is not near its limit
_SCALE = 16.0  # of large reals: exponentials of their differences overflow
_MOST_RUNS = 64
_MOST_BYTES = 1 << 26  # of the operands of all runs with extremes
_PRECISE_OUTPUTS = 16  # of which some have a sum of one term
_SEEN = 8  # times as many outputs as places: each place is an extreme of some output


@dataclass(frozen=True)
class OperandRun:
    """One of the calls by which a kernel is verified.

    Attributes:
        kind: of the operands.
        index: of the run with such operands: another operand is precise, or other places have
            the extremes.
    """

    kind: OperandKind
    index: int = 0

    @property
    def name(self) -> str:
        """A valid name of a folder."""
        return f"{self.kind}_{self.index}".replace(" ", "_")


def operand_kinds(operation: Operation) -> tuple[OperandKind, ...]:
    """Return the kinds of operands to try until the result is exact; the last one decides."""
    if operation.result.type.is_float:
        return ("integers", "signs", "reals")
    return ("whole range", "integers")


def further_runs(operation: Operation, exact: bool) -> list[OperandRun]:
    """Return the runs after the first: they show what sums of small integers do not.

    Args:
        operation: of the kernel.
        exact: whether the operation rounds for large sums only, unlike an exponential.
    """
    runs: list[OperandRun] = []
    if exact:
        turns = ceil(_PRECISE_OUTPUTS / max(1, operation.result.elements))
        count = len(operation.inputs) * turns
        runs += [OperandRun("precise", index) for index in range(count)]
    if operation.result.type.is_float:
        runs.append(OperandRun("reals"))
        if not exact:
            runs.append(OperandRun("large"))
    runs += [OperandRun("extremes", index) for index in range(_extreme_runs(operation))]
    return runs


def make_operands(operation: Operation, kind: OperandKind, index: int = 0) -> list[np.ndarray]:
    """Return the operands of an operation, of the types of its inputs.

    Args:
        operation: its name is the seed.
        kind: "whole range": all values of i8, a thousand either way of i32; "integers" in [-3, 3],
            or "signs", -1, 0 and 1: sums are exact as long as they are small; "reals": normally
            distributed numbers, where the type is of floating point, or "large" ones; "precise":
            fractions with all bits that the type holds in one operand, and a few ones in the
            others, such that sums of one term, which are exact, show each bit of it;
            "extremes": distinct places of the maximum or minimum.
        index: see OperandRun.
    """
    import numpy

    seed = hashlib.sha256(operation.name.encode()).digest()
    numbers = numpy.random.default_rng([*seed, index] if index else list(seed))
    if kind == "extremes":
        return _with_extremes(operation, index, numbers)
    arrays: list[np.ndarray] = []
    for at, tensor in enumerate(operation.inputs):
        if kind == "precise":
            whole = at == index % len(operation.inputs)
            values: np.ndarray = _precise(operation, whole, tensor.shape, numbers, tensor.type)
        elif kind in ("reals", "large") and tensor.type.is_float:
            scale = _SCALE if kind == "large" else 1.0
            values = scale * numbers.standard_normal(tensor.shape)
        else:
            lowest, highest = _range(kind, tensor.type)
            values = numbers.integers(lowest, highest + 1, tensor.shape)
        arrays.append(values.astype(tensor.type.dtype))
    return arrays


def _precise(
    operation: Operation,
    whole: bool,
    shape: tuple[int, ...],
    numbers: np.random.Generator,
    element: ElementType,
) -> np.ndarray:
    """Return an operand with all its bits, or one that selects a few elements of the other."""
    import numpy

    terms = prod(loop.size for loop in operation.loops if loop.type == "reduction")
    share = 1 / max(1, terms)
    values = numbers.choice(numpy.array([-1, 1]), shape)
    if whole:
        values = values * numbers.integers(1, 1 << element.precision, shape)
        values = values * precise_scale(element) if element.is_float else values
        if len(operation.inputs) > 1:
            return values
    return numpy.where(numbers.random(shape) < share, values, 0)


def precise_scale(element: ElementType) -> float:
    """Return the factor that makes precise integers fractions: conversions to integers show."""
    return 2.0 ** -(element.precision // 2) if element.is_float else 1.0


def _extreme_runs(operation: Operation) -> int:
    """Return in how many runs each element is the extreme of some output, within limits."""
    if operation.extreme is None:
        return 0
    places = prod(loop.size for loop in operation.loops if loop.type == "reduction")
    outputs = max(1, operation.result.elements)
    if not operation.reduced_axes:  # a corner of an image is in one window of each channel only
        shape = operation.result.shape
        outputs = max(1, min(outputs, shape[0] * shape[-1]) // _SEEN)
    size = max(1, operation.inputs[0].bytes)
    return max(2, min(_MOST_RUNS, _MOST_BYTES // size, ceil(places / outputs)))


def _with_extremes(
    operation: Operation, index: int, numbers: np.random.Generator
) -> list[np.ndarray]:
    """Return an operand whose rows have their maximum, or minimum, at places of their own.

    In each second run all numbers are below zero, or above for a minimum: a sum or a maximum that
    begins with zero is then wrong.
    """
    import numpy

    tensor = operation.inputs[0]
    below, above = _halves(tensor.type, tensor.shape, index % 2 == 1, numbers)
    values = below
    if operation.reduced_axes:
        count = len(operation.reduced_axes)
        last = range(-count, 0)
        below, above = (
            numpy.moveaxis(each, operation.reduced_axes, last) for each in (below, above)
        )
        terms = prod(below.shape[-count:])
        rows, spikes = below.reshape(-1, terms), above.reshape(-1, terms)
        every = numpy.arange(len(rows))
        places = numpy.array(_places(terms))[(every + index * len(rows)) % terms]
        rows[every, places] = spikes[every, places]
        values = numpy.moveaxis(rows.reshape(below.shape), last, operation.reduced_axes)
    if operation.extreme == "min":
        values = -values if tensor.type.is_float else ~values
    return [numpy.ascontiguousarray(values).astype(tensor.type.dtype)]


def _halves(
    element: ElementType, shape: tuple[int, ...], negative: bool, numbers: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, and larger ones than all of them."""
    if element.is_float:
        if negative:
            return -600 - 300 * numbers.random(shape), -1 - 500 * numbers.random(shape)
        return 800 * numbers.random(shape) - 400, 500 + 400 * numbers.random(shape)
    limit = 1 << element.precision
    lowest, middle, highest = (-limit, -limit // 2, 0) if negative else (-limit, 0, limit)
    return numbers.integers(lowest, middle, shape), numbers.integers(middle, highest, shape)


def _places(terms: int) -> list[int]:
    """Return the places of a row, those at the boundaries of tiles first."""

    def alignment(at: int) -> int:
        return terms if at in (0, terms) else at & -at

    return sorted(range(terms), key=lambda at: -max(alignment(at), alignment(at + 1)))


def _range(kind: OperandKind, element: ElementType) -> tuple[int, int]:
    if kind != "whole range" or element.is_float:
        largest = _LARGEST.get(kind, 3)
        return -largest, largest
    limit = 1 << element.precision
    return (-limit, limit - 1) if limit < _WIDE else (-_WIDE, _WIDE)


def exact_limit(accumulator: ElementType) -> int:
    """Return the largest sum of absolute values below which sums of integers are exact."""
    return 1 << accumulator.precision
