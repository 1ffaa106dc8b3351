"""The lines of a report: what happened to a dispatch, as a row, and as data that files store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from actiondbg.kernels.model import Dispatch, Parameter

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


_NOT_VERIFIED = Verification("Not verified")
_NOT_COMPILED = Compilation(None)


@dataclass(frozen=True)
class Entry:
    """One line of a report.

    The fields from ``seconds`` on are those of Profile and of Row.

    Attributes:
        kind: of the operation, such as "matmul".
        arguments: of the operation, such as m, n and k, as text.
        parameters: of the configuration, as text.
        flops: the arithmetic operations of one call.
        bytes: the bytes that one call has to read and write at least.
        seconds: empty if it was not profiled.
        verification: its verdict is "Not verified" if it was not asked for.
    """

    dispatch: str
    kind: str
    operation: str
    provider: str
    configuration: str
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    flops: int = 0
    bytes: int = 0
    seconds: tuple[float, ...] = ()
    switches: int = 0
    confirmed: float | None = None
    call_seconds: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict[str, float])
    peak_gflops: float | None = None
    peak_bandwidth: float | None = None
    verification: Verification = _NOT_VERIFIED
    compilation: Compilation = _NOT_COMPILED
    culprit: str = ""
    culprit_folder: str = ""

    @property
    def is_wrong(self) -> bool:
        return self.verification.is_wrong

    @property
    def least(self) -> float | None:
        """The least seconds of one call: noise only adds to it."""
        return min(self.seconds, default=None)

    @property
    def percent_of_call(self) -> float | None:
        """The call without the kernel in per cent of the least time."""
        return _percent(self.call_seconds, self.least)

    @property
    def middle(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    @property
    def is_disturbed(self) -> bool:
        """Whether there may be no repetition, and so no least time, without a context switch."""
        return bool(self.seconds) and self.switches >= len(self.seconds)

    @property
    def gflops(self) -> float | None:
        """Arithmetic operations a nanosecond, in the fastest repetition."""
        return gflops_of(self.flops, self.least) if self.least else None

    @property
    def bandwidth(self) -> float | None:
        """The bytes a second that the kernel moved at least, in the fastest repetition."""
        return self.bytes / self.least if self.least else None

    @property
    def intensity(self) -> float | None:
        return self.flops / self.bytes if self.bytes else None

    @property
    def roof(self) -> float | None:
        """The GFLOP/s that the peak and the bandwidth allow at this intensity."""
        if self.peak_gflops is None or self.peak_bandwidth is None or self.intensity is None:
            return self.peak_gflops
        return min(self.peak_gflops, self.intensity * self.peak_bandwidth / 1e9)

    @property
    def percent_of_peak(self) -> float | None:
        return _percent(self.gflops, self.peak_gflops)

    @property
    def is_above_peak(self) -> bool:
        """Whether the kernel is faster than the machine: it does not compute what it should."""
        times = (self.least, self.confirmed)
        seconds = min((each for each in times if each), default=None)
        if seconds is None or self.peak_gflops is None:
            return False
        return gflops_of(self.flops, seconds) > self.peak_gflops

    @property
    def percent_of_roof(self) -> float | None:
        return _percent(self.gflops, self.roof)


def gflops_of(flops: int, seconds: float) -> float:
    """Return the arithmetic operations a nanosecond of a call."""
    return flops / seconds / 1e9


def _percent(value: float | None, of: float | None) -> float | None:
    return 100 * value / of if value is not None and of else None


def entry_of(row: Row) -> Entry:
    """Return a row as a line of a report."""
    operation, configuration = row.dispatch.operation, row.dispatch.configuration
    return Entry(
        dispatch=row.dispatch.name,
        kind=operation.kind,
        operation=operation.name,
        provider=configuration.provider,
        configuration=configuration.name,
        arguments={name: str(value) for name, value in operation.arguments().items()},
        parameters={name: _text(value) for name, value in configuration.parameters.items()},
        tags=dict(row.tags),
        flops=operation.flops,
        bytes=operation.bytes,
        **vars(row.profile or Profile(())),
        verification=row.verification or _NOT_VERIFIED,
        compilation=row.compilation or _NOT_COMPILED,
        culprit=row.culprit,
        culprit_folder=row.culprit_folder,
    )


def entries_of(rows: Sequence[Row]) -> list[Entry]:
    return [entry_of(row) for row in rows]


def _text(value: Parameter) -> str:
    """Return a parameter as a cell: sizes as 4x16, words with spaces between them."""
    if isinstance(value, str | bool | int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    between = "x" if all(isinstance(each, int) for each in value) else " "
    return between.join(str(each) for each in value)
