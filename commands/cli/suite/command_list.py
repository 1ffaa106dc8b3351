"""``actiondbg suite``: the list of its commands."""

from __future__ import annotations

from actiondbg.commands.cli.line_parser import LineParser, group_epilog, run_group, subcommand
from actiondbg.commands.interpreter.options import NoOptions

COMMANDS = {  # in the order of use, with what they do
    "record": "run a driver such as lit, and record each MLIR process in it",
    "list": "list the recorded runs, and what is missing",
    "coverage": "list which patterns, passes and folds the runs applied, tried and left out",
    "merge": "join suites, such as the shards of several machines",
}


@subcommand(
    "suite", "COMMAND [options]", NoOptions, group_epilog("suite", COMMANDS, "docs/suites.md")
)
def run(parser: LineParser[NoOptions], argv: list[str]) -> int:
    """Record all runs of a test suite, and ask about all of them."""
    return run_group(parser, argv, "suite", COMMANDS)
