"""``actiondbg report [options] (RUN.adbrec | -- TOOL ARGS...)``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.cli import line_parser
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.cli.recorded_tool import RecordedSource, open_source, print_cut
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.format.structs import IRDetail
from actiondbg.recording.overwrite_protection import check_output
from actiondbg.support.counts import counted, size_text
from actiondbg.support.output_file import write_file

if TYPE_CHECKING:
    pass

_IR: IRDetail = "changed"  # for the diffs, when a tool is recorded
_MARK = b'<meta name="generator" content="actiondbg report">'
_HEAD = 2048  # bytes at the start of a page that contain the mark
_EPILOG = """\
examples:
  actiondbg report run.adbrec -o report.html
  actiondbg report run.adbrec --cost perf.txt --module snapshot.mlir -o report.html
  actiondbg report --lineage -- mlir-opt in.mlir --canonicalize -o /dev/null
  actiondbg report --filter context:c1 -o kernel.html run.adbrec
  actiondbg report --ir function -o report.html -- mlir-opt in.mlir --canonicalize -o /dev/null

exit status: 0, or that of the tool if one was run (128 + N for a signal); 1 error, 2 bad usage,
3 the tool could not be started. docs/report.md explains the page.
"""


def _megabytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 500:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.5 to 500")
    return value


class ReportOptions(Options):
    output: Path = option(
        "-o",
        "--output",
        "FILE.html",
        default=Path("report.html"),
        help="the page; report.html by default",
    )
    ir: IRDetail | None = option(help=f"the IR to record for diffs; {_IR} by default")
    filter: tuple[str, ...] = option(
        "SPEC",
        help="only actions that match a SPEC [if EXPR] of 'break', and those inside of them; "
        "repeatable: any of them",
    )
    size: float = option(
        "MB", default=5.0, help="the maximum size of the page; 5 by default", parse=_megabytes
    )
    cost: Path | None = option(
        "PROFILE", help="add what each operation of the input costs at run time, by a profile"
    )
    module: tuple[str, ...] = option(
        "FILE[=STAGE]", help="of --cost: the file to which debug info points"
    )
    lineage: bool = flag(help="record what operations became, which the page then shows")
    partial: line_parser.Partial = False
    quiet: line_parser.Quiet = False
    follow: line_parser.Follow = None
    randomize: line_parser.Randomize = False
    skip: line_parser.Skip = ()


@subcommand("report", "[options] (RUN.adbrec | -- TOOL ARGS...)", ReportOptions, _EPILOG)
def run(parser: LineParser[ReportOptions], argv: list[str]) -> int:
    """Write a self-contained HTML page about a recording or a run."""
    options, tool, recorded = parser.read_with_target(argv)
    parser.need_target(tool, "RUN.adbrec -o report.html")
    if recorded and options.ir is not None:
        parser.error(f"--ir needs a tool, but {tool[0]} is a recording")
    need_packages("actiondbg report")
    from actiondbg.recording.query.filters import where_any

    _check_output(options.output)
    where_any(options.filter)
    with open_source(
        tool,
        "report",
        partial=options.partial,
        ir=options.ir or _IR,
        follow=options.follow,
        randomize=options.randomize,
        skip=options.skip,
        lineage=options.lineage or options.cost is not None,
        modules=("actiondbg.recording.report", "actiondbg.recording.query.database"),
    ) as source:
        return _report(source, options)


def _report(source: RecordedSource, options: ReportOptions) -> int:
    from actiondbg.recording.report import report_page

    if source.status is None:
        print_cut(source.recording.path, source.recording.cut)
    sections, script = _sections(source, options)
    page = report_page(
        source.recording,
        options.size,
        is_kept=source.status is None,
        filters=options.filter,
        sections=sections,
        script=script,
    )
    content = page.html.encode(errors="replace")
    write_file(options.output, content)
    if not options.quiet:
        size = size_text(len(content))
        count = f"{page.actions:,} of " if options.filter else ""
        every = source.recording.count
        print_notice(f"{count}{counted(every, 'action')} in {options.output} ({size}).")
    return source.status or 0


def _sections(source: RecordedSource, options: ReportOptions) -> tuple[list[str], str]:
    """Return the sections that only the lineage of the recording answers, and their script."""
    recording, sections, script = source.recording, list[str](), ""
    kinds = {stage.kind for stage in recording.stages} if recording.header.lineage else set[str]()
    is_whole = {"input", "output"} <= kinds  # not of a run that failed
    if not is_whole and options.cost is None:
        return sections, script
    from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage

    if is_whole:
        from actiondbg.lineage.pictures.sankey import flows_title, sankey_script, sankey_section
        from actiondbg.lineage.questions.flows import flows

        found = flows(RecordedLineage(recording))
        shown = sankey_section(found, flows_title(found))
        sections.append(f"<h2>What operations became</h2>\n{shown}")
        script = sankey_script()
    if options.cost is not None:
        from actiondbg.commands.cli.cost import modules_of
        from actiondbg.commands.render.cost import cost_section
        from actiondbg.lineage.cost import attribute
        from actiondbg.lineage.profiles import read_profile

        profile, lineage = read_profile(options.cost), RecordedLineage(recording)
        cost = attribute(profile, lineage, modules_of(lineage, options.module))
        sections.append(cost_section(cost))
    return sections, script


def _check_output(path: Path) -> None:
    check_output(path)
    if path.is_dir():
        raise UsageError(f"{str(path)!r} is a directory: name a file with -o.")
    if not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head and _MARK not in head:
        raise UsageError(f"{str(path)!r} exists and is not a report: name another file with -o.")
