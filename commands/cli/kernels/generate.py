"""``actiondbg kernels generate [options]``."""

from __future__ import annotations

from actiondbg.commands.cli.kernels.options import GenerateLine
from actiondbg.commands.cli.kernels.sweep_line import (
    generate_requested,
    provider_settings,
    requested_providers,
)
from actiondbg.commands.cli.line_parser import LineParser
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.model.dispatch import Dispatch
from actiondbg.kernels.sweep.settings import SweepSettings

_EPILOG = """\
examples:
  actiondbg kernels generate --problem-m 64,128 --problem-n 64 --problem-k 64
  actiondbg kernels generate --problem-set bert_base_128 --provider iree
  actiondbg kernels generate --from model.mlir

exit status: 0 success, 1 error, 2 bad usage.
docs/kernels.md lists the kinds, their fields and the problem sets.
"""


def build_parser() -> LineParser[GenerateLine]:
    """Return the parser of the command line."""
    return LineParser(
        GenerateLine,
        "actiondbg kernels generate",
        "[options]",
        "Write the MLIR of dispatches: operations, each with configurations.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the words kernels generate; return the exit code.

    Raises:
        ActiondbgError: an option is wrong, or nothing fits.
    """
    parser = build_parser()
    options = parser.read(argv)
    with parser.reported_usage():
        kernels, dispatches = _generated(options)

    if options.quiet:
        return 0
    operation = None
    for each in dispatches:  # as the dispatch profiler prints it
        if each.operation != operation:
            operation = each.operation
            print(f"[Generating]: {kernels.folder.source(operation)}")
        print(f"    Emitting tuning configuration : {each.configuration.name}")
    return 0


def _generated(options: GenerateLine) -> tuple[Kernels, list[Dispatch]]:
    kernels = Kernels(
        SweepSettings(generated_dir=options.generated_dir),
        providers=requested_providers(options),
        provider_settings=provider_settings(options),
    )
    return kernels, generate_requested(options, kernels)
