"""Kernels that are timed, and the number of calls in one repetition of a measurement."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.execution.kernel_process import KernelProcess

ENOUGH_SECONDS = 0.005  # of a repetition: far above the resolution and the cost of a clock
_RELIABLE_SECONDS = 0.001  # from which on a time is extrapolated
_GROWTH = 10
_MOST_CALLS = 10_000_000


StartKernel = Callable[[KernelBinary], KernelProcess]


def calibrated_calls(kernel: KernelProcess) -> int:
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
