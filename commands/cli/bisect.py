"""``actiondbg bisect [options] -- TOOL ARGS...``."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path

from actiondbg.commands.cli.line_parser import LineParser, NoColor, Without, subcommand
from actiondbg.commands.interpreter.options import flag
from actiondbg.commands.interpreter.oracle_options import build_oracle
from actiondbg.commands.render.bisection import bisection_text, progress_display
from actiondbg.commands.render.diff import stdout_paint
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.commands.shell.bisection import BisectOptions, interruption_message, prepared_search

NOT_FOUND = 1  # exit code
_EPILOG = """\
examples:
  actiondbg bisect --test './judge.sh {}' -- mlir-opt in.mlir --canonicalize
  actiondbg bisect --execute -- mlir-opt in.mlir --affine-loop-fusion
  actiondbg bisect --filecheck expected.mlir -j 2 -- mlir-opt in.mlir --canonicalize --cse
  mlir-opt in.mlir -A | actiondbg bisect --test 'mlir-opt -C {} | ./judge.sh' -- mlir-opt -B

exit status: 0 found, 1 not found or error, 2 bad usage, 3 the tool could not be started.
docs/bisect.md explains reports and untestable verdicts.
"""


class BisectCommandLine(BisectOptions):
    json: bool = flag(help="print one JSON object")
    without: Without = ()
    no_color: NoColor = False


@subcommand("bisect", "[options] -- TOOL ARGS...", BisectCommandLine, _EPILOG)
def run(parser: LineParser[BisectCommandLine], argv: list[str]) -> int:
    """Find the action that miscompiles a program or crashes the tool."""
    ours, tool = parser.split(argv)
    options = parser.read(ours)
    if not tool:
        parser.error("the tool is missing: actiondbg bisect [options] -- TOOL ARGS...")
    from actiondbg.bisection.api import opened_folder

    oracle, search = build_oracle(options), prepared_search(options)
    with opened_folder(options.output, Path(tool[0]).name, options.resume) as folder:
        try:
            with progress_display(sys.stderr, quiet=options.json) as progress:
                result = search(
                    tool, oracle, output=folder, without=options.without, progress=progress
                )
        except KeyboardInterrupt:
            print_notice(interruption_message(folder, "-o"))
            return 128 + signal.SIGINT
    if options.json:
        print(json.dumps(result.as_json(), ensure_ascii=False))
    else:
        screen = shutil.get_terminal_size() if sys.stdout.isatty() else None
        print(bisection_text(result, stdout_paint(options.no_color), screen))
    # An answer without its report, as on a full disk, is printed, and is an error.
    return 0 if result.found and result.reproducer is not None else NOT_FOUND
