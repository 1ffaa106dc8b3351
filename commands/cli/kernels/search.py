"""``actiondbg kernels search [options]``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from actiondbg.commands import FAILED
from actiondbg.commands.cli.kernels.options import (
    FolderOptions,
    JobOptions,
    LimitOptions,
    OperationOptions,
    ProviderOptions,
    check_used,
)
from actiondbg.commands.cli.kernels.sweep_commands import (
    provider_settings,
    requested_kinds,
    requested_operations,
    requested_providers,
)
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import flag, option
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.interpreter.values import seconds as positive_seconds
from actiondbg.commands.render.kernels.search import SearchDisplay, search_object, search_text
from actiondbg.commands.render.terminal.output import print_notice, print_result
from actiondbg.errors import UsageError
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.model import Dispatch
from actiondbg.kernels.providers.registry import make_provider
from actiondbg.kernels.search.api import search, search_log
from actiondbg.kernels.search.samplers import SamplerName
from actiondbg.kernels.sweep.generation import DispatchFilter
from actiondbg.kernels.sweep.settings import SweepSettings

if TYPE_CHECKING:
    from actiondbg.kernels.model import Operation
    from actiondbg.kernels.providers.provider import Provider
    from actiondbg.kernels.search.search import SearchResult

_EPILOG = """\
examples:
  actiondbg kernels search --operation-kind matmul --problem-m 512 --problem-n 512 --problem-k 512
  actiondbg kernels search --problem-set bert_base_128 --dispatches '*x3072x*' --seconds 60
  actiondbg kernels search --problem-m 512 --problem-n 512 --problem-k 512 --sampler random

The same command continues a search that was interrupted; a larger --budget continues it further.

exit status: 0 success, 1 no kernel of an operation is right, or error, 2 bad usage.
docs/kernels/search.md explains the search.
"""


class SearchOptions(FolderOptions, ProviderOptions, OperationOptions, JobOptions, LimitOptions):
    budget: int | None = option(
        "N",
        help="try N configurations, with those of earlier searches; 50, or no limit with --seconds",
        parse=positive,
    )
    seconds: float | None = option(
        "SECONDS", help="the time for each operation", parse=positive_seconds
    )
    sampler: SamplerName = option(
        default="tpe", help="near those that were fast (tpe), or at random; tpe"
    )
    seed: int = option("N", default=0, help="of the sampler; 0", parse=int)
    benchmark_repetitions: int = option(
        "N", default=15, help="measure the finalists N times, at least 15; 15", parse=positive
    )
    json: bool = flag(help="print one JSON object for each operation")


@subcommand("kernels search", "[options]", SearchOptions, _EPILOG)
def run(parser: LineParser[SearchOptions], argv: list[str]) -> int:
    """Search for the fastest configuration of each operation."""
    options = parser.read(argv)
    return _search_all(options)


def _search_all(options: SearchOptions) -> int:
    providers = [
        make_provider(name, provider_settings(options)) for name in requested_providers(options)
    ]
    settings = SweepSettings(
        generated_dir=options.generated_dir,
        jobs=options.num_cpu,
        repetitions=options.benchmark_repetitions,
        run_seconds=options.timeout,
        memory=options.memory,
    )
    results: list[SearchResult] = []
    for operation in _operations(options, providers[0]):
        for provider in providers:
            display = SearchDisplay(sys.stderr, operation.flops)
            try:
                result = search(
                    operation,
                    provider,
                    budget=options.budget,
                    seconds=options.seconds,
                    sampler=options.sampler,
                    seed=options.seed,
                    settings=settings,
                    progress=display.report,
                )
            except KeyboardInterrupt:
                display.clear()
                log = search_log(GeneratedFolder(settings.generated_dir), operation, provider)
                print_notice(f"interrupted: the same command continues; its trials are in {log}.")
                return 128 + signal.SIGINT
            finally:
                display.clear()
            print_result(search_object(result) if options.json else [search_text(result)])
            results.append(result)
    return 0 if all(each.best for each in results) else FAILED


def _operations(options: SearchOptions, provider: Provider) -> list[Operation]:
    check_used(options, requested_providers(options))
    operations = requested_operations(options, requested_kinds(options.operation_kind))
    if not operations:
        raise UsageError("No operation is requested: name sizes, a problem set, a file or a model.")
    chosen = DispatchFilter(names=options.dispatches)
    dispatches = [Dispatch(each, provider.default(each)) for each in operations]
    return [each.operation for each in chosen.select(dispatches)]
