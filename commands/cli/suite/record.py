"""``actiondbg suite record -o DIR [options] -- COMMAND``."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from actiondbg.commands.cli.child_process import exit_code
from actiondbg.commands.cli.line_parser import (
    Follow,
    LineParser,
    Quiet,
    Randomize,
    Without,
    subcommand,
)
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import FileNotWritten
from actiondbg.recording.capture.recorder import IRDetail
from actiondbg.recording.dependencies import need_packages

_EPILOG = """\
examples:
  actiondbg suite record -o suite -- llvm-lit -j8 test
  actiondbg suite record -o suite -- ninja check-mlir
  actiondbg suite record -o suite --limit 2G -- pytest -n 4 tests
  actiondbg suite record -o suite --resume -- llvm-lit test --filter canonicalize
  actiondbg suite coverage suite

The driver runs as it does without actiondbg, in parallel if it does so. Each process of it that
makes an MLIR context writes a recording of its own.

exit status: that of the driver (128 + N for a signal); 1 error, 2 bad usage, 3 the driver could not
be started. docs/suites.md describes suites.
"""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, such as 500M or 2G")
    return int(float(match[1]) * _UNITS[match[2].lower()])


class RecordOptions(Options):
    """The options of ``actiondbg suite record``."""

    output: Path = option("-o", "--output", "DIR", help="the folder of the suite")
    resume: bool = flag(
        help="add to a suite; a command that runs again replaces its earlier recording"
    )
    limit: int | None = option(
        "SIZE",
        help="stop recording, not the driver, when the recordings have this size, such as 2G",
        parse=_size,
    )
    ir: IRDetail = option(
        default="none", help="record IR as actiondbg record does; none by default"
    )
    quiet: Quiet = False
    follow: Follow = None
    randomize: Randomize = False
    without: Without = ()


@subcommand("suite record", "-o DIR [options] -- COMMAND ARGS...", RecordOptions, _EPILOG)
def run(parser: LineParser[RecordOptions], argv: list[str]) -> int:
    """Run a test driver, and record all actions of each MLIR process in it."""
    ours, command = parser.split(argv)
    options = parser.read(ours)
    if not command:
        parser.error("the command is missing: actiondbg suite record -o DIR -- COMMAND ARGS...")
    need_packages("actiondbg suite")
    from actiondbg.suite.capture import record_suite
    from actiondbg.suite.folder import SuiteFolder

    folder = SuiteFolder(options.output)
    with parser.reported_usage():
        done = record_suite(
            command,
            folder,
            ir=options.ir,
            limit=options.limit,
            resume=options.resume,
            follow=options.follow,
            randomize=options.randomize,
            without=options.without,
        )
    # Imported here, as the packages for the index take a while.
    from actiondbg.commands.render.suite.runs import overview_lines
    from actiondbg.suite.index import build_index
    from actiondbg.suite.runs import overview

    try:
        build_index(folder)
    except (FileNotWritten, OSError) as error:
        # The result of the driver counts; the next command on the suite writes the index.
        print_notice(f"The index of {options.output} was not written: {error}")
        return exit_code(done.status)
    found = overview(folder)
    if not options.quiet or found.is_incomplete:
        for line in overview_lines(found, options.output, done.seconds):
            print_notice(line)
    return exit_code(done.status)
