"""The requests to the process of a kernel, and its replies.

Requests are pickled: they come from the parent. Replies are JSON: a bad kernel may have damaged the
process that writes them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import msgspec

from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.statistics.events import Event
from actiondbg.support.decoders import decoder_of

READY, START = b"ready", b"start"  # from and to the server that forks the processes
PACKET = 1 << 16  # bytes; a larger one would be cut
MESSAGE = 4096  # characters of an error message

Problem = Literal["", "memory", "not runnable", "bounds", "loader", "error"]


@dataclass(frozen=True)
class Open:
    """Load the kernel; ``memory`` limits in bytes what it may allocate."""

    binary: KernelBinary
    memory: int | None


@dataclass(frozen=True)
class Run:
    """Call the kernel once with the attached operands; the result is attached to the reply."""


@dataclass(frozen=True)
class Load:
    """Keep the attached operands for measurements."""


@dataclass(frozen=True)
class Time:
    """Measure calls with the kept operands."""

    calls: int


@dataclass(frozen=True)
class TimeCall:
    """Measure a call of a function that does nothing, with the kept operands."""


@dataclass(frozen=True)
class Count:
    """Count events during calls with the kept operands."""

    calls: int
    events: tuple[Event, ...]


Request = Open | Run | Load | Time | TimeCall | Count


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
