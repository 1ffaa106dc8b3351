"""``actiondbg kernels``: the list of its commands."""

from __future__ import annotations

import sys

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import NoOptions
from actiondbg.errors import UsageError

COMMANDS = {  # in the order of use, with what they do
    "generate": "write the MLIR of dispatches",
    "compile": "compile what is generated",
    "verify": "compare results with NumPy",
    "profile": "measure times",
    "run": "all of these, and the report",
    "report": "print, convert or compare results",
    "bisect": "find the action that makes a kernel wrong",
    "judge": "judge another output of a step that was bisected",
    "search": "search for the fastest configuration",
    "tune": "search for a whole model, and measure it with IREE's tuning spec",
    "count": "count CPU events for each call of a dispatch function",
}


_WIDTH = max(map(len, COMMANDS)) + 2
_LINES = "\n".join(f"  {name:{_WIDTH}}{what}" for name, what in COMMANDS.items())
_EPILOG = f"""\
commands:
{_LINES}

actiondbg kernels COMMAND --help describes each; so does docs/kernels/index.md.
"""


@subcommand("kernels", "COMMAND [options]", NoOptions, _EPILOG)
def run(parser: LineParser[NoOptions], argv: list[str]) -> int:
    """Generate, compile, verify, profile, count and bisect single kernels."""
    if not argv or argv[0] in ("-h", "--help"):
        parser.print_help(sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    raise UsageError(f"There is no command 'kernels {argv[0]}'; there are {', '.join(COMMANDS)}.")
