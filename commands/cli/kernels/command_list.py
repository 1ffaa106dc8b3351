"""``actiondbg kernels``: the list of its commands."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

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


def build_parser() -> ArgumentParser:
    """Return the parser of the command's name."""
    width = max(map(len, COMMANDS)) + 2
    lines = "".join(f"  {name:{width}}{what}\n" for name, what in COMMANDS.items())
    return ArgumentParser(
        "actiondbg kernels",
        usage="actiondbg kernels COMMAND [options]",
        description="Generate, compile, verify, profile, count and bisect single kernels.",
        epilog=f"commands:\n{lines}\nactiondbg kernels COMMAND --help describes each; so does "
        "docs/kernels.md.\n",
        formatter_class=RawDescriptionHelpFormatter,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word kernels, if no command follows; return the exit code.

    Raises:
        UsageError: there is no such command.
    """
    if not argv or argv[0] in ("-h", "--help"):
        build_parser().print_help(sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    raise UsageError(f"There is no command 'kernels {argv[0]}'; there are {', '.join(COMMANDS)}.")
