"""The lines of a report: a row as plain data, which files store, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from actiondbg.kernels.model.configuration import Parameter
from actiondbg.kernels.results.row import Compilation, Profile, Row, Verification

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
        return self._rate(self.flops / 1e9)

    @property
    def bandwidth(self) -> float | None:
        """The bytes a second that the kernel moved at least, in the fastest repetition."""
        return self._rate(self.bytes)

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
        return self.flops / 1e9 / seconds > self.peak_gflops

    @property
    def percent_of_roof(self) -> float | None:
        return _percent(self.gflops, self.roof)

    def _rate(self, amount: float) -> float | None:
        return amount / self.least if self.least else None


def _percent(value: float | None, of: float | None) -> float | None:
    return 100 * value / of if value is not None and of else None


def entry_of(row: Row) -> Entry:
    """Return a row as a line of a report."""
    operation, configuration = row.dispatch.operation, row.dispatch.configuration
    profile = row.profile or Profile(())
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
        seconds=profile.seconds,
        switches=profile.switches,
        confirmed=profile.confirmed,
        call_seconds=profile.call_seconds,
        counts=profile.counts,
        peak_gflops=profile.peak_gflops,
        peak_bandwidth=profile.peak_bandwidth,
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
