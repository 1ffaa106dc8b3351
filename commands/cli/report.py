"""``actiondbg report [options] (RUN.adbrec | -- TOOL ARGS...)``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Annotated

from actiondbg.commands.cli.child_process import print_cut, print_notice
from actiondbg.commands.cli.line_parser import LineParser, MlirInclude, Partial, Quiet
from actiondbg.commands.cli.output_file import writing
from actiondbg.commands.cli.recording_source import Source, source_of
from actiondbg.commands.interpreter.options import Option, Options
from actiondbg.errors import UsageError
from actiondbg.recording.capture.recorder import IRDetail
from actiondbg.recording.dependencies import need_packages
from actiondbg.recording.overwrite import check_overwritten
from actiondbg.support.atomic_write import write_whole

_IR: IRDetail = "changed"  # of a tool that is run: else there were no diffs
_MARK = b'<meta name="generator" content="actiondbg report">'
_HEAD = 2048  # bytes of a page in which the mark is
_EPILOG = """\
examples:
  actiondbg report run.adbrec -o report.html
  actiondbg report --ir function -o report.html -- mlir-opt in.mlir --canonicalize -o /dev/null

exit status: 0, or the tool's if one was run (128 + N for a signal); 1 an error, 2 bad usage, 3 the
tool could not be started. docs/report.md says how to read the page.
"""


def _megabytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 500:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0.5 to 500")
    return value


class ReportOptions(Options):
    """The options of ``actiondbg report``."""

    output: Annotated[
        Path,
        Option(
            "--output",
            "FILE.html",
            help="the page, report.html by default",
            short="-o",
            parse=Path,
        ),
    ] = Path("report.html")
    ir: Annotated[
        IRDetail | None,
        Option("--ir", help=f"which IR of the tool is kept, for the diffs: {_IR} by default"),
    ] = None
    size: Annotated[
        float,
        Option(
            "--size",
            "MB",
            help="how large the page may be: a larger one leaves out less; 5 by default",
            parse=_megabytes,
        ),
    ] = 5.0
    partial: Partial = False
    quiet: Quiet = False
    mlir_include: MlirInclude = None


def build_parser() -> LineParser[ReportOptions]:
    """Return the parser of the options; TOOL and its arguments are cut off before."""
    return LineParser(
        ReportOptions,
        "actiondbg report",
        "[options] (RUN.adbrec | -- TOOL ARGS...)",
        "Make one page of a recording that a browser shows, with no other file.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word report; return the exit code.

    Raises:
        ActiondbgError: there is no recording, or the page could not be written.
    """
    parser = build_parser()
    options, tool, is_made = parser.read_around(argv)
    if not tool:
        parser.error("name a recording or a tool: actiondbg report RUN.adbrec -o report.html")
    if is_made and options.ir is not None:
        parser.error(f"--ir is for a tool that is run: {tool[0]} is recorded already")
    need_packages("actiondbg report")
    try:
        _check_output(options.output)
    except UsageError as error:
        parser.error(str(error))
    with source_of(
        tool,
        "report",
        partial=options.partial,
        ir=options.ir or _IR,
        mlir_include=options.mlir_include,
        modules=("actiondbg.recording.report", "actiondbg.recording.query.database"),
    ) as source:
        return _report(source, options)


def _report(source: Source, options: ReportOptions) -> int:
    """Write the page; return the exit code."""
    from actiondbg.recording.report import report_page

    if source.status is None:
        print_cut(source.recording.path, source.recording.cut)
    page = report_page(source.recording, options.size, is_kept=source.status is None)
    content = page.encode(errors="replace")
    with writing(options.output):
        write_whole(options.output, content)
    if not options.quiet:
        size = f"{len(content) / 1e6:.1f} MB"
        count = f"{source.recording.count:,} actions in {options.output} ({size})"
        print_notice(f"{count}.")
    return source.status or 0


def _check_output(path: Path) -> None:
    """Refuse, before a tool is run for nothing, what cannot be a report.

    Raises:
        UsageError: something else would be lost, or its directory is not there.
    """
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{str(path)!r} cannot be written: its directory is not there.")
    check_overwritten(path)
    if path.is_dir():
        raise UsageError(f"{str(path)!r} is a directory: name a file with -o.")
    if not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head and _MARK not in head:
        raise UsageError(
            f"{str(path)!r} is no report, and is not overwritten: name another file with -o."
        )
