"""Kernels that are timed, and the number of calls in one repetition of a measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from actiondbg.kernels.execution.kernel import KernelBinary

if TYPE_CHECKING:
    import numpy as np

    from actiondbg.statistics.events import Event

ENOUGH_SECONDS = 0.005  # of a repetition: far above the resolution and the cost of a clock
_RELIABLE_SECONDS = 0.001  # from which on a time is extrapolated
_GROWTH = 10
_MOST_CALLS = 10_000_000


class TimedKernel(Protocol):
    """A kernel in a process of its own; ``execution.kernel_process`` has the real one."""

    def load(self, inputs: Sequence[np.ndarray]) -> None:
        """Keep operands in the process, for ``time``."""
        ...

    def time(self, calls: int) -> tuple[float, int]:
        """Return the seconds of all calls together, and the involuntary context switches."""
        ...

    def call_seconds(self) -> float | None:
        """Return the seconds of a call of a function that does nothing, or None."""
        ...

    def count(self, calls: int, events: Sequence[Event]) -> tuple[int, ...]:
        """Return the counts of events during calls, or () if they cannot be counted."""
        ...


StartKernel = Callable[[KernelBinary], AbstractContextManager[TimedKernel]]


def calibrated_calls(kernel: TimedKernel) -> int:
    """Return how many calls take some milliseconds; the calls that it measures warm the caches.

    Raises:
        KernelError: the kernel failed.
    """
    kernel.time(1)  # pages in the code and the operands
    calls = 1
    seconds = kernel.time(calls)[0]
    while seconds < _RELIABLE_SECONDS and calls < _MOST_CALLS:
        calls = min(calls * _GROWTH, _MOST_CALLS)
        seconds = kernel.time(calls)[0]
    if seconds <= 0:
        return calls
    return max(1, min(_MOST_CALLS, round(calls * ENOUGH_SECONDS / seconds)))
