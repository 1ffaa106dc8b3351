"""``actiondbg suite merge -o DIR SUITE...``."""

from __future__ import annotations

from pathlib import Path

from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, option, positional
from actiondbg.recording.dependencies import need_packages

_EPILOG = """\
examples:
  actiondbg suite merge -o suite suite-1 suite-2
  actiondbg suite merge -o suite shards/*

The suites stay as they are. A command that several of them ran in the same directory counts once,
as of the last one.

exit status: 0 success, 1 error, 2 bad usage. docs/suites.md describes suites.
"""


class MergeOptions(Options):
    output: Path = option("-o", "--output", "DIR", help="the folder of the new suite")
    suites: tuple[str, ...] = positional("SUITE", required=True, help="suites to join")


@subcommand("suite merge", "-o DIR SUITE...", MergeOptions, _EPILOG)
def run(parser: LineParser[MergeOptions], argv: list[str]) -> int:
    """Join suites, such as the shards of one that several machines recorded."""
    options = parser.read_intermixed(argv)
    need_packages("actiondbg suite")
    from actiondbg.commands.render.suite import overview_lines
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.merge import merge
    from actiondbg.suite.runs import overview

    folder = SuiteFolder(options.output)
    with parser.reported_usage():
        merge([SuiteFolder(Path(path)) for path in options.suites], folder)
    for line in overview_lines(overview(folder), options.output):
        print(line)
    return 0
