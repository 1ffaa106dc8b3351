"""The stages of a sweep, made from its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from actiondbg.kernels.bisection.row_bisector import RowBisector
from actiondbg.kernels.generated.layout import GeneratedFolder
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.sweep.cluster import LocalCompiler, connect_compiler
from actiondbg.kernels.sweep.compilation import DispatchCompiler
from actiondbg.kernels.sweep.progress import Report
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import Stages
from actiondbg.kernels.verification.reference_cache import ReferenceCache
from actiondbg.kernels.verification.verifier import Verifier


def make_stages(
    settings: SweepSettings,
    providers: Mapping[str, Provider],
    report: Report | None = None,
    show: Callable[[str], None] | None = None,
) -> tuple[Stages, int]:
    """Make the stages that settings ask for.

    Returns:
        The stages, and how many dispatches are compiled at a time.

    Raises:
        ProviderMissing: a compiler is not installed.
        UsageError: the Dask scheduler cannot be reached.
    """
    compiler = connect_compiler(settings.dask)
    jobs = settings.jobs if isinstance(compiler, LocalCompiler) else compiler.jobs
    compilation = DispatchCompiler(settings, providers, compiler, show)
    if settings.dry_run:
        return Stages(compilation), 1
    folder = GeneratedFolder(settings.generated_dir.resolve())
    verifier = Verifier(
        ReferenceCache(folder), seconds=settings.run_seconds, memory=settings.memory_bytes
    )
    bisector = RowBisector(folder, providers, verifier, jobs=settings.jobs)
    stages = Stages(
        compilation,
        verifier=verifier if settings.verify else None,
        bisector=bisector if settings.bisect else None,
    )
    return stages, jobs
