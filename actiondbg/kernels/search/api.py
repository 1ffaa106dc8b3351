"""``actiondbg.kernels.search``: the Python API of searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from actiondbg.errors import ActiondbgError
from actiondbg.kernels.errors import KernelError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import Dispatch, Operation, Parameter
from actiondbg.kernels.providers.provider import Provider
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.search.samplers import SamplerName
from actiondbg.kernels.search.search import (
    ConfigurationSearch,
    Evaluator,
    SearchProgress,
    SearchResult,
    SearchSettings,
)
from actiondbg.kernels.sweep.settings import SweepSettings
from actiondbg.kernels.sweep.sweep import make_stages

_REPETITIONS = 3  # of a trial
_CONFIRMATIONS = 15  # repetitions of a finalist


def search(
    operation: Operation,
    provider: str | Provider = "mlir",
    *,
    budget: int | None = None,
    seconds: float | None = None,
    sampler: SamplerName = "tpe",
    seed: int = 0,
    settings: SweepSettings | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    compare_with_c: bool = True,
    likely: Sequence[Mapping[str, Parameter]] = (),
) -> SearchResult:
    """Search for the fastest configuration of an operation.

    A search that was interrupted, or ended by its limits, is continued.

    Args:
        provider: of the configurations, or its name.
        budget: how many configurations are tried, with those in the log; None for 50, or with
            ``seconds`` for no limit.
        seconds: the time of the search, without its confirmation run; None for no limit.
        sampler: "tpe" proposes configurations near those that were fast, "random" any.
        settings: the folder of the kernels, how many are compiled and verified at a time, and the
            limits of a kernel; its repetitions are those of the confirmation run, if they are more
            than the default.
        progress: called after each trial.
        compare_with_c: measure a loop nest in C, too, if the operation can be written as one and a
            C compiler is installed.
        likely: parameters to try right after the default, such as ``best_parameters`` of a
            search for a similar operation.

    Returns:
        The result, whose ``best`` was verified, and measured again in turn with the default.

    Raises:
        UsageError: a limit is not positive, or the provider has no parameters to search.
        ProviderMissing: a compiler is not installed.
        KernelError: kernels of this operation cannot be verified or run here.
        KeyboardInterrupt: the log has all trials so far.
    """
    limits = SearchSettings(
        50 if budget is None and seconds is None else budget, seconds, sampler, seed
    )
    operation.check()
    compiler = make_provider(provider) if isinstance(provider, str) else provider
    base = replace(settings or SweepSettings(), verify=True, profile=True, bisect=False)
    confirmations = max(base.repetitions, _CONFIRMATIONS)
    providers, baseline = {compiler.name: compiler}, None
    if compare_with_c:
        loops = make_provider("c")
        with suppress(ActiondbgError):  # its packages are optional
            loops.identity()
            default = loops.default(operation)
            if loops.obstacle(Dispatch(operation, default)) is None:
                baseline = default
                providers.setdefault(loops.name, loops)
    trials = make_stages(replace(base, repetitions=_REPETITIONS), providers)
    finals = make_stages(replace(base, repetitions=confirmations), providers)
    if trials.verifier is None or finals.profiler is None:
        raise KernelError("A search needs verification and profiling: leave --dry-run out.")
    folder = GeneratedFolder(base.generated_dir.resolve())
    evaluator = Evaluator(folder, trials, providers, finals.profiler)
    log = search_log(folder, operation, compiler)
    return ConfigurationSearch(
        operation, compiler, evaluator, log, limits, progress, baseline, likely
    ).run()


def search_log(folder: GeneratedFolder, operation: Operation, provider: Provider) -> Path:
    """Return the file of the trials of an operation."""
    return folder.of_operation(operation) / f"search_{provider.name}.jsonl"
