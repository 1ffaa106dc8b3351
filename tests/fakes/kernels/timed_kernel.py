"""A kernel whose calls take as long as a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from actiondbg.kernels.errors import KernelCrashed, LoaderFailed
from actiondbg.kernels.execution.kernel_process import KernelProcess

if TYPE_CHECKING:
    import numpy as np

    from actiondbg.statistics.events import CountableEvent


class FakeTimedKernel(KernelProcess):
    """A kernel in no process.

    Args:
        name: in the log.
        log: gets the name and the calls of each request.
        seconds: of one call; gets the number of the request, from 0.
        crashes_at: the number of the request that fails, or None.
        loads: whether the kernel can be loaded.
        calls: the seconds of calls that do nothing, one a request; None for a loader without them.
    """

    live = 0

    def __init__(
        self,
        name: str,
        log: list[tuple[str, int]],
        seconds: Callable[[int], float],
        crashes_at: int | None = None,
        loads: bool = True,
        calls: Sequence[float] | None = None,
    ) -> None:
        self._name = name
        self._log = log
        self._duration = seconds
        self._crashes_at = crashes_at
        self._loads = loads
        self._calls = iter(calls or ())
        self._requests = 0
        self.counted: list[tuple[int, tuple[str, ...]]] = []
        self.inputs: Sequence[np.ndarray] = ()

    def load(self, inputs: Sequence[np.ndarray]) -> None:
        if not self._loads:
            raise LoaderFailed("There is no function of that name.")
        self.inputs = inputs

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        return inputs[0]

    def time(self, calls: int) -> tuple[float, int]:
        request = self._requests
        self._requests += 1
        if request == self._crashes_at:
            raise KernelCrashed("The kernel crashed: SIGSEGV.")
        self._log.append((self._name, calls))
        return self._duration(request) * calls, int(request == 0)

    def call_seconds(self) -> float | None:
        return next(self._calls, None)

    def count(self, calls: int, events: Sequence[CountableEvent]) -> tuple[int, ...]:
        self.counted.append((calls, tuple(each.name for each in events)))
        return tuple(calls * (at + 1) for at in range(len(events)))

    def __enter__(self) -> Self:
        FakeTimedKernel.live += 1
        return self

    def close(self) -> None:
        FakeTimedKernel.live -= 1
