"""A sweep over dispatches: each is compiled, here or on workers of Dask, verified and profiled."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from threading import Event
from typing import cast

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.bisection.dispatch_bisection import RowBisector, can_be_bisected
from actiondbg.kernels.errors import CompileError, KernelError, PeaksUnknown
from actiondbg.kernels.execution.kernel_process import SERVERS, KernelProcess
from actiondbg.kernels.generated import (
    CONFIGURED,
    CompiledState,
    GeneratedFolder,
    compilation_key,
    with_paths,
)
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.profiling.peaks import MachinePeaks, machine_peaks
from actiondbg.kernels.profiling.profiler import Kernel, Profiler, StartKernel, TimedVerifier
from actiondbg.kernels.providers.provider import CompiledKernel, Provider
from actiondbg.kernels.providers.steps import LOG, CompilationSteps
from actiondbg.kernels.results.entry import (
    Compilation,
    Profile,
    Row,
    Verdict,
    Verification,
    entry_of,
)
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.verification.expectation import ReferenceCache
from actiondbg.kernels.verification.reference_providers import find_reference_provider
from actiondbg.kernels.verification.verifier import DispatchVerifier, Verifier, verdict_of
from actiondbg.recording.errors import need_packages
from actiondbg.support.atomic_write import locked
from actiondbg.support.dask_client import DaskClient, connect
from actiondbg.support.scratch_directory import scratch_directory

_INTERVAL = 0.05  # seconds
_ENDED: tuple[Verdict, ...] = ("SUCCESS", "FAILED")


@dataclass(frozen=True)
class _RemoteResult:
    """What a worker sends back.

    Attributes:
        identity: of the worker's compiler.
        kernel: with paths relative to the folder; None if the compilation failed.
        error: one sentence if it failed.
        files: the content of the folder.
        commands: that ran.
    """

    identity: str
    kernel: CompiledKernel | None
    error: str
    files: dict[str, bytes]
    commands: list[str]


def compile_on_worker(
    provider: Provider, dispatch: Dispatch, source: bytes, seconds: float
) -> _RemoteResult:
    """Compile a dispatch in a scratch directory of a worker."""
    with scratch_directory("kernels") as folder:
        (folder / CONFIGURED).write_bytes(source)
        given = {each.name for each in folder.iterdir()}
        steps = CompilationSteps(folder, seconds)
        kernel, message = None, ""
        try:
            compiled = provider.compile(dispatch, folder, steps)
            kernel = with_paths(compiled, lambda path: path.relative_to(folder))
        except CompileError as error:
            message = str(error)
        made = [each for each in folder.iterdir() if each.is_file() and each.name not in given]
        files = {each.name: each.read_bytes() for each in made}
        return _RemoteResult(provider.identity(), kernel, message, files, steps.lines)


class ClusterCompiler:
    """Compiles on the workers of a Dask cluster, which need no common file system.

    The connection is closed with the last reference to this object.

    Args:
        address: of the scheduler.

    Attributes:
        jobs: how many dispatches the workers compile at a time.

    Raises:
        UsageError: the scheduler cannot be reached or has no workers, or Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        self._client: DaskClient = connect(address)
        weakref.finalize(self, self._client.close)
        self.jobs = sum(self._client.nthreads().values())

    def compile(
        self, provider: Provider, dispatch: Dispatch, folder: Path, steps: CompilationSteps
    ) -> CompiledKernel:
        """Compile a dispatch; the binaries are then in its folder.

        Raises:
            CompileError: a step failed.
        """
        source = (folder / CONFIGURED).read_bytes()
        future = self._client.submit(
            compile_on_worker, provider, dispatch, source, steps.seconds, pure=False
        )
        try:
            result = cast(_RemoteResult, future.result())
        except Exception as error:
            raise CompileError(f"The Dask worker failed ({error}): see its log.") from error
        for name, content in result.files.items():
            (folder / name).write_bytes(content)
        steps.lines += result.commands
        if result.identity != provider.identity():
            raise CompileError(
                "The Dask worker has another compiler or target than this machine: "
                f"{result.identity} instead of {provider.identity()}."
            )
        if result.kernel is None:
            raise CompileError(result.error)
        return with_paths(result.kernel, lambda path: folder / path)


@dataclass(frozen=True)
class CompiledDispatch:
    """A dispatch after its compilation.

    Attributes:
        kernel: None if it failed, or in a dry run.
        state: the stored results of the binaries, or None.
    """

    dispatch: Dispatch
    compilation: Compilation
    kernel: CompiledKernel | None = None
    state: CompiledState | None = None


class DispatchCompiler:
    """Compiles dispatches into their folders."""

    def __init__(
        self,
        settings: SweepSettings,
        providers: Mapping[str, Provider],
        cluster: ClusterCompiler | None = None,
        show: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._folder = GeneratedFolder(settings.generated_dir.resolve())
        self._providers = providers
        self._identities = {name: each.identity() for name, each in providers.items()}
        self._cluster = cluster
        self._show = show

    def compile(self, dispatch: Dispatch) -> CompiledDispatch:
        """Compile a dispatch, unless it is up to date. May be called from several threads.

        Raises:
            OSError: a file cannot be written, such as on a full disk.
        """
        provider = self._providers[dispatch.configuration.provider]
        obstacle = provider.obstacle(dispatch)
        if obstacle is not None:
            return CompiledDispatch(dispatch, Compilation(None, error=obstacle))
        folder = self._folder.of_dispatch(dispatch)
        if self._settings.dry_run:
            steps = CompilationSteps(folder, dry_run=True, show=self._show)
            provider.compile(dispatch, folder, steps)
            return CompiledDispatch(dispatch, Compilation(None))
        with locked(folder):
            identity = self._identities[provider.name]
            state = CompiledState(folder, compilation_key(dispatch, folder, identity))
            kernel = None if self._settings.force_compile else state.kernel()
            if kernel is not None:
                compilation = Compilation(None, kernel.config_applied, detail=kernel.detail)
                return CompiledDispatch(dispatch, compilation, kernel, state)
            return self._compile(dispatch, provider, folder, state)

    def _compile(
        self, dispatch: Dispatch, provider: Provider, folder: Path, state: CompiledState
    ) -> CompiledDispatch:
        """Compile; the caller holds the lock of the folder."""
        state.drop()
        (folder / LOG).unlink(missing_ok=True)
        steps = CompilationSteps(folder, self._settings.compile_seconds, show=self._show)
        started = time.perf_counter()
        try:
            if self._cluster is None:
                kernel = provider.compile(dispatch, folder, steps)
            else:
                kernel = self._cluster.compile(provider, dispatch, folder, steps)
        except CompileError as error:
            seconds = time.perf_counter() - started
            return CompiledDispatch(dispatch, Compilation(seconds, error=str(error)))
        except ActiondbgError as error:
            return CompiledDispatch(dispatch, Compilation(None, error=str(error)))
        finally:
            if self._settings.save_commands:
                steps.save()
        state.store_kernel(kernel)
        seconds = time.perf_counter() - started
        compilation = Compilation(seconds, kernel.config_applied, detail=kernel.detail)
        return CompiledDispatch(dispatch, compilation, kernel, state)


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


def _profiled(row: Row, profile: Profile | KernelError) -> Row:
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
    return replace(row, verification=Verification(verdict_of(profile), detail=str(profile)))


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
