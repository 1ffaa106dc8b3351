"""A compiled kernel: where its code is, and the loaded function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from actiondbg.kernels.model import Tensor
from actiondbg.kernels.packages import np


@dataclass(frozen=True)
class KernelBinary:
    """The code of a kernel, and how the child process loads it. Plain data: it is stored as JSON.

    Attributes:
        loader: the function that loads it, as ``package.module:function``; called in the child
            with this object, it returns a LoadedKernel.
        symbol: the name of the function in it.
        settings: of the loader, such as device and batch size.
    """

    loader: str
    path: Path
    symbol: str
    inputs: tuple[Tensor, ...]
    result: Tensor
    settings: Mapping[str, str | int] = field(default_factory=dict[str, str | int])


class LoadedKernel(Protocol):
    """A kernel in the child process.

    If its attribute ``runs_in_this_thread`` is true, events of the calling thread are its own.
    """

    def run(self, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Call the kernel once.

        Args:
            inputs: arrays of the operands' shapes and types, contiguous.

        Returns:
            A new array of the result's shape and type.
        """
        ...

    def time(self, inputs: Sequence[np.ndarray], calls: int) -> float:
        """Call the kernel several times, without conversions and allocations between the calls.

        Returns:
            The seconds of all calls together.
        """
        ...


@runtime_checkable
class TimedCall(Protocol):
    """A kernel in the child process that knows what a call takes beside the kernel itself."""

    def call_seconds(self, inputs: Sequence[np.ndarray]) -> float | None:
        """Return the seconds of one call of a function of the same signature that does nothing.

        None if there is no such function.
        """
        ...
