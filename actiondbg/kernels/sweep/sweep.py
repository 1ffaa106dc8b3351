"""A sweep over dispatches: each is compiled, verified and profiled; each becomes a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache, partial
from threading import Event

from actiondbg.kernels.bisection.dispatch_bisection import RowBisector, can_be_bisected
from actiondbg.kernels.errors import PeaksUnknown
from actiondbg.kernels.execution.kernel_process import SERVERS, KernelProcess
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.profiling.peaks import MachinePeaks, machine_peaks
from actiondbg.kernels.profiling.profiler import Kernel, Profiler, StartKernel, TimedVerifier
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.results.entry import Profile, Row, Verdict, Verification, entry_of
from actiondbg.kernels.sweep.compilation import ClusterCompiler, CompiledDispatch, DispatchCompiler
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.verification.expectation import ReferenceCache
from actiondbg.kernels.verification.reference_providers import find_reference_provider
from actiondbg.kernels.verification.verifier import DispatchVerifier, Verifier
from actiondbg.recording.errors import need_packages

_INTERVAL = 0.05  # seconds
_ENDED: tuple[Verdict, ...] = ("SUCCESS", "FAILED")


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        stage: what it does: "compile and verify", "profile" or "bisect".
        done: how many dispatches are done in this stage.
        total: how many there are.
        name: of the dispatch that is done.
        failed: how many of them failed.
    """

    stage: str
    done: int
    total: int
    name: str = ""
    failed: int = 0


Report = Callable[[SweepProgress], None]


@dataclass(frozen=True)
class Stages:
    """What a sweep does with each dispatch; None for a stage that is left out.

    Attributes:
        jobs: how many dispatches are compiled and verified at a time.
    """

    compiler: DispatchCompiler
    verifier: DispatchVerifier | None = None
    profiler: Profiler | None = None
    bisector: RowBisector | None = None
    jobs: int = 1


class Sweep:
    """Compiles, verifies and profiles dispatches.

    Attributes:
        rows: by the names of the dispatches, as far as the sweep got: after an interrupt, too.
    """

    def __init__(
        self,
        stages: Stages,
        providers: Mapping[str, Provider],
        report: Report | None = None,
    ) -> None:
        self.stages = stages
        self._providers = providers
        self._report = report
        self.rows: dict[str, Row] = {}
        self._interrupted = Event()

    def run(self, dispatches: Sequence[Dispatch]) -> list[Row]:
        """Run the stages; a dispatch that fails is a row, and the others continue.

        Returns:
            The rows, in the order of the dispatches.

        Raises:
            OSError: a file cannot be written, such as on a full disk.
            KeyboardInterrupt: ``rows`` has what is done.
        """
        compiled = self._compile_and_verify(dispatches)
        if self.stages.profiler is not None:
            self._profile(self.stages.profiler, compiled)
        if self.stages.bisector is not None:
            self._bisect(self.stages.bisector)
        return [self.rows[each.name] for each in dispatches]

    def _compile_and_verify(self, dispatches: Sequence[Dispatch]) -> list[CompiledDispatch]:
        """Compile and verify in parallel, in the order of the dispatches."""
        stage = "compile" if self.stages.verifier is None else "compile and verify"
        self._interrupted.clear()
        pool = ThreadPoolExecutor(self.stages.jobs)
        futures = [pool.submit(self._one, each) for each in dispatches]
        try:
            failed = 0
            for done, future in enumerate(as_completed(futures), 1):
                compiled, row = future.result()
                self.rows[compiled.dispatch.name] = row
                failed += row.is_wrong
                self._report_progress(
                    SweepProgress(stage, done, len(futures), row.dispatch.name, failed)
                )
            return [future.result()[0] for future in futures]
        except KeyboardInterrupt:
            self._interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            # End the kernels that run; one that never ends would have its time limit left.
            while any(future.running() for future in futures):
                SERVERS.close()  # again: a kernel may have been about to start
                time.sleep(_INTERVAL)
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _one(self, dispatch: Dispatch) -> tuple[CompiledDispatch, Row]:
        compiled = self.stages.compiler.compile(dispatch)
        row = Row(dispatch, compilation=compiled.compilation)
        if compiled.compilation.error:
            verification = Verification("NOT COMPILED", detail=compiled.compilation.error)
            return compiled, replace(row, verification=verification)
        if compiled.kernel is None:
            return compiled, row
        obstacle = self._providers[dispatch.configuration.provider].not_runnable(dispatch)
        if obstacle is not None:
            verification = Verification("NOT RUNNABLE HERE", detail=obstacle)
            return replace(compiled, kernel=None), replace(row, verification=verification)
        if self.stages.verifier is None or self._interrupted.is_set():
            return compiled, row
        verification = self._verify(self.stages.verifier, compiled, compiled.kernel)
        return compiled, replace(row, verification=verification)

    def _verify(
        self, verifier: DispatchVerifier, compiled: CompiledDispatch, kernel: CompiledKernel
    ) -> Verification:
        if compiled.state is None:
            return verifier.verify(compiled.dispatch, kernel)
        references = verifier.identity(compiled.dispatch)
        stored = compiled.state.verification(references)
        if stored is not None:
            return stored
        verification = verifier.verify(compiled.dispatch, kernel)
        if verification.verdict == "SUCCESS":
            compiled.state.store_verification(references, verification)
        return verification

    def _profile(self, profiler: Profiler, compiled: Sequence[CompiledDispatch]) -> None:
        """Profile what runs, the dispatches of an operation in turn; a wrong result has a time."""
        states = {each.dispatch.name: each.state for each in compiled}
        groups: dict[str, list[Kernel]] = {}
        for each in compiled:
            verification = self.rows[each.dispatch.name].verification
            ended_well = verification is None or verification.verdict in _ENDED
            if each.kernel is not None and ended_well:
                group = groups.setdefault(each.dispatch.operation.name, [])
                group.append((each.dispatch, each.kernel))
        done, total = 0, sum(map(len, groups.values()))
        for operation, group in groups.items():
            right = [each.name for each, _ in group if not self.rows[each.name].is_wrong]
            for name, profile in profiler.profile(group, right).items():
                row, state = _profiled(self.rows[name], profile), states[name]
                if state is not None and state.kernel() is None:
                    row = _doubted(row, "The binary was changed after it was verified.")
                self.rows[name] = row
            done += len(group)
            self._report_progress(SweepProgress("profile", done, total, operation))

    def _bisect(self, bisector: RowBisector) -> None:
        wrong = [row for row in self.rows.values() if can_be_bisected(row)]
        for done, row in enumerate(wrong, 1):
            self.rows[row.dispatch.name] = bisector.bisect(row)
            self._report_progress(SweepProgress("bisect", done, len(wrong), row.dispatch.name))

    def _report_progress(self, progress: SweepProgress) -> None:
        if self._report is not None:
            self._report(progress)


def _profiled(row: Row, profile: Profile | str) -> Row:
    """Return a row with its times, or with what went wrong while they were measured."""
    if isinstance(profile, Profile):
        row = replace(row, profile=profile)
        entry = entry_of(row)
        if not entry.is_above_peak:
            return row
        return _doubted(
            row,
            f"{entry.gflops:,.0f} GFLOP/s are above the machine's peak of "
            f"{entry.peak_gflops:,.0f}: the kernel computes less than it should, or the peak was "
            "measured on a busy machine (measure it again by --remeasure).",
        )
    if row.is_wrong:
        return row
    return replace(row, verification=Verification("CRASHED", detail=profile))


def _doubted(row: Row, reason: str) -> Row:
    """Return a row that is no success, for its times are not those of what was verified."""
    verification = row.verification
    if verification is None or verification.verdict != "SUCCESS":
        return row
    return replace(row, verification=replace(verification, verdict="Not verified", detail=reason))


def make_stages(
    settings: SweepSettings,
    providers: Mapping[str, Provider],
    show: Callable[[str], None] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Stages:
    """Make the stages that settings ask for.

    Raises:
        ProviderMissing: a compiler is not installed.
        UsageError: the Dask scheduler cannot be reached, or there is no such reference provider.
        ActiondbgError: NumPy is not installed.
    """
    cluster = None if settings.dask is None else ClusterCompiler(settings.dask)
    compilation = DispatchCompiler(settings, providers, cluster, show)
    if settings.dry_run:
        return Stages(compilation)
    jobs = settings.jobs if cluster is None else cluster.jobs
    for name in settings.references:
        find_reference_provider(name)
    if not (settings.verify or settings.profile or settings.bisect):
        return Stages(compilation, jobs=jobs)
    need_packages("Running kernels", ("numpy",), "kernels")
    folder = GeneratedFolder(settings.generated_dir.resolve())
    references = [ReferenceCache(folder, name) for name in settings.references]
    start = partial(KernelProcess, seconds=settings.run_seconds, memory=settings.memory_bytes)
    verifier: DispatchVerifier = Verifier(
        *references, seconds=settings.run_seconds, memory=settings.memory_bytes
    )
    if settings.limit is not None:
        verifier = TimedVerifier(verifier, settings.limit, start)
    bisector = RowBisector(folder, providers, verifier, limit=settings.limit)
    return Stages(
        compilation,
        verifier=verifier if settings.verify else None,
        profiler=_profiler(settings, start, warn) if settings.profile else None,
        bisector=bisector if settings.bisect else None,
        jobs=jobs,
    )


def _profiler(
    settings: SweepSettings, start: StartKernel, warn: Callable[[str], None] | None
) -> Profiler:
    """Make a profiler; rows of an unknown peak lack their per cent of the machine's peak."""

    @cache
    def peaks() -> MachinePeaks | None:
        try:
            return machine_peaks(remeasure=settings.remeasure)
        except PeaksUnknown as error:
            if warn is not None:
                warn(str(error))
            return None

    return Profiler(
        start,
        repetitions=settings.repetitions,
        batch_size=settings.batch_size,
        peaks=peaks,
        events=settings.events,
    )
