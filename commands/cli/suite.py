"""``actiondbg suite``: record all runs of a test suite, and ask about all of them."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands import FAILED
from actiondbg.commands.cli import line_parser
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import (
    NoOptions,
    Options,
    flag,
    option,
    option_words,
    positional,
)
from actiondbg.commands.interpreter.values import positive, share
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.recording.errors import need_packages
from actiondbg.recording.format.structs import IRDetail
from actiondbg.support.counts import counted
from actiondbg.support.globs import check_glob
from actiondbg.support.interrupts import exit_code
from actiondbg.support.output_file import write_file

if TYPE_CHECKING:
    from actiondbg.suite.coverage import Coverage, Kind, Totals
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.recorded_suite import RecordedSuite
    from actiondbg.suite.shards import ShardOutput

COMMANDS = {  # in the order of use, with what they do
    "record": "run a driver such as lit, and record each MLIR process in it",
    "list": "list the recorded runs, and what is missing",
    "coverage": "list which patterns, passes and folds the runs applied, tried and left out",
    "merge": "join suites, such as the shards of several machines",
}


@subcommand(
    "suite",
    "COMMAND [options]",
    NoOptions,
    line_parser.group_epilog("suite", COMMANDS, "docs/suites.md"),
)
def run(parser: LineParser[NoOptions], argv: list[str]) -> int:
    """Record all runs of a test suite, and ask about all of them."""
    return line_parser.run_group(parser, argv, "suite", COMMANDS)


_RECORD_EPILOG = """\
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


class SuiteRecordOptions(Options):
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
    quiet: line_parser.Quiet = False
    follow: line_parser.Follow = None
    randomize: line_parser.Randomize = False
    without: line_parser.Without = ()
    dask: str | None = option("ADDRESS", help="record shards of lit on a Dask cluster")
    shards: int | None = option(
        "N", help="with --dask the number of shards (that of the workers)", parse=positive
    )


_OF_SUITE = ("output", "resume", "quiet", "dask", "shards")  # a shard has the other options


@subcommand(
    "suite record", "-o DIR [options] -- COMMAND ARGS...", SuiteRecordOptions, _RECORD_EPILOG
)
def record(parser: LineParser[SuiteRecordOptions], argv: list[str]) -> int:
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


def _record(options: SuiteRecordOptions, command: list[str], folder: SuiteFolder) -> RecordedSuite:
    if options.dask is not None:
        from actiondbg.suite.shards import record_shards

        return record_shards(
            command,
            folder,
            options.dask,
            _show_shard,
            print_notice,
            count=options.shards,
            options=option_words(options, without=_OF_SUITE),
            resume=options.resume,
        )
    from actiondbg.suite.recorded_suite import record_suite

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


def _show_shard(shard: ShardOutput) -> None:
    print_notice(f"Shard {shard.name}:")
    for stream, text in ((sys.stdout, shard.output), (sys.stderr, shard.errors)):
        stream.write(text.decode(errors="replace"))
        stream.flush()


_LIST_EPILOG = """\
examples:
  actiondbg suite list suite
  actiondbg suite list suite --missing
  actiondbg query suite "select test, seconds from runs order by seconds desc limit 10"

exit status: 0 success, 1 error, 2 bad usage. docs/suites.md describes suites.
"""


class SuiteListOptions(Options):
    suite: Path = positional("DIR", help="a suite")
    missing: bool = flag(help="only runs without a recording, or with an incomplete one, and why")
    json: bool = flag(help="print one JSON object a line")


@subcommand("suite list", "DIR [options]", SuiteListOptions, _LIST_EPILOG)
def list_(parser: LineParser[SuiteListOptions], argv: list[str]) -> int:
    """List the runs of a suite: how each ended, and which test it belongs to."""
    options = parser.read(argv)
    need_packages("actiondbg suite")
    from actiondbg.commands.render.suite import overview_lines, run_lines, test_or_command
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.runs import list_runs, overview

    folder = SuiteFolder(options.suite)
    runs = list_runs(folder)
    if options.missing:
        runs = [each for each in runs if each.missing is not None]
    if options.json:
        import msgspec

        for each in runs:
            print(json.dumps(msgspec.to_builtins(each)))
        return 0
    if options.missing:
        for each in runs:
            print(f"{each.run}  {test_or_command(each)}: {each.missing}")
        return 0
    for line in run_lines(runs):
        print(line)
    for line in overview_lines(overview(folder), options.suite):
        print(line)
    return 0


_COVERAGE_EPILOG = """\
examples:
  actiondbg suite coverage suite
  actiondbg suite coverage suite --kind pattern --state never --all
  actiondbg suite coverage suite --only 'AddI*' --json
  actiondbg suite coverage suite --html coverage.html --sources llvm-project/mlir/lib
  actiondbg suite coverage after --against before
  actiondbg suite coverage suite --kind pattern --fail-under 80

A pattern or fold applies if it reports success, a pass if it changes the IR. Patterns that a run
had in a set and never tried count.

exit status: 0 success; 1 the share of --fail-under was not reached, or an error; 2 bad usage.
docs/suites.md describes suites.
"""


class CoverageOptions(Options):
    suite: Path = positional("DIR", help="a suite")
    kind: Literal["pattern", "pass", "fold"] | None = option(
        help="only patterns, passes, or the folds of operations"
    )
    state: Literal["applied", "tried", "never"] | None = option(
        help="only what was applied; tried, but never applied; never tried"
    )
    only: str | None = option("GLOB", help="only names that match")
    count: int = option(
        "-n", "--count", "N", default=10, help="entries of each list, 10 by default", parse=positive
    )
    all: bool = flag(help="all entries")
    json: bool = flag(help="print one JSON object, with all entries")
    html: Path | None = option("FILE", help="write an HTML page as well")
    sources: tuple[Path, ...] = option(
        "DIR", help="show where patterns are defined in the C++ and TableGen of DIR; repeatable"
    )
    against: Path | None = option(
        "OTHER", help="list what differs from another suite, such as the one before a change"
    )
    fail_under: float | None = option(
        "PERCENT",
        help="exit with status 1 if less of the patterns was applied, or of the kind of --kind",
        parse=share,
    )


@subcommand("suite coverage", "DIR [options]", CoverageOptions, _COVERAGE_EPILOG)
def coverage_(parser: LineParser[CoverageOptions], argv: list[str]) -> int:
    """List the patterns, passes and folds that the runs of a suite applied, tried in vain, and
    never tried.
    """
    options = parser.read(argv)
    need_packages("actiondbg suite")
    from actiondbg.commands.render.suite import (
        KINDS,
        coverage_json,
        coverage_lines,
        difference_json,
        difference_lines,
    )
    from actiondbg.suite.coverage import STATES, coverage, differences
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.pattern_sources import locate_patterns

    kinds = KINDS if options.kind is None else (options.kind,)
    states = STATES if options.state is None else (options.state,)
    most = None if options.all else options.count
    if options.only is not None:
        check_glob(options.only, options.only, 0)
    found = coverage(SuiteFolder(options.suite), options.only)
    if options.sources:
        locate_patterns(found, options.sources)
    before = None
    if options.against is not None:
        before = coverage(SuiteFolder(options.against), options.only)
    changed = [] if before is None else differences(found, before)
    changed = [one for one in changed if one.kind in kinds]
    if options.json:
        answer = coverage_json(found, kinds, states)
        if before is not None:
            answer["differences"] = difference_json(changed)
        print(json.dumps(answer))
    elif before is not None:
        _warn((options.against, before), (options.suite, found))
        print("\n".join(difference_lines(changed, most)))
    else:
        print("\n".join(coverage_lines(found, kinds, states, most)))
    if options.html is not None:
        from actiondbg.commands.render.suite import coverage_page

        write_file(options.html, coverage_page(found, kinds, changed, str(options.suite)))
    if options.fail_under is None:
        return 0
    judged = options.kind or "pattern"
    failure = _failure(found.totals(judged), judged, options.fail_under)
    if failure is not None:
        print_notice(failure)
    return 0 if failure is None else FAILED


def _warn(*suites: tuple[Path | None, Coverage]) -> None:
    """Print what suites lack, which may be why entries differ."""
    from actiondbg.commands.render.suite import missing_sentences

    for folder, found in suites:
        for sentence in missing_sentences(found):
            print_notice(f"{folder}: {sentence}")


def _failure(totals: Totals, kind: Kind, least: float) -> str | None:
    """Return why the share that was applied is too low; None if it is not."""
    if not totals.all:
        return f"No run had a {kind} of which a share could be applied."
    if totals.percent >= least:
        return None
    share = f"{totals.applied:,} of {counted(totals.all, kind)}"
    return f"{totals.percent:.1f} % is below {least:g} %: {share} applied."


_MERGE_EPILOG = """\
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


@subcommand("suite merge", "-o DIR SUITE...", MergeOptions, _MERGE_EPILOG)
def merge_(parser: LineParser[MergeOptions], argv: list[str]) -> int:
    """Join suites, such as the shards of one that several machines recorded."""
    options = parser.read_intermixed(argv)
    need_packages("actiondbg suite")
    from actiondbg.commands.render.suite import overview_lines
    from actiondbg.suite.folder import SuiteFolder
    from actiondbg.suite.runs import merge, overview

    folder = SuiteFolder(options.output)
    merge([SuiteFolder(Path(path)) for path in options.suites], folder)
    for line in overview_lines(overview(folder), options.output):
        print(line)
    return 0
