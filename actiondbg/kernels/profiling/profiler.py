"""The times of kernels, measured in turn: of a sweep, of two builds again, and limits of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import KW_ONLY, dataclass, field, replace

from actiondbg.kernels.errors import KernelError, ResultChanged, WroteOutOfBounds
from actiondbg.kernels.execution.kernel import KernelBinary
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.generated import GeneratedFolder, StoredKernel, read_manifest, stored_kernel
from actiondbg.kernels.model import Dispatch, Operation
from actiondbg.kernels.packages import np
from actiondbg.kernels.profiling.peaks import MachinePeaks
from actiondbg.kernels.providers.provider import CompiledKernel
from actiondbg.kernels.results.entry import Entry, Profile, Verdict, Verification
from actiondbg.kernels.results.words import milliseconds
from actiondbg.kernels.verification.operands import make_operands
from actiondbg.kernels.verification.verifier import DispatchVerifier, verdict_of
from actiondbg.statistics.events import CountableEvent
from actiondbg.support.counts import counted

Measured = dict[str, Profile | KernelError]
Kernel = tuple[Dispatch, CompiledKernel]
StartKernel = Callable[[KernelBinary], KernelProcess]  # in a process of its own

ENOUGH_SECONDS = 0.005  # of a repetition: far above the resolution and the cost of a clock
_RELIABLE_SECONDS = 0.001  # from which on a time is extrapolated
_GROWTH = 10
_MOST_CALLS = 10_000_000

# How far two results of one kernel may differ, in roundoffs of the largest element, and at most by
# this part of it: sums of threads are added up in any order.
_ROUNDOFFS, _SIMILAR = 1024, 0.05

# Kernels that are measured in turn, each in a live process with its operands.
_MOST_PROCESSES = 16
_MOST_BYTES = 1 << 30
_REPETITIONS = 20  # noise only adds to the least of them
_PROCESSES = 3  # the layout of memory in a process adds, too, and noise comes in bursts
_BUILD_REPETITIONS = 15


def calibrated_calls(kernel: KernelProcess) -> int:
    """Return how many calls take some milliseconds; the calls that it measures warm the caches.

    Raises:
        KernelError: the kernel failed.
    """
    kernel.time(1)  # pages in the code and the operands
    calls = 1
    seconds = kernel.time(calls)[0]
    while seconds < _RELIABLE_SECONDS and calls < _MOST_CALLS:
        calls = min(calls * _GROWTH, _MOST_CALLS)
        seconds = kernel.time(calls)[0]
    if seconds <= 0:
        return calls
    return max(1, min(_MOST_CALLS, round(calls * ENOUGH_SECONDS / seconds)))


class _LoadedKernel:
    """A kernel in its process, with operands, and the result of its first call.

    The times are times of the kernel only if all calls do the same work. A kernel that counts its
    calls, or finds in memory the result of an earlier call, may do less in the measured calls.

    Raises:
        KernelError: the kernel failed.
    """

    def __init__(self, process: KernelProcess, operation: Operation) -> None:
        self.process = process
        self._operation = operation
        operands = make_operands(operation, "integers")
        self._first: np.ndarray | None = None
        with suppress(WroteOutOfBounds):  # a wrong kernel has a time, too
            self._first = process.run(operands)
        process.load(operands)

    def check(self) -> None:
        """Compare the result of a further call with that of the first; it is not measured again.

        Raises:
            ResultChanged: they differ.
            KernelError: the kernel failed.
        """
        if self._first is None:
            return
        operands = make_operands(self._operation, "integers")  # not kept: they may be large
        unit = self._operation.result.type.unit_roundoff
        wrong = _different(self._first, self.process.run(operands), unit)
        if wrong:
            raise ResultChanged(
                f"The times are those of other work: after the measured calls the kernel computes "
                f"{wrong:,} of {counted(self._first.size, 'element')} otherwise than in its first "
                "call."
            )


def _different(first: np.ndarray, last: np.ndarray, unit_roundoff: float) -> int:
    """Return how many elements differ by more than rounding."""
    if first.tobytes() == last.tobytes():
        return 0
    if not unit_roundoff:
        return int((first != last).sum())
    tolerance = min(_SIMILAR, _ROUNDOFFS * unit_roundoff)
    with np.errstate(all="ignore"):
        one, other = first.astype(np.float64), last.astype(np.float64)
        scale = np.max(np.abs(one), initial=0.0, where=np.isfinite(one))
        similar = np.isclose(other, one, tolerance, tolerance * scale, equal_nan=True)
    return int((~similar).sum())


@dataclass
class _Live:
    """A kernel in its process, and what was measured."""

    dispatch: Dispatch
    loaded: _LoadedKernel
    calls: int
    seconds: list[float] = field(default_factory=list[float])
    switches: int = 0
    call: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def kernel(self) -> KernelProcess:
        return self.loaded.process

    def profile(self, peaks: MachinePeaks | None) -> Profile:
        operation = self.dispatch.operation
        return Profile(
            tuple(self.seconds),
            self.switches,
            peaks.gflops_of(operation) if peaks else None,
            peaks.bandwidth_of(operation) if peaks else None,
            call_seconds=self.call,
            counts=self.counts,
        )


@dataclass
class Profiler:
    """Measures kernels in turn: repetition by repetition, each of some milliseconds of calls.

    A disturbance of the machine then meets all kernels alike, instead of one in all of its
    repetitions. The caches are warm: each call finds what the one before it left in them.

    Attributes:
        start: starts a kernel in a process of its own.
        batch_size: the calls of a repetition; None: as many as take some milliseconds.
        peaks: returns those of the machine, or None: the profiles then have none.
        events: counted in a further repetition, which gives no time.
    """

    start: StartKernel
    _: KW_ONLY
    repetitions: int = 5
    batch_size: int | None = None
    peaks: Callable[[], MachinePeaks | None] = lambda: None
    events: Sequence[CountableEvent] = ()

    def profile(
        self, kernels: Sequence[Kernel], candidates: Collection[str] | None = None
    ) -> Measured:
        """Measure kernels; then, in new processes, the fastest of each operation again.

        The fastest of several was chosen for its times, which favours the lucky: only times that
        are measured after the choice show how fast it is.

        Args:
            candidates: the names of those that can be the fastest, such as those whose result is
                right; None for all. Each has to compute after the measured calls what it computed
                before.

        Returns:
            The profiles by the names of the dispatches, or what went wrong.
        """
        measured: Measured = {}
        peaks = self.peaks() if kernels else None
        for group in _groups(kernels):
            measured |= self._measure(group, peaks, candidates)
        fastest = _fastest(kernels, measured, candidates)
        for group in _groups(fastest):
            for name, again in self._measure(group, peaks, candidates).items():
                first = measured[name]
                if isinstance(again, Profile) and isinstance(first, Profile):
                    measured[name] = replace(first, confirmed=min(again.seconds))
                elif isinstance(again, KernelError):
                    measured[name] = again
        return measured

    def _measure(
        self,
        group: Sequence[Kernel],
        peaks: MachinePeaks | None,
        candidates: Collection[str] | None,
    ) -> Measured:
        failed: Measured = {}
        with ExitStack() as processes:
            live: dict[str, _Live] = {}
            for dispatch, compiled in group:
                try:
                    live[dispatch.name] = self._started(processes, dispatch, compiled)
                except KernelError as error:
                    failed[dispatch.name] = error
            for repetition in range(self.repetitions):
                every = list(live.values())
                # Another one first each time, so that none always follows the same one's caches.
                at = repetition % len(every) if every else 0
                for each in (*every[at:], *every[:at]):
                    try:
                        seconds, switches = each.kernel.time(each.calls)
                        each.seconds.append(seconds / each.calls)
                        each.switches += switches
                    except KernelError as error:
                        failed[each.dispatch.name] = error
                        del live[each.dispatch.name]
            for each in live.values():
                each.call = self._call_seconds(each.kernel)
                each.counts = self._counts(each)
            for name in [each for each in live if candidates is None or each in candidates]:
                try:
                    live[name].loaded.check()
                except KernelError as error:
                    failed[name] = error
                    del live[name]
        return failed | {name: each.profile(peaks) for name, each in live.items()}

    def _started(self, processes: ExitStack, dispatch: Dispatch, compiled: CompiledKernel) -> _Live:
        kernel = processes.enter_context(self.start(compiled.profile))
        loaded = _LoadedKernel(kernel, dispatch.operation)
        if self.batch_size is None:
            return _Live(dispatch, loaded, calibrated_calls(kernel))
        kernel.time(self.batch_size)  # warms the caches
        return _Live(dispatch, loaded, self.batch_size)

    def _call_seconds(self, kernel: KernelProcess) -> float | None:
        """Return the least seconds of a call that does nothing; None if they are unknown."""
        measured: list[float | None] = []
        with suppress(KernelError):  # the kernel itself has its times
            measured = [kernel.call_seconds() for _ in range(self.repetitions)]
        return min((each for each in measured if each is not None), default=None)

    def _counts(self, live: _Live) -> dict[str, float]:
        """Return the events of one call; none if they cannot be counted."""
        if not self.events:
            return {}
        counts: tuple[int, ...] = ()
        with suppress(KernelError):
            counts = live.kernel.count(live.calls, self.events)
        named = zip(self.events, counts, strict=False)
        return {event.name: count / live.calls for event, count in named}


def _groups(kernels: Sequence[Kernel]) -> Iterable[list[Kernel]]:
    """Yield kernels in groups whose processes and operands can be live at once."""
    group: list[Kernel] = []
    size = 0
    for kernel in kernels:
        bytes = kernel[0].operation.bytes
        if group and (len(group) == _MOST_PROCESSES or size + bytes > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(kernel)
        size += bytes
    if group:
        yield group


def _fastest(
    kernels: Sequence[Kernel], measured: Measured, candidates: Collection[str] | None
) -> list[Kernel]:
    """Return the fastest kernel of each operation with several that were measured."""
    by_operation: dict[str, list[tuple[float, int]]] = {}
    for index, (dispatch, _) in enumerate(kernels):
        profile = measured[dispatch.name]
        is_candidate = candidates is None or dispatch.name in candidates
        if isinstance(profile, Profile) and is_candidate:
            least = min(profile.seconds)
            by_operation.setdefault(dispatch.operation.name, []).append((least, index))
    return [kernels[min(found)[1]] for found in by_operation.values() if len(found) > 1]


@dataclass(frozen=True)
class TimeLimit:
    """A limit of the time of a call.

    Attributes:
        verdict: of kernels beyond it: "TOO SLOW", or "TOO FAST".
    """

    seconds: float
    verdict: Verdict = "TOO SLOW"

    def exceeds(self, seconds: float) -> bool:
        return (seconds > self.seconds) == (self.verdict == "TOO SLOW")


@dataclass
class TimedVerifier:
    """Verifies kernels, and measures the right kernels."""

    verifier: DispatchVerifier
    limit: TimeLimit
    start: StartKernel

    def identity(self, dispatch: Dispatch) -> str:
        return f"{self.verifier.identity(dispatch)} {self.limit}"

    def verify(self, dispatch: Dispatch, compiled: CompiledKernel) -> Verification:
        verification = self.verifier.verify(dispatch, compiled)
        if verification.verdict != "SUCCESS":
            return verification
        try:
            seconds = self._seconds(dispatch, compiled)
        except KernelError as error:
            return replace(verification, verdict=verdict_of(error), detail=str(error))
        if not self.limit.exceeds(seconds):
            return verification
        detail = f"a call takes {milliseconds(seconds)} ms, and the limit is "
        detail += f"{milliseconds(self.limit.seconds)}"
        return replace(verification, verdict=self.limit.verdict, detail=detail)

    def _seconds(self, dispatch: Dispatch, compiled: CompiledKernel) -> float:
        """Measure a call; a time above the limit counts if no other process takes less."""
        least = math.inf
        for _ in range(_PROCESSES):
            with self.start(compiled.profile) as kernel:
                loaded = _LoadedKernel(kernel, dispatch.operation)
                calls = calibrated_calls(kernel)
                times = [kernel.time(calls)[0] / calls for _ in range(_REPETITIONS)]
                loaded.check()
            least = min(least, *times)
            if least <= self.limit.seconds:
                break
        return least


@dataclass(frozen=True)
class RemeasuredReports:
    """Two reports with times that were measured again.

    Attributes:
        measured: how many dispatches were measured again.
        identical: how many have the same binary in both, and so the same time.
    """

    old: list[Entry]
    new: list[Entry]
    measured: int
    identical: int


def remeasure(
    folders: tuple[GeneratedFolder, GeneratedFolder],
    old: Sequence[Entry],
    new: Sequence[Entry],
    names: Collection[str],
    start: StartKernel,
) -> RemeasuredReports:
    """Measure dispatches again whose binaries are there, in turn; the others keep their times.

    Raises:
        ActiondbgError: a manifest is damaged.
    """
    times: dict[str, tuple[Profile, Profile]] = {}
    identical = 0
    stored = [_stored_kernels(folder, names) for folder in folders]
    before = {each.dispatch: each for each in old}
    for name in names:
        if any(name not in each for each in stored):
            continue
        (_, first), (dispatch, second) = stored[0][name], stored[1][name]
        if first.checksums[1] == second.checksums[1]:
            profile = Profile(before[name].seconds, before[name].switches)
            times[name] = (profile, profile)
            identical += 1
        elif (measured := _measured(dispatch, first, second, start)) is not None:
            times[name] = measured
    return RemeasuredReports(
        [_with_time(each, times, 0) for each in old],
        [_with_time(each, times, 1) for each in new],
        len(times) - identical,
        identical,
    )


def _stored_kernels(
    folder: GeneratedFolder, names: Collection[str]
) -> dict[str, tuple[Dispatch, StoredKernel]]:
    """Return the dispatches of these names whose binaries are there."""
    dispatches = (each for each in read_manifest(folder.manifest) if each.name in names)
    found = ((each, stored_kernel(folder.of_dispatch(each))) for each in dispatches)
    return {each.name: (each, stored) for each, stored in found if stored is not None}


def _measured(
    dispatch: Dispatch, old: StoredKernel, new: StoredKernel, start: StartKernel
) -> tuple[Profile, Profile] | None:
    """Measure two binaries of a dispatch; None if one of them fails now."""
    operation, given = dispatch.operation, dispatch.configuration
    kernels = [
        (Dispatch(operation, replace(given, name=f"{given.name}_{suffix}")), each.kernel)
        for suffix, each in (("old", old), ("new", new))
    ]
    profiles = Profiler(start, repetitions=_BUILD_REPETITIONS).profile(kernels, candidates=())
    first, second = (profiles[each.name] for each, _ in kernels)
    if isinstance(first, Profile) and isinstance(second, Profile):
        return first, second
    return None


def _with_time(entry: Entry, times: dict[str, tuple[Profile, Profile]], at: int) -> Entry:
    if entry.dispatch not in times:
        return entry
    profile = times[entry.dispatch][at]
    return replace(entry, seconds=profile.seconds, switches=profile.switches)
