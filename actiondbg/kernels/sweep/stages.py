"""The stages of a sweep, made from its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

from actiondbg.kernels.bisection.row_bisector import RowBisector
from actiondbg.kernels.errors import PeaksUnknown
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.profiling.peaks import MachinePeaks, machine_peaks
from actiondbg.kernels.profiling.profiler import Profiler, StartKernel
from actiondbg.kernels.profiling.time_limit import TimedVerifier
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.sweep.cluster import ClusterCompiler
from actiondbg.kernels.sweep.compilation import DispatchCompiler
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import Stages
from actiondbg.kernels.verification.reference_providers import find_reference_provider
from actiondbg.kernels.verification.verifier import DispatchVerifier, Verifier
from actiondbg.recording.errors import need_packages


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
    from actiondbg.kernels.verification.reference_cache import ReferenceCache  # needs NumPy

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
