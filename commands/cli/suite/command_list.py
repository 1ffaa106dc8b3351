"""``actiondbg suite``: the list of its commands."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from actiondbg.errors import UsageError

COMMANDS = {  # in the order of use, with what they do
    "record": "run a driver such as lit, and record each MLIR process in it",
    "list": "list the recorded runs, and what is missing",
    "coverage": "list which patterns, passes and folds the runs applied, tried and left out",
    "merge": "join suites, such as the shards of several machines",
}


def build_parser() -> ArgumentParser:
    """Return the parser of the command's name."""
    width = max(map(len, COMMANDS)) + 2
    lines = "".join(f"  {name:{width}}{what}\n" for name, what in COMMANDS.items())
    return ArgumentParser(
        "actiondbg suite",
        usage="actiondbg suite COMMAND [options]",
        description="Record all runs of a test suite, and ask about all of them.",
        epilog=f"commands:\n{lines}\nactiondbg suite COMMAND --help describes each; so does "
        "docs/suites.md.\n",
        formatter_class=RawDescriptionHelpFormatter,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word suite, if no command follows; return the exit code.

    Raises:
        UsageError: there is no such command.
    """
    if not argv or argv[0] in ("-h", "--help"):
        build_parser().print_help(sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    raise UsageError(f"There is no command 'suite {argv[0]}'; there are {', '.join(COMMANDS)}.")
