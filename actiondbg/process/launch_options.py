"""The options of an execution: settings that the agent gets after its hello."""

from __future__ import annotations

from dataclasses import dataclass, field

from actiondbg import protocol


@dataclass
class LaunchOptions:
    """The settings that the agent gets after its hello.

    Attributes:
        resume: the control with which the tool resumes.
        breakpoints: set before the tool resumes.
        options: verification and counting.
        skips: the actions to skip; None for none.
        milliseconds: the run time between two automatic checkpoints; 0 for none.
        megabytes: the limit for their memory.
    """

    resume: protocol.Resume
    breakpoints: list[protocol.WireBreakpoint] = field(
        default_factory=list[protocol.WireBreakpoint]
    )
    options: protocol.SetOptions = field(default_factory=protocol.SetOptions)
    skips: protocol.SetSkips | None = None
    milliseconds: int = 0
    megabytes: int = 0
