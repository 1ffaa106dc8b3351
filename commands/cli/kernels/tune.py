"""``actiondbg kernels tune [options] MODEL.mlir``."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from actiondbg.commands import FAILED
from actiondbg.commands.cli.kernels.options import JobOptions, LimitOptions
from actiondbg.commands.cli.kernels.sweep_commands import progress_bar
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import flag, option, positional
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.render.kernels.search import SearchDisplay, tuning_object, tuning_text
from actiondbg.commands.render.terminal.output import print_notice, print_result
from actiondbg.kernels.model import Operation
from actiondbg.kernels.search.search import SearchProgress
from actiondbg.kernels.search.tuning import ModelTuner, TuneSettings
from actiondbg.kernels.sweep.settings import SweepSettings

_EPILOG = """\
examples:
  actiondbg kernels tune model.mlir
  actiondbg kernels tune model.mlir --budget 200 --output tuned.mlir

Each operation of the model is measured as IREE compiles it. The heavy ones are searched for faster
configurations, which are written as a tuning spec of IREE. Then the whole model is measured with
and without it, in turn. The same command continues a search that was interrupted.

exit status: 0 success, 1 the tuned model computes something else, or error, 2 bad usage.
docs/kernels/search.md explains the spec.
"""


class TuneOptions(JobOptions, LimitOptions):
    model: Path = positional("MODEL.mlir", help="a program with linalg on tensors")
    budget: int = option(
        "N",
        default=60,
        help="try N configurations for all operations, shared by their weights, but at least 8 "
        "for each; 60",
        parse=positive,
    )
    output: Path | None = option("FILE", help="write the tuning spec to this file")
    function: str = option("NAME", default="", help="call this function; the only public one")
    generated_dir: Path = option(
        "DIR", default=Path("."), help="the parent of the folder 'generated'; ."
    )
    seed: int = option("N", default=0, help="of the sampler; 0", parse=int)
    json: bool = flag(help="print one JSON object")


@subcommand("kernels tune", "[options] MODEL.mlir", TuneOptions, _EPILOG)
def run(parser: LineParser[TuneOptions], argv: list[str]) -> int:
    """Write a tuning spec of IREE for a model, and measure the model with and without it."""
    options = parser.read_intermixed(argv)
    return _tune(options)


def _tune(options: TuneOptions) -> int:
    settings = TuneSettings(options.budget, options.seed, options.function, options.output)
    sweep = SweepSettings(
        options.generated_dir, options.num_cpu, run_seconds=options.timeout, memory=options.memory
    )
    display = _Display()
    try:
        with progress_bar(shown=True) as report:
            tuner = ModelTuner(
                options.model, settings, sweep, report=report, progress=display.report
            )
            weights = tuner.weigh()
        result = tuner.tune(weights)
    except KeyboardInterrupt:
        display.clear()
        print_notice("interrupted: the same command continues.")
        return 128 + signal.SIGINT
    display.clear()
    print_result(tuning_object(result) if options.json else tuning_text(result))
    return 0 if result.agreement is None or result.agreement.holds else FAILED


class _Display:
    def __init__(self) -> None:
        self._operation: Operation | None = None
        self._display = SearchDisplay(sys.stderr, 1)

    def report(self, operation: Operation, progress: SearchProgress) -> None:
        """Show the progress of a search, after the name of an operation that is new."""
        if operation != self._operation:
            self.clear()
            print(operation.name, file=sys.stderr, flush=True)
            self._operation = operation
            self._display = SearchDisplay(sys.stderr, operation.flops)
        self._display.report(progress)

    def clear(self) -> None:
        self._display.clear()
