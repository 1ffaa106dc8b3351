"""``actiondbg suite coverage DIR``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands import FAILED
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.error_text import write_file
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.interpreter.values import positive, share
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.recording.dependencies import need_packages
from actiondbg.support.counts import counted
from actiondbg.support.globs import check_glob

if TYPE_CHECKING:
    from actiondbg.suite.coverage import Coverage, Kind, Totals

_EPILOG = """\
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


@subcommand("suite coverage", "DIR [options]", CoverageOptions, _EPILOG)
def run(parser: LineParser[CoverageOptions], argv: list[str]) -> int:
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
    with parser.reported_usage():
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
