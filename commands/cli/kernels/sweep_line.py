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
