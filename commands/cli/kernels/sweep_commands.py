"""``actiondbg kernels generate``, ``compile``, ``verify``, ``profile`` and ``run``."""

from __future__ import annotations

from actiondbg.commands.cli.kernels.options import (
    CompileLine,
    GenerateLine,
    ProfileLine,
    RunLine,
    VerifyLine,
)
from actiondbg.commands.cli.kernels.sweep_line import (
    choose_dispatches,
    generate_requested,
    provider_settings,
    requested_providers,
    run_sweep,
)
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.kernels.kernels import Kernels
from actiondbg.kernels.sweep.settings import SweepSettings

_GENERATE = """\
examples:
  actiondbg kernels generate --problem-m 64,128 --problem-n 64 --problem-k 64
  actiondbg kernels generate --problem-set bert_base_128 --provider iree
  actiondbg kernels generate --from model.mlir

exit status: 0 success, 1 error, 2 bad usage.
docs/kernels/index.md lists the kinds, their fields and the problem sets.
"""
_COMPILE = """\
examples:
  actiondbg kernels compile
  actiondbg kernels compile --dispatches 'matmul_512x*' --dry-run

exit status: 0 success, 1 a compilation failed, 2 bad usage.
docs/kernels/index.md shows the folder.
"""
_VERIFY = """\
examples:
  actiondbg kernels verify
  actiondbg kernels verify --operation-kind matmul --bisect

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels/index.md explains the rows.
"""
_PROFILE = """\
examples:
  actiondbg kernels profile --output times.csv
  actiondbg kernels profile --dispatches 'matmul_512x512x512_*' --benchmark-repetitions 20

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels/index.md explains the rows.
"""
_RUN = """\
examples:
  actiondbg kernels run --problem-m 64:513:64 --problem-n 128 --problem-k 256
  actiondbg kernels run --problem-set resnet50 --provider mlir,iree --output resnet50.html
  actiondbg kernels run --from model.mlir --bisect

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels/index.md explains the rows.
"""


@subcommand("kernels generate", "[options]", GenerateLine, _GENERATE)
def generate_kernels(parser: LineParser[GenerateLine], argv: list[str]) -> int:
    """Write the MLIR of dispatches: operations, each with configurations."""
    options = parser.read(argv)
    with parser.reported_usage():
        kernels = Kernels(
            SweepSettings(generated_dir=options.generated_dir),
            providers=requested_providers(options),
            provider_settings=provider_settings(options),
        )
        dispatches = generate_requested(options, kernels)
    if options.quiet:
        return 0
    operation = None
    for each in dispatches:  # as the dispatch profiler prints it
        if each.operation != operation:
            operation = each.operation
            print(f"[Generating]: {kernels.folder.source(operation)}")
        print(f"    Emitting tuning configuration : {each.configuration.name}")
    return 0


@subcommand("kernels compile", "[options]", CompileLine, _COMPILE)
def compile_kernels(parser: LineParser[CompileLine], argv: list[str]) -> int:
    """Compile what is generated and not up to date."""
    return run_sweep(parser, argv, choose_dispatches)


@subcommand("kernels verify", "[options]", VerifyLine, _VERIFY)
def verify_kernels(parser: LineParser[VerifyLine], argv: list[str]) -> int:
    """Compare the results of generated kernels with NumPy."""
    return run_sweep(parser, argv, choose_dispatches)


@subcommand("kernels profile", "[options]", ProfileLine, _PROFILE)
def profile_kernels(parser: LineParser[ProfileLine], argv: list[str]) -> int:
    """Measure the times of generated kernels, in turn."""
    return run_sweep(parser, argv, choose_dispatches)


@subcommand("kernels run", "[options]", RunLine, _RUN)
def run_kernels(parser: LineParser[RunLine], argv: list[str]) -> int:
    """Generate, compile, verify and profile kernels."""
    return run_sweep(parser, argv, generate_requested)
