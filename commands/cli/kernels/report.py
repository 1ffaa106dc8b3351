"""``actiondbg kernels report [options] A.csv [B.csv]``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from actiondbg.commands.cli.kernels.options import switch
from actiondbg.commands.cli.line_parser import LineParser, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.interpreter.values import percent
from actiondbg.commands.render.kernels.rows import (
    report_comparison_lines,
    report_comparison_object,
    report_lines,
    report_object,
)
from actiondbg.commands.render.terminal.output import print_notice, print_result, terminal_width
from actiondbg.errors import UsageError
from actiondbg.kernels.execution.kernel_process import KernelProcess
from actiondbg.kernels.generated import GeneratedFolder
from actiondbg.kernels.profiling.profiler import remeasure
from actiondbg.kernels.results.csv_file import read_csv
from actiondbg.kernels.results.entry import Entry
from actiondbg.kernels.results.report_comparison import ReportComparison, compare
from actiondbg.kernels.results.report_files import CSV, ReportFiles
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import is_same
from actiondbg.support.counts import counted

_EPILOG = """\
examples:
  actiondbg kernels report results.csv
  actiondbg kernels report results.csv --output results.html --output results.md
  actiondbg kernels report old.csv new.csv --threshold 10%

With two reports, of several rows of a dispatch the last counts.

exit status: 0 no dispatch became slower or wrong, 1 one did, or error, 2 bad usage.
docs/kernels/report.md explains the columns, and how times are compared.
"""


class KernelReportOptions(Options):
    report: Path = positional("A.csv", help="a report")
    other: Path | None = positional("B.csv", help="a later report, compared with A.csv")
    output: tuple[Path, ...] = option(
        "FILE", help="write the last report as .csv, .md, .html or .parquet; repeatable"
    )
    full: bool = flag(help="print a block for each dispatch")
    json: bool = flag(help="print one JSON object")
    generated_dir: tuple[Path, ...] = option(
        "DIR", help="of A.csv, then of B.csv: the parents of their folders 'generated'"
    )
    remeasure: bool = switch(
        "measure both builds again, in turn, where both are there; true", default=True
    )
    threshold: float = option(
        "PERCENT",
        default=5.0,
        help="the least change of a time that counts; 5%% by default",
        parse=percent,
    )


@subcommand("kernels report", "[options] A.csv [B.csv]", KernelReportOptions, _EPILOG)
def run(parser: LineParser[KernelReportOptions], argv: list[str]) -> int:
    """Print or convert the results of kernels, or compare two reports."""
    options = parser.read_intermixed(argv)
    _check(options)
    files = ReportFiles(options.output)
    entries = read_csv(options.report)
    if options.other is None:
        files.write(entries)
        lines = report_lines(entries, full=options.full, width=terminal_width())
        print_result(report_object(entries) if options.json else lines)
        return 0
    old, entries = entries, read_csv(options.other)
    files.write(entries)
    comparison = _compared(options, options.other, old, entries)
    print_result(
        report_comparison_object(comparison)
        if options.json
        else report_comparison_lines(comparison)
    )
    return int(comparison.is_worse)


def _compared(
    options: KernelReportOptions, other: Path, old: Sequence[Entry], new: Sequence[Entry]
) -> ReportComparison:
    """Compare two reports; where both builds are there, they are measured again, in turn."""
    comparison = compare(old, new, options.threshold)
    if not comparison.timed or not options.remeasure:
        return comparison
    folders = _folders(options, other)
    if folders is None:
        print_notice(
            "the times are of two runs, not measured in turn: name the folders of both reports by "
            "--generated-dir A --generated-dir B"
        )
        return comparison
    need_packages("Measuring kernels", ("numpy",), "kernels")
    remeasured = remeasure(folders, old, new, comparison.timed, KernelProcess)
    print_notice(
        f"measured again, in turn: {counted(remeasured.measured, 'dispatch')}; "
        f"{remeasured.identical:,} with the same binary were not"
    )
    return compare(remeasured.old, remeasured.new, options.threshold)


def _folders(
    options: KernelReportOptions, other: Path
) -> tuple[GeneratedFolder, GeneratedFolder] | None:
    """Return the folders of generated kernels of both reports, or None if one is unknown."""
    parents = options.generated_dir
    if not parents:  # a run writes its report there
        parents = tuple(path.resolve().parent.parent.parent for path in (options.report, other))
    old, new = (GeneratedFolder(each) for each in parents)
    is_known = old.manifest.exists() and new.manifest.exists()
    return (old, new) if is_known and not old.path.samefile(new.path) else None


def _check(options: KernelReportOptions) -> None:
    if options.generated_dir and (options.other is None or len(options.generated_dir) != 2):
        raise UsageError("--generated-dir is for two reports: give it twice, for A.csv and B.csv.")
    inputs = [path for path in (options.report, options.other) if path is not None]
    for path in options.output:
        if path.suffix == CSV and any(is_same(path, each) for each in inputs):
            raise UsageError(f"--output: {str(path)!r} is an input: name another file.")
