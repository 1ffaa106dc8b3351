"""``actiondbg trace -o FILE [options] (RUN.adbrec | -- TOOL ARGS...)``."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import sys
from collections.abc import Generator
from importlib import import_module
from typing import TYPE_CHECKING

from actiondbg.commands.cli import line_parser, recorded_tool
from actiondbg.commands.cli.line_parser import SUFFIX, LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, option
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.recording.trace.options import (
    Failed,
    Format,
    SliceSelection,
    check_output,
    format_of,
)
from actiondbg.support.counts import NANOSECONDS, counted
from actiondbg.support.output_file import writing
from actiondbg.support.scratch_directory import scratch_directory

if TYPE_CHECKING:
    from actiondbg.recording.trace.writer import Progress, Written

_OPEN_WITH: dict[Format, str] = {
    "chrome": "open it in https://ui.perfetto.dev or chrome://tracing",
    "perfetto": "open it in https://ui.perfetto.dev",
    "tracy": "convert it for Tracy with tracy-import-chrome",
    "folded": "draw it with flamegraph.pl, or open it in https://speedscope.app",
}
_EPILOG = """\
examples:
  actiondbg trace -o run.json -- mlir-opt in.mlir --canonicalize
  actiondbg trace -o run.pftrace --min-duration 10us -- mlir-opt in.mlir --canonicalize
  actiondbg trace -o run.json.gz --filter 'func:sum' --failed keep run.adbrec

The suffix selects the format, unless --format does: .json for Chrome, .pftrace or .perfetto-trace
for Perfetto, .tracy.json for import into Tracy, .folded for flame graphs; .gz compresses (.zst for
Tracy).

exit status: 0, or that of the tool if one was run (128 + N for a signal); 1 error, 2 bad usage,
3 the tool could not be started. docs/trace.md describes traces.
"""


def _nanoseconds(text: str) -> int:
    if text == "0":
        return 0
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ns|us|ms|s)", text)
    nanoseconds = math.inf if match is None else float(match[1]) * NANOSECONDS[match[2]]
    if nanoseconds == math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 10us (ns, us, ms, s)")
    return round(nanoseconds)


class TraceOptions(Options):
    output: str = option("-o", "--output", "FILE", help="the trace to write")
    format: Format | None = option(help="the format; by default from the suffix of FILE")
    min_duration: int = option(
        "TIME",
        default=0,
        help="leave out shorter actions; a time such as 10us (ns, us, ms, s)",
        parse=_nanoseconds,
    )
    failed: Failed = option(
        default="fold",
        help="fold consecutive failed attempts on an operation into one slice (default), keep "
        "them, or drop them",
    )
    filter: tuple[str, ...] = option(
        "SPEC",
        help="only actions that match a SPEC [if EXPR] of 'break', and their parents; "
        "repeatable: any of them",
    )
    partial: line_parser.Partial = False
    quiet: line_parser.Quiet = False
    follow: line_parser.Follow = None
    randomize: line_parser.Randomize = False
    skip: line_parser.Skip = ()


@subcommand("trace", "-o FILE [options] (RUN.adbrec | -- TOOL ARGS...)", TraceOptions, _EPILOG)
def run(parser: LineParser[TraceOptions], argv: list[str]) -> int:
    """Write a trace of the actions of a tool, for Perfetto, Chrome, Tracy or a flame graph."""
    options, tool, recorded = parser.read_with_target(argv)
    parser.need_target(tool, "-o FILE -- TOOL ARGS...")
    kind: Format = options.format or format_of(options.output)
    check_output(options.output, kind)
    check_overwritten(options.output, tool)
    from actiondbg.recording.query.filters import where_any

    selection = SliceSelection(options.failed, options.min_duration, where_any(options.filter))
    need_packages("actiondbg trace")
    trace = _trace_recording if recorded else _trace_tool
    return trace(tool, options, kind, selection)


def _trace_recording(
    words: list[str], options: TraceOptions, kind: Format, selection: SliceSelection
) -> int:
    from actiondbg.recording.trace.writer import write_trace

    with _progress(options.quiet) as progress, writing(options.output):
        written = write_trace(
            words[0],
            options.output,
            kind,
            selection,
            partial=options.partial,
            progress=progress,
        )
    recorded_tool.print_cut(words[0], written.cut)
    _report(written, options, kind)
    return 0


def _trace_tool(
    tool: list[str], options: TraceOptions, kind: Format, selection: SliceSelection
) -> int:
    from actiondbg.recording.capture.recorder import start_recording

    with scratch_directory("trace") as directory:
        started = start_recording(
            tool,
            directory / f"run{SUFFIX}",
            follow=options.follow,
            randomize=options.randomize,
            skip=options.skip,
        )
        with recorded_tool.forward_interrupts(started) as running:
            # Imported here, as the import takes long and the tool runs meanwhile.
            from actiondbg.recording.trace.writer import trace_run

            if selection.where is not None:
                import_module("actiondbg.recording.query.database")
            with writing(options.output):
                done, written = trace_run(running, options.output, kind, selection)
        status = recorded_tool.print_ending(done)
    recorded_tool.print_others(done)
    if written is None:
        print_notice(f"There is nothing to trace: {recorded_tool.without_context(done)}.")
    else:
        _report(written, options, kind)
    return status


# --- messages ---------------------------------------------------------------------


def _report(written: Written, options: TraceOptions, kind: Format) -> None:
    if not options.quiet:
        threads = f", {written.threads} threads" if written.threads > 1 else ""
        print_notice(
            f"{options.output}: {counted(written.slices, 'slice')} of "
            f"{counted(written.actions, 'action')}{threads}; {_OPEN_WITH[kind]}."
        )


@contextlib.contextmanager
def _progress(quiet: bool) -> Generator[Progress]:
    """Yield a function that shows the progress on a terminal."""
    line = ProgressLine(sys.stderr, enabled=not quiet)
    with line.shown("tracing ..."):
        yield lambda done, total: line.change(f"tracing {100 * done // total}%")
