"""How a run of the tool begins."""

from __future__ import annotations

from dataclasses import dataclass, field

from actiondbg import protocol


@dataclass
class LaunchOptions:
    """How a run begins, after the agent has said hello.

    Attributes:
        resume: how the tool goes on.
        breakpoints: what is set before.
        options: what the tool does beside.
        skips: the ordinals of actions that are skipped.
        milliseconds: between two checkpoints that the tool makes of itself; 0 for none.
        megabytes: that they may hold.
    """

    resume: protocol.Resume
    breakpoints: list[protocol.WireBreakpoint] = field(
        default_factory=list[protocol.WireBreakpoint]
    )
    options: protocol.SetOptions = field(default_factory=protocol.SetOptions)
    skips: list[int] = field(default_factory=list[int])
    milliseconds: int = 0
    megabytes: int = 0
