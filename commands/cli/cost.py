"""``actiondbg cost [options] PROFILE SOURCE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.cli import lineage_source
from actiondbg.commands.cli.line_parser import LineParser, Partial, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.render.terminal.output import print_result
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_output
from actiondbg.support.output_file import write_file

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Lineage
    from actiondbg.lineage.stage import Stage

_EPILOG = """\
examples:
  perf script -F event,period,ip,sym,srcline | actiondbg cost - run.adbrec
  actiondbg cost tracy.csv run.adbrec --html cost.html
  actiondbg cost perf.txt run.adbrec --module snapshot.mlir
  actiondbg cost dispatches.csv --input model.mlir --then final.mlir

A profile is the output of perf script, Tracy's CSV export, a CSV of dispatches, or a JSON object
of functions or FILE:LINE to times.

exit status: 0 success, 1 error, such as a profile of another program, 2 bad usage.
docs/lineage.md explains how time is attributed.
"""


class CostOptions(Options):
    profile: Path = positional("PROFILE", help="the profile; - for standard input")
    recording: str | None = positional("RUN.adbrec", help="made with actiondbg record --lineage")
    dumps: lineage_source.Dumps = ()
    remap: lineage_source.Remap = ()
    module: tuple[str, ...] = option(
        "FILE[=STAGE]",
        help="debug info points to the lines of FILE, a module of the last or another stage, "
        "as annotate writes it",
    )
    top: int = option(
        "N", default=20, help="the operations above the listing; 20 by default", parse=positive
    )
    all: bool = flag(help="list the lines without time too")
    json: bool = flag(help="print one JSON object")
    html: Path | None = option("FILE", help="write an HTML page as well")
    partial: Partial = False


@subcommand(
    "cost",
    "[options] PROFILE (RUN.adbrec | --input A.mlir --then B.mlir... | -- TOOL ARGS...)",
    CostOptions,
    _EPILOG,
)
def run(parser: LineParser[CostOptions], argv: list[str]) -> int:
    """Print the run-time cost of each operation of the input: a profile joined with a lineage."""
    ours, tool = lineage_source.split_tool(argv)
    options = parser.read_intermixed(ours)
    need_packages("actiondbg cost")
    from actiondbg.commands.render.cost import cost_lines, cost_object, cost_page
    from actiondbg.lineage.cost import attribute
    from actiondbg.lineage.profiles import read_profile

    source = lineage_source.source_words(options.recording, tool)
    modules = (one.partition("=")[0] for one in options.module)
    words = [*source, *options.dumps, str(options.profile), *modules]
    if options.html is not None:
        check_output(options.html, words)
    profile = read_profile(options.profile)
    with lineage_source.opened_lineage(
        source,
        options.dumps,
        remap=options.remap,
        partial=options.partial,
    ) as lineage:
        cost = attribute(profile, lineage, modules_of(lineage, options.module))
    lines = cost_lines(cost, top=options.top, whole=options.all)
    print_result(cost_object(cost) if options.json else lines)
    if options.html is not None:
        write_file(options.html, cost_page(cost))
    return 0


def modules_of(lineage: Lineage, given: tuple[str, ...]) -> dict[str, Stage]:
    """Return the stages of the options ``--module``, by file.

    Raises:
        UsageError: there is no such stage, or the file is another module.
    """
    from actiondbg.lineage.annotation import is_annotated
    from actiondbg.lineage.stage import chosen_stage

    modules: dict[str, Stage] = {}
    for text in given:
        file, _, name = text.partition("=")
        stage = chosen_stage(lineage.stages, name) if name else lineage.stages[-1]
        # A profile of another machine may name a file that is not here.
        if Path(file).is_file() and not is_annotated(stage, Path(file).read_text(errors="replace")):
            raise UsageError(
                f"{file!r} is not the module {stage.name!r} of this lineage: write it anew with "
                "actiondbg annotate, and compile it again."
            )
        modules[file] = stage
    return modules
