"""``actiondbg suite list DIR``."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, flag, positional
from actiondbg.recording.dependencies import need_packages

_EPILOG = """\
examples:
  actiondbg suite list suite
  actiondbg suite list suite --missing
  actiondbg query suite "select test, seconds from runs order by seconds desc limit 10"

exit status: 0 success, 1 error, 2 bad usage. docs/suites.md describes suites.
"""


class ListOptions(Options):
    suite: Path = positional("DIR", help="a suite")
    missing: bool = flag(help="only runs without a recording, or with an incomplete one, and why")
    json: bool = flag(help="print one JSON object a line")


@subcommand("suite list", "DIR [options]", ListOptions, _EPILOG)
def run(parser: LineParser[ListOptions], argv: list[str]) -> int:
    """List the runs of a suite: how each ended, and which test it belongs to."""
    options = parser.read(argv)
    need_packages("actiondbg suite")
    from actiondbg.commands.render.suite import overview_lines, place_of, run_lines
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.runs import list_runs, overview

    folder = SuiteFolder(options.suite)
    with parser.reported_usage():
        runs = list_runs(folder)
    if options.missing:
        runs = [each for each in runs if each.missing is not None]
    if options.json:
        for each in runs:
            print(json.dumps(msgspec.to_builtins(each)))
        return 0
    if options.missing:
        for each in runs:
            print(f"{each.run}  {place_of(each)}: {each.missing}")
        return 0
    for line in run_lines(runs):
        print(line)
    for line in overview_lines(overview(folder), options.suite):
        print(line)
    return 0
