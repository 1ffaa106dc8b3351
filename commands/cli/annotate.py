"""``actiondbg annotate [options] SOURCE``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands.cli import lineage_source
from actiondbg.commands.cli.line_parser import LineParser, Partial, file_or_stdout, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_output
from actiondbg.support.globs import check_glob
from actiondbg.support.output_file import write_file

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Lineage
    from actiondbg.lineage.stage import Operation, Stage

OriginLevel = Literal["operation", "outermost", "loop", "function", "dispatch"]

_ENDS = ("input", "output")  # the stages of every run
_EPILOG = """\
examples:
  actiondbg annotate run.adbrec -o annotated.mlir
  actiondbg annotate run.adbrec --loc-only -o annotated.mlir
  actiondbg annotate run.adbrec --origin output --loc-only -o snapshot.mlir
  actiondbg annotate --origin cse --snapshot cse.mlir -o final.mlir -- mlir-opt in.mlir --cse ...
  actiondbg annotate --input a.mlir --then b.mlir --then c.mlir --origin b.mlir --snapshot s.mlir

exit status: 0 success, 1 error, 2 bad usage. docs/lineage.md explains how perf and Tracy use it.
"""


class AnnotateOptions(Options):
    recording: str | None = positional("RUN.adbrec", help="made with actiondbg record --lineage")
    dumps: lineage_source.Dumps = ()
    remap: lineage_source.Remap = ()
    output: Path | None = option(
        "-o",
        "--output",
        "FILE",
        help="the annotated module; the standard output by default",
        parse=file_or_stdout,
    )
    at: str | None = option("STAGE", help="the module to annotate: a pass, #N or a file; the last")
    origin: str | None = option("STAGE", help="where origins are looked up; the first stage")
    snapshot: Path | None = option(
        "FILE", help="write the module of --origin as well, and let locations point to its lines"
    )
    level: OriginLevel = option(
        default="operation",
        help="name as origins: the operations, the outermost operations around them, or "
        "units as of actiondbg lineage",
    )
    exact: bool = flag(help="leave out what only locations show")
    loc_only: bool = flag(help="set locations, add no comments")
    comments_only: bool = flag(help="add comments, leave locations as they are")
    partial: Partial = False


@subcommand(
    "annotate",
    "[options] (RUN.adbrec | --input A.mlir --then B.mlir... | -- TOOL ARGS...)",
    AnnotateOptions,
    _EPILOG,
)
def run(parser: LineParser[AnnotateOptions], argv: list[str]) -> int:
    """Print the final module with the origin of each operation, as a comment and a location."""
    ours, tool = lineage_source.split_tool(argv)
    options = parser.read_intermixed(ours)
    if options.loc_only and options.comments_only:
        parser.error("--loc-only and --comments-only exclude each other")
    need_packages("actiondbg annotate")

    source = lineage_source.source_words(options.recording, tool)
    _check_files(options, [*source, *options.dumps])
    after = _stage_of_tool(options) if tool else None
    with lineage_source.opened_lineage(
        source,
        options.dumps,
        remap=options.remap,
        partial=options.partial,
        after=after,
    ) as lineage:
        _annotate(lineage, options, has_tool=bool(tool))
    return 0


def _check_files(options: AnnotateOptions, sources: list[str]) -> None:
    if options.output is not None:
        check_output(options.output, sources)
        sources = [*sources, str(options.output)]
    if options.snapshot is not None:
        check_output(options.snapshot, sources)


def _stage_of_tool(options: AnnotateOptions) -> str | None:
    """Return the action after which an option needs a stage."""
    named = [*{one for one in (options.at, options.origin) if one not in (None, *_ENDS)}]
    if len(named) > 1:
        raise UsageError("One of --at and --origin can be an action of a tool: record the other.")
    for glob in named:
        check_glob(glob, glob, 0)
    return named[0] if named else None


def _annotate(lineage: Lineage, options: AnnotateOptions, *, has_tool: bool) -> None:
    from actiondbg.lineage.annotation import Annotation, resource_without_data
    from actiondbg.lineage.stage import chosen_stage

    stages = lineage.stages

    def chosen(text: str | None, default: Stage) -> Stage:
        if text is not None and has_tool and text not in _ENDS:
            return next(one for one in stages if one not in (stages[0], stages[-1]))
        return default if text is None else chosen_stage(stages, text)

    stage, origin = chosen(options.at, stages[-1]), chosen(options.origin, stages[0])
    if stage.is_listing or origin.is_listing:
        raise UsageError("The run has no output to annotate: name another stage with --at.")
    if stages.index(origin) > stages.index(stage):
        raise UsageError(f"{origin.name!r} is later than {stage.name!r}: origins are earlier.")
    file = _file_of_origins(stage, origin, options)
    annotation = Annotation(
        lineage, stage, origin, raised=_raised(origin, options.level), exact=options.exact
    )
    text = annotation.text(
        comments=not options.loc_only, locations=not options.comments_only, file=file
    )
    if (resource := resource_without_data(text)) is not None:
        print_notice(
            f"The module lacks the data of large constants and resources, such as "
            f"dense_resource<{resource}>: it cannot be compiled to code."
        )
    if options.snapshot is not None:
        write_file(options.snapshot, _ended(origin.text))
    if options.output is None:
        sys.stdout.write(_ended(text))
    else:
        write_file(options.output, _ended(text))


def _file_of_origins(stage: Stage, origin: Stage, options: AnnotateOptions) -> str | None:
    """Return the file to whose lines locations point; None: they are those of the origins."""
    if options.snapshot is not None:
        return str(options.snapshot)
    if origin is not stage:
        return None
    if options.output is None:
        raise UsageError("The locations point into the output itself: name a file with -o.")
    return str(options.output)


def _raised(stage: Stage, level: OriginLevel) -> Callable[[Operation], Operation]:
    """Return a function from an origin to the operation that is named instead of it."""
    from actiondbg.lineage.cost import outermost
    from actiondbg.lineage.stage import Operation
    from actiondbg.lineage.units import units_of

    if level == "operation":
        return lambda operation: operation
    if level == "outermost":
        return lambda operation: Operation(stage, outermost(stage, operation.index))
    units = units_of(stage, level)
    return lambda one: one if units[one.index] < 0 else Operation(stage, units[one.index])


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
