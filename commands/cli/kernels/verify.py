"""``actiondbg kernels verify [options]``."""

from __future__ import annotations

from functools import partial

from actiondbg.commands.cli.kernels.options import VerifyLine
from actiondbg.commands.cli.kernels.sweep_line import choose_dispatches, run_sweep
from actiondbg.commands.cli.line_parser import LineParser

_EPILOG = """\
examples:
  actiondbg kernels verify
  actiondbg kernels verify --operation-kind matmul --bisect

exit status: 0 all is right, 1 a kernel is wrong, 2 bad usage.
docs/kernels.md explains the rows.
"""


def build_parser() -> LineParser[VerifyLine]:
    """Return the parser of the command line."""
    return LineParser(
        VerifyLine,
        "actiondbg kernels verify",
        "[options]",
        "Compare the results of generated kernels with NumPy.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the words kernels verify; return the exit code.

    Raises:
        ActiondbgError: an option is wrong, or a compiler is not installed.
    """
    parser = build_parser()
    options = parser.read(argv)
    with parser.reported_usage():
        return run_sweep(options, partial(choose_dispatches, options))
