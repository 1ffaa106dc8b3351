"""What a profiler needs of a kernel in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from actiondbg.kernels.execution.kernel import KernelBinary

if TYPE_CHECKING:
    import numpy as np


class TimedKernel(Protocol):
    """A kernel in a process of its own; ``execution.kernel_process`` has the real one."""

    def load(self, inputs: Sequence[np.ndarray]) -> None:
        """Keep operands in the process, for ``time``."""
        ...

    def time(self, calls: int) -> tuple[float, int]:
        """Return the seconds of all calls together, and the involuntary context switches."""
        ...


StartKernel = Callable[[KernelBinary], AbstractContextManager[TimedKernel]]
