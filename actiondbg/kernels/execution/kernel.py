"""A compiled kernel, the loaded function, and what its process is asked for and replies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from actiondbg.kernels.model import Tensor
from actiondbg.kernels.packages import np
from actiondbg.statistics.events import CountableEvent
from actiondbg.support.decoders import decoder_of

READY, START = b"ready", b"start"  # from and to the server that forks the processes
PACKET = 1 << 16  # bytes; a larger one would be cut
MESSAGE = 4096  # characters of an error message

Problem = Literal["", "memory", "not runnable", "bounds", "loader", "error"]


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


@dataclass(frozen=True)
class Request:
    """What the process of a kernel is asked for.

    Attributes:
        kind: "open" loads the kernel; "run" calls it once with the attached operands, and the
            result is attached to the reply; "load" keeps the attached operands for measurements;
            with these, "time" measures calls, "time call" a call of a function that does nothing,
            and "count" counts events during calls.
        calls: to be measured or counted.
        memory: the limit in bytes of what an opened kernel may allocate, or None.
    """

    kind: Literal["open", "run", "load", "time", "time call", "count"]
    calls: int = 0
    events: tuple[CountableEvent, ...] = ()
    binary: KernelBinary | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Reply:
    """The reply to a request.

    Attributes:
        problem: what went wrong, or "".
        message: a sentence on it, or "".
        seconds: of the measured calls; None if they cannot be measured.
        switches: the involuntary context switches during these.
        counts: of the events during counted calls; () if they cannot be counted.
    """

    problem: Problem = ""
    message: str = ""
    seconds: float | None = 0.0
    switches: int = 0
    counts: tuple[int, ...] = ()

    def encode(self) -> bytes:
        fields = (self.problem, self.message[:MESSAGE], self.seconds, self.switches, self.counts)
        return json.dumps(fields).encode()


_Fields = tuple[Problem, str, float | None, int, tuple[int, ...]]


def decode_reply(packet: bytes) -> Reply:
    """Read a reply.

    Raises:
        ValueError: the packet is no reply.
    """
    try:
        return Reply(*decoder_of(_Fields).decode(packet))
    except msgspec.MsgspecError as error:
        raise ValueError(f"No reply: {error}") from error
