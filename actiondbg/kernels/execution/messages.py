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
    events: tuple[Event, ...] = ()
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
