"""A sweep as the options of a command describe it, with its progress and its output."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from actiondbg.commands.cli.kernels.options import (
    CompileOptions,
    FolderOptions,
    LimitOptions,
    ProfilingOptions,
    ProviderOptions,
    VerificationOptions,
)
from actiondbg.commands.cli.kernels.requested_problems import ALL, requested_kinds
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.providers.settings import ProviderSettings
from actiondbg.kernels.results.row import Row
from actiondbg.kernels.sweep.progress import Report, SweepProgress
from actiondbg.kernels.sweep.selection import DispatchFilter
from actiondbg.kernels.sweep.settings import SweepSettings


def dispatch_filter(options: FolderOptions) -> DispatchFilter:
    """Return the filter of the options.

    Raises:
        UsageError: there is no such kind, or a pattern is wrong.
    """
    text = options.operation_kind
    kinds = () if text == ALL else requested_kinds(text)
    return DispatchFilter(kinds, split_names(options.provider), options.dispatches)


def split_names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [each.strip() for each in text.split(",") if each.strip()]


def provider_settings(options: ProviderOptions, batch_size: int | None = None) -> ProviderSettings:
    """Return the settings of providers."""
    return ProviderSettings(options.build_dir, options.device, options.cuda_arch, batch_size)


@contextmanager
def progress_bar(shown: bool) -> Generator[Report | None]:
    """Yield a callback that shows the progress on stderr, with an estimate of the time left."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
    from rich.progress import TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(progress: SweepProgress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bar.add_task(progress.stage, words="")
            words = f"{progress.failed} failed" if progress.failed else ""
            bar.update(
                tasks[progress.stage], completed=progress.done, total=progress.total, words=words
            )

        yield report


def sweep_settings(options: CompileLine) -> SweepSettings:
    """Return the settings of a sweep; without options of verification and profiling, it has none."""
    settings = SweepSettings(
        generated_dir=options.generated_dir,
        jobs=options.num_cpu,
        force_compile=options.force_compile,
        dry_run=options.dry_run,
        save_commands=options.save_cmds,
        verify=isinstance(options, VerifyLine),
        profile=isinstance(options, ProfileLine),
        dask=options.dask,
    )
    if isinstance(options, VerifyLine):
        settings = replace(
            settings,
            references=tuple(split_names(options.verification_providers)),
            run_seconds=options.timeout,
            memory=options.memory,
            bisect=options.bisect,
        )
    if isinstance(options, ProfileLine):
        settings = replace(
            settings,
            verify=options.verification_enabled and not options.compile_only,
            profile=options.profiling_enabled and not options.compile_only,
            repetitions=options.benchmark_repetitions,
            batch_size=options.batch_size,
        )
    return settings


def run_sweep(options: CompileLine, choose: Callable[[Kernels], list[Dispatch]]) -> int:
    """Sweep over dispatches, print the rows and write the files of ``--output``.

    Args:
        options: of the command line.
        choose: returns the dispatches; it may generate them.

    Returns:
        The exit code: 0 if all is right, 1 if a kernel is wrong, 130 after Ctrl-C.

    Raises:
        ActiondbgError: nothing can be done.
    """
    settings = sweep_settings(options)
    files = open_files(options) if isinstance(options, OutputOptions) else None
    interrupted = False
    with progress_bar(shown=not (options.verbose or options.dry_run)) as report:
        kernels = Kernels(
            settings,
            providers=split_names(options.provider) or DEFAULT_PROVIDERS,
            provider_settings=provider_settings(options, settings.batch_size),
            report=report,
            show=print_command if options.verbose or options.dry_run else None,
        )
        dispatches = choose(kernels)
        sweep = kernels.sweep(dispatches)
        try:
            sweep.run(dispatches)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            rows = [sweep.rows[each.name] for each in dispatches if each.name in sweep.rows]
            if files is not None:
                files.write(rows)
    if not options.dry_run:
        print_rows(rows, options)
    if interrupted:
        left = len(dispatches) - len(rows)
        print(
            f"actiondbg: interrupted; {left} of {len(dispatches)} dispatches are left: the same "
            "command continues.",
            file=sys.stderr,
        )
        return 128 + signal.SIGINT
    return FAILED if any(map(is_wrong, rows)) else 0


def print_command(line: str) -> None:
    """Print a command that runs."""
    print(line, flush=True)
