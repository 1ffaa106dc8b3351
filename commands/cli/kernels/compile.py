"""``actiondbg kernels compile [options]``."""

from __future__ import annotations

from functools import partial

from actiondbg.commands.cli.kernels.options import CompileLine
from actiondbg.commands.cli.kernels.sweep_line import choose_dispatches, run_sweep
from actiondbg.commands.cli.line_parser import LineParser

_EPILOG = """\
examples:
  actiondbg kernels compile
  actiondbg kernels compile --dispatches 'matmul_512x*' --dry-run

exit status: 0 success, 1 a compilation failed, 2 bad usage.
docs/kernels.md shows the folder.
"""


def build_parser() -> LineParser[CompileLine]:
    """Return the parser of the command line."""
    return LineParser(
        CompileLine,
        "actiondbg kernels compile",
        "[options]",
        "Compile what is generated and not up to date.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the words kernels compile; return the exit code.

    Raises:
        ActiondbgError: an option is wrong, or a compiler is not installed.
    """
    parser = build_parser()
    options = parser.read(argv)
    with parser.reported_usage():
        return run_sweep(options, partial(choose_dispatches, options))
