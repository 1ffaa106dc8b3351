"""One row of a report: what happened to one dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from actiondbg.kernels.model.dispatch import Dispatch

# As in the dispatch profiler's reports, and what it lacks.
Verdict = Literal[
    "SUCCESS",
    "FAILED",
    "CRASHED",
    "TIMED OUT",
    "OUT OF MEMORY",
    "NOT COMPILED",
    "NOT RUNNABLE HERE",
    "Not verified",
    # Of right kernels whose time is beyond a limit that was asked for.
    "TOO SLOW",
    "TOO FAST",
]
TIME_VERDICTS: tuple[Verdict, ...] = ("TOO SLOW", "TOO FAST")
_WRONG: tuple[Verdict, ...] = (
    "FAILED",
    "CRASHED",
    "TIMED OUT",
    "OUT OF MEMORY",
    "NOT COMPILED",
    *TIME_VERDICTS,
)


@dataclass(frozen=True)
class Compilation:
    """How the compilation of a dispatch ended.

    Attributes:
        seconds: it took; None if the binaries were up to date.
        config_applied: "yes", "no", "default" or "unknown"; see providers.provider.
        error: one sentence if it failed, or "".
        detail: one sentence on config_applied, or "".
    """

    seconds: float | None
    config_applied: str = "unknown"
    error: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Verification:
    """How the verification of a dispatch ended.

    Attributes:
        method: how elements were compared: "equal", or "bound 8 u |A||B|".
        wrong: the number of wrong elements, of ``total``.
        error_ratio: the largest error by its bound, of all elements; at most 1 if all are right.
        first: the first wrong elements, a sentence each, with index, result and expected value.
        map: lines of characters that show which tiles are wrong, or "".
        detail: one sentence on how a child ended, or "".
    """

    verdict: Verdict
    method: str = ""
    wrong: int = 0
    total: int = 0
    error_ratio: float = 0.0
    first: tuple[str, ...] = ()
    map: str = ""
    detail: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the kernel was not compiled, did not end, or computed a wrong result."""
        return self.verdict in _WRONG


@dataclass(frozen=True)
class Profile:
    """The measured times of a dispatch.

    Attributes:
        seconds: of one call, one number a repetition.
        switches: the involuntary context switches while they were measured.
        peak_gflops: the machine's measured peak for the operation's type, or None.
        peak_bandwidth: the measured bandwidth, in bytes a second, of the smallest cache with room
            for the operands and the result; None if it is unknown.
        confirmed: the least seconds of one call when the winner was measured again, or None.
        call_seconds: what a call of a function that does nothing takes, which is in ``seconds``,
            too; None if it was not measured.
        counts: the events of one call, by their names.
    """

    seconds: tuple[float, ...]
    switches: int = 0
    peak_gflops: float | None = None
    peak_bandwidth: float | None = None
    confirmed: float | None = None
    call_seconds: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Row:
    """What happened to one dispatch.

    Attributes:
        compilation: None if it was not asked for.
        verification: None if it was not asked for.
        profile: None if the dispatch was not profiled.
        culprit: the action that made the kernel wrong, or "".
        culprit_folder: the folder of the bisection, or "".
        tags: leading columns with one value for all rows of a run.
    """

    dispatch: Dispatch
    compilation: Compilation | None = None
    verification: Verification | None = None
    profile: Profile | None = None
    culprit: str = ""
    culprit_folder: str = ""
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def is_wrong(self) -> bool:
        return self.verification is not None and self.verification.is_wrong
