"""``actiondbg suite record -o DIR [options] -- COMMAND``."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.recording.capture.recorder import IRDetail
from actiondbg.recording.dependencies import need_packages

if TYPE_CHECKING:
    from actiondbg.suite.capture import RecordedSuite
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.shards import ShardOutput

_EPILOG = """\
examples:
  actiondbg suite record -o suite -- llvm-lit -j8 test
  actiondbg suite record -o suite -- ninja check-mlir
  actiondbg suite record -o suite --limit 2G -- pytest -n 4 tests
  actiondbg suite record -o suite --resume -- llvm-lit test --filter canonicalize
  actiondbg suite record -o suite --dask tcp://10.0.0.1:8786 -- llvm-lit test
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
    dask: str | None = option("ADDRESS", help="record shards of lit on a Dask cluster")
    shards: int | None = option(
        "N", help="with --dask the number of shards (that of the workers)", parse=positive
    )


@subcommand("suite record", "-o DIR [options] -- COMMAND ARGS...", RecordOptions, _EPILOG)
def run(parser: LineParser[RecordOptions], argv: list[str]) -> int:
    """Run a test driver, and record all actions of each MLIR process in it."""
    ours, command = parser.split(argv)
    options = parser.read(ours)
    if not command:
        parser.error("the command is missing: actiondbg suite record -o DIR -- COMMAND ARGS...")
    if options.shards is not None and options.dask is None:
        parser.error("--shards needs --dask: a machine alone records the suite at once")
    need_packages("actiondbg suite")
    from actiondbg.suite.folder import SuiteFolder

    folder = SuiteFolder(options.output)
    with parser.reported_usage():
        done = _record(options, command, folder)
    # Imported here, as the packages for the index take a while.
    from actiondbg.commands.render.suite import overview_lines
    from actiondbg.suite.index import is_indexed
    from actiondbg.suite.runs import overview

    found = overview(folder)
    if not is_indexed(folder):
        # The result of the driver counts; the next command on the suite writes the index.
        print_notice(
            f"The index of {options.output} could not be written: free disk space, so that not "
            "each command on the suite makes it anew."
        )
    if not options.quiet or found.is_incomplete:
        for line in overview_lines(found, options.output, done.seconds):
            print_notice(line)
    return exit_code(done.status)


def _record(options: RecordOptions, command: list[str], folder: SuiteFolder) -> RecordedSuite:
    if options.dask is not None:
        from actiondbg.suite.shards import record_shards

        return record_shards(
            command,
            folder,
            options.dask,
            _show_shard,
            print_notice,
            count=options.shards,
            options=_words(options),
            resume=options.resume,
        )
    from actiondbg.suite.capture import record_suite

    return record_suite(
        command,
        folder,
        ir=options.ir,
        limit=options.limit,
        resume=options.resume,
        follow=options.follow,
        randomize=options.randomize,
        without=options.without,
    )


def _words(options: RecordOptions) -> list[str]:
    words = ["--ir", options.ir]
    words += [] if options.limit is None else ["--limit", str(options.limit)]
    words += [] if options.follow is None else ["--follow", options.follow]
    words += ["--randomize"] if options.randomize else []
    return words + [word for name in options.without for word in ("--without", name)]


def _show_shard(shard: ShardOutput) -> None:
    print_notice(f"Shard {shard.name}:")
    for stream, text in ((sys.stdout, shard.output), (sys.stderr, shard.errors)):
        stream.write(text.decode(errors="replace"))
        stream.flush()
