"""``actiondbg kernels run [options]``."""

from __future__ import annotations

from actiondbg.commands.cli.kernels.options import RunLine
from actiondbg.commands.cli.kernels.sweep_line import generate_requested, run_sweep
from actiondbg.commands.cli.line_parser import LineParser

_EPILOG = """\
examples:
  actiondbg kernels run --problem-m 64:513:64 --problem-n 128 --problem-k 256
  actiondbg kernels run --problem-set resnet50 --provider mlir,iree --output resnet50.html
  actiondbg kernels run --from model.mlir --bisect

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels.md explains the rows.
"""


def build_parser() -> LineParser[RunLine]:
    """Return the parser of the command line."""
    return LineParser(
        RunLine,
        "actiondbg kernels run",
        "[options]",
        "Generate, compile, verify and profile kernels.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the words kernels run; return the exit code.

    Raises:
        ActiondbgError: an option is wrong, or a compiler is not installed.
    """
    parser = build_parser()
    options = parser.read(argv)
    with parser.reported_usage():
        return run_sweep(options, lambda kernels: generate_requested(options, kernels))
