"""Compilations of one whole program: their times in turn, and whether their results agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from math import prod, sqrt
from statistics import median
from typing import TYPE_CHECKING, Protocol

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.model.element_type import ElementType
from actiondbg.kernels.model.tensor import Tensor
from actiondbg.kernels.profiling.timed_kernel import TimedKernel, calibrated_calls

if TYPE_CHECKING:
    import numpy as np

_SEED = 1
# Of the largest element: what reordered sums of a network's layers may differ by. A wrong tile
# differs by as much as the elements themselves.
_TOLERANCE = 1e-3
_CLEAR = 0.8  # of the repetitions: 20 of 25 are 1 in 500 by chance, either way
_SMALL_INDEX = 8  # integers may be indices of a table, whose size is not in the signature


class ProgramProcess(TimedKernel, Protocol):
    """A program in a process of its own; ``execution.kernel_process`` has the real one."""

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Call the program once, and return a result."""
        ...


StartProgram = Callable[[KernelBinary], AbstractContextManager[ProgramProcess]]


@dataclass(frozen=True)
class Agreement:
    """How far the results of two compilations agree.

    Attributes:
        difference: the largest of two elements at the same place.
        largest: the largest element of the first compilation.
        finite: whether all elements of the first compilation are; others show no difference.
    """

    difference: float
    largest: float
    finite: bool = True

    @property
    def holds(self) -> bool:
        """Whether the results agree up to the rounding of reordered sums."""
        return self.difference <= _TOLERANCE * self.largest


@dataclass(frozen=True)
class WholeTimes:
    """The times of two compilations, measured in turn.

    Attributes:
        default: seconds of a call of the first one, one number a repetition.
        tuned: those of the second one.
    """

    default: tuple[float, ...]
    tuned: tuple[float, ...]

    @property
    def gain(self) -> float:
        """How many times as fast the second one is: the median of all repetitions."""
        pairs = zip(self.default, self.tuned, strict=True)
        return median(first / second for first, second in pairs)

    @property
    def wins(self) -> int:
        """In how many repetitions the second one is faster."""
        return sum(one > other for one, other in zip(self.default, self.tuned, strict=True))

    @property
    def is_clear(self) -> bool:
        """Whether one is the faster in so many repetitions that it cannot be chance."""
        count = len(self.default)
        return max(self.wins, count - self.wins) >= _CLEAR * count


def compare_results(
    first: Sequence[KernelBinary], second: Sequence[KernelBinary], start: StartProgram
) -> Agreement:
    """Compare the results of two compilations of a program, for the same random operands.

    Args:
        first: the program once for each of its results.
        second: another compilation of it.
        start: starts one in a process of its own.

    Raises:
        KernelError: a program failed.
    """
    inputs = program_operands(first[0].inputs)
    found: list[Agreement] = []
    for one, other in zip(first, second, strict=True):
        with start(one) as expected, start(other) as actual:
            found.append(_agreement(expected.run(inputs), actual.run(inputs)))
    worst = max(found, key=lambda each: each.difference / (each.largest or 1.0))
    return worst if all(each.finite for each in found) else Agreement(0.0, 0.0, finite=False)


def measure_in_turn(
    first: KernelBinary, second: KernelBinary, start: StartProgram, repetitions: int
) -> WholeTimes:
    """Measure two compilations of a program in turn, so that both see the same machine.

    Raises:
        KernelError: a program failed.
    """
    inputs = program_operands(first.inputs)
    times: tuple[list[float], list[float]] = ([], [])
    with ExitStack() as processes:
        live = [processes.enter_context(start(each)) for each in (first, second)]
        for each in live:
            each.load(inputs)
        calls = [calibrated_calls(each) for each in live]
        for repetition in range(repetitions):
            for at in (0, 1) if repetition % 2 == 0 else (1, 0):
                times[at].append(live[at].time(calls[at])[0] / calls[at])
    return WholeTimes(tuple(times[0]), tuple(times[1]))


def program_operands(inputs: Sequence[Tensor]) -> list[np.ndarray]:
    """Return operands with which a network keeps its numbers small: the same each time.

    Vectors are positive, as variances are; the elements of others are random numbers whose sums
    over all dimensions but the last are near 1.
    """
    import numpy

    numbers = numpy.random.default_rng(_SEED)
    arrays: list[np.ndarray] = []
    for tensor in inputs:
        if not tensor.type.is_float:
            limit = 2 if tensor.type is ElementType.I1 else _SMALL_INDEX
            values = numbers.integers(0, limit, tensor.shape)
        elif len(tensor.shape) < 2:
            values = numbers.uniform(0.5, 1.5, tensor.shape)
        else:
            values = numbers.standard_normal(tensor.shape) / sqrt(prod(tensor.shape[:-1]))
        arrays.append(numpy.asarray(values).astype(tensor.type.dtype))
    return arrays


def _agreement(expected: np.ndarray, actual: np.ndarray) -> Agreement:
    import numpy

    one, other = expected.astype(numpy.float64), actual.astype(numpy.float64)
    if not numpy.isfinite(one).all():
        return Agreement(0.0, 0.0, finite=False)
    difference = numpy.abs(one - other)
    largest = float(numpy.abs(one).max(initial=0.0))
    worst = float(difference.max(initial=0.0)) if numpy.isfinite(other).all() else float("inf")
    return Agreement(worst, largest)
