"""``actiondbg stat [options] -- TOOL ARGS...``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from actiondbg.commands.cli.line_parser import Follow, LineParser, Partial, Randomize, subcommand
from actiondbg.commands.cli.recorded_tool import RecordedSource, open_source
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.interpreter.values import bucket_count, index, milliseconds
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_output
from actiondbg.recording.statistics.sort_keys import PLAIN_KEYS, check_key
from actiondbg.statistics.event_probe import choose, try_event
from actiondbg.statistics.events import DEFAULT, listed_events
from actiondbg.support.globs import check_glob
from actiondbg.support.output_file import write_file, writing

if TYPE_CHECKING:
    from actiondbg.recording.statistics.run_measurement import Measured

_MODULES = ("actiondbg.recording.statistics.run_measurement", "actiondbg.commands.render.stat")
_PICTURES = (".pdf", ".png", ".svg")
_EPILOG = """\
examples:
  actiondbg stat -- mlir-opt in.mlir --canonicalize -o /dev/null
  actiondbg stat --self --sort page-faults -- mlir-opt in.mlir --canonicalize -o /dev/null
  actiondbg stat --name 'AddI*' --plot addi.png -- mlir-opt in.mlir --canonicalize -o /dev/null
  actiondbg record --events default -o run.adbrec -- mlir-opt in.mlir --canonicalize
  actiondbg stat --csv raw run.adbrec

The result goes to stderr for a tool, which has stdout, and to stdout for a recording.

exit status: that of the tool (128 + N for a signal); 0 for a recording; 1 error, 2 bad usage,
3 the tool could not be started. docs/stat.md explains the output.
"""


class StatOptions(Options):
    events: str | None = option(
        "LIST",
        help="comma-separated events, 'default' (those that this machine supports) or 'none'",
    )
    list_events: bool = flag(help="list the events, and whether this machine supports them")
    name: str | None = option("GLOB", help="print statistics of actions of this name")
    buckets: int = option(
        "N",
        default=16,
        help="the number of quantile buckets of --name; 16 by default",
        parse=bucket_count,
    )
    no_tables: bool = flag(help="leave out the tables of probabilities of --name")
    plot: Path | None = option("FILE.png", help="plot the statistics of --name")
    own: bool = flag("--self", help="exclude the cost of nested actions")
    filter: tuple[str, ...] = option(
        "SPEC", help="only actions that match a SPEC [if EXPR] of 'break'; repeatable: any of them"
    )
    skip_start: float = option(
        "MS",
        default=0.0,
        help="exclude actions that begin in the first MS milliseconds",
        parse=milliseconds,
    )
    sort: str = option(
        "KEY",
        default="duration",
        help=f"sort by duration (default), {', '.join(PLAIN_KEYS)}, EVENT, duration/call or "
        "EVENT/call",
    )
    limit: int = option(
        "N", default=30, help="the number of names to list, 0 for all; 30 by default", parse=index
    )
    csv: Path | None = option("DIR", help="write the samples to DIR/samples.csv")
    json: bool = flag(help="print one JSON object")
    output: Path | None = option("-o", "--output", "FILE", help="write the result to a file")
    partial: Partial = False
    follow: Follow = None
    randomize: Randomize = False


@subcommand("stat", "[options] (-- TOOL ARGS... | RUN.adbrec)", StatOptions, _EPILOG)
def run(parser: LineParser[StatOptions], argv: list[str]) -> int:
    """Measure the cost of actions: time, page faults, cycles, cache misses and other events."""
    options, tool, recorded = parser.read_with_target(argv)
    if options.list_events:
        from actiondbg.commands.render.events import event_lines

        print(event_lines(map(try_event, listed_events())))
        return 0
    parser.need_target(tool)
    if recorded and options.events is not None:
        parser.error(f"--events needs a tool, but {tool[0]} is a recording")
    _check(options, tool)
    with open_source(
        tool,
        "measure",
        partial=options.partial,
        events=() if recorded else _events(options),
        follow=options.follow,
        randomize=options.randomize,
        modules=_MODULES,
    ) as source:
        return _measure(source, options)


# --- measuring --------------------------------------------------------------------


def _measure(source: RecordedSource, options: StatOptions) -> int:
    from actiondbg.recording.statistics.run_measurement import MeasuredSelection, measure

    check_key(options.sort, source.recording.header.events)
    selection = MeasuredSelection(
        options.name,
        options.buckets,
        options.own,
        options.skip_start,
        options.sort,
        options.filter,
    )
    measured = measure(source.recording, selection)
    _write(measured, options, sys.stdout if source.status is None else sys.stderr)
    return source.status or 0


def _check(options: StatOptions, tool: Sequence[str]) -> None:
    need_packages("actiondbg stat")
    if options.plot is not None:
        _check_plot(options, options.plot)
    if options.name is not None:
        check_glob(options.name, options.name, 0)
    if options.filter:
        from actiondbg.recording.query.filters import where_any

        where_any(options.filter)
    if options.csv is not None and options.csv.exists() and not options.csv.is_dir():
        raise UsageError(f"{str(options.csv)!r} is not a directory: name one for --csv.")
    for path in (options.plot, options.output):
        if path is not None:
            check_output(path, tool)


def _check_plot(options: StatOptions, plot: Path) -> None:
    need_packages("--plot", ("matplotlib",), "plot")
    if options.name is None:
        raise UsageError("--plot plots the statistics of --name GLOB: give --name as well.")
    if plot.suffix not in _PICTURES:
        raise UsageError(
            f"{str(plot)!r} has no supported image format: end its name in one of "
            f"{', '.join(_PICTURES)}."
        )


def _events(options: StatOptions) -> list[str]:
    """Return the events to count; raise UsageError before the tool runs if one is unsupported."""
    events = [event.name for event in choose((options.events or DEFAULT).split(","))]
    check_key(options.sort, events)
    return events


def _write(measured: Measured, options: StatOptions, out: TextIO) -> None:
    if options.csv is not None:
        from actiondbg.recording.statistics.samples import write_csv

        with writing(options.csv):
            write_csv(measured.samples, options.csv)
    if options.plot is not None and measured.statistics is not None:
        from actiondbg.recording.statistics.plot import write_plot

        with writing(options.plot):
            write_plot(measured.statistics, options.plot)
    if options.json:
        text = json.dumps(measured.as_json(), ensure_ascii=False)
    else:
        from actiondbg.commands.render.stat import stat_text

        text = stat_text(measured, options.limit, tables=not options.no_tables)
    if options.output is not None:
        write_file(options.output, f"{text}\n")
    else:
        print(text, file=out)
