"""``actiondbg suite``: the list of its commands."""

from __future__ import annotations

import sys

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import NoOptions
from actiondbg.errors import UsageError

COMMANDS = {  # in the order of use, with what they do
    "record": "run a driver such as lit, and record each MLIR process in it",
    "list": "list the recorded runs, and what is missing",
    "coverage": "list which patterns, passes and folds the runs applied, tried and left out",
    "merge": "join suites, such as the shards of several machines",
}
_WIDTH = max(map(len, COMMANDS)) + 2
_LINES = "\n".join(f"  {name:{_WIDTH}}{what}" for name, what in COMMANDS.items())
_EPILOG = f"""\
commands:
{_LINES}

actiondbg suite COMMAND --help describes each; so does docs/suites.md.
"""


@subcommand("suite", "COMMAND [options]", NoOptions, _EPILOG)
def run(parser: LineParser[NoOptions], argv: list[str]) -> int:
    """Record all runs of a test suite, and ask about all of them."""
    if not argv or argv[0] in ("-h", "--help"):
        parser.print_help(sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    raise UsageError(f"There is no command 'suite {argv[0]}'; there are {', '.join(COMMANDS)}.")
