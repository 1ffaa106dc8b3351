"""``actiondbg track [options] --input A.mlir --then B.mlir``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.cli.line_parser import LineParser, Partial
from actiondbg.commands.interpreter.options import Flag, Option, Options
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.render.tracking import Direction, TrackingShown
    from actiondbg.lineage.dumps.dump_lineage import DumpLineage
    from actiondbg.lineage.stage import Stage

_EPILOG = """\
examples:
  actiondbg track --input a.mlir --then b.mlir --from a.mlir:12
  actiondbg track --input a.mlir --then b.mlir --then c.mlir --from linalg.matmul --json
  actiondbg track --input a.mlir --then b.mlir --from '@main' --nested --to b.mlir
  actiondbg track --input a.mlir --then b.mlir --back --from llvm.fmul
  actiondbg track --input a.mlir --then b.mlir

The operations are compared by their source locations, which may be an operation's own line and
column in the input: print the dumps with --mlir-print-debuginfo. Without --from, a Python shell
has the functions track, track_back, related, show and src; statements may also come from a pipe.

exit status: 0 success, 1 error, 2 bad usage.
docs/lineage.md explains what is compared.
"""


class TrackOptions(Options):
    """The options of ``actiondbg track``."""

    input: Annotated[
        tuple[str, ...],
        Option("--input", "A.mlir", help="the IR to track from; - for standard input"),
        Option("--input-mlir", "A.mlir", help="the same as --input"),
    ] = ()
    then: Annotated[
        tuple[str, ...],
        Option("--then", "B.mlir", help="IR of a later stage; may be repeated"),
        Option("--track-mlir", "B.mlir", help="the same as --then"),
    ] = ()
    what: Annotated[
        tuple[str, ...],
        Option(
            "--from",
            "WHAT",
            help="the operations: FILE:LINE of the source, %%value, @symbol or a name such as "
            "linalg.*; may be repeated",
        ),
    ] = ()
    to: Annotated[
        str | None,
        Option("--to", "STAGE", help="the stage to track to, by file or number (the last one)"),
    ] = None
    back: Annotated[
        bool, Flag("--back", help="track operations of the last stage, or of STAGE, to the input")
    ] = False
    related: Annotated[
        bool, Flag("--related", help="list the operations of the input with the same source")
    ] = False
    nested: Annotated[bool, Flag("--nested", help="track the operations in their regions too")] = (
        False
    )
    remap: Annotated[
        tuple[str, ...],
        Option(
            "--remap",
            "OLD=NEW",
            help="name a source file otherwise; %%i is the first dump, %%t the second; may be "
            "repeated",
        ),
        Option("--src-remap-list", "OLD=NEW", help="the same as --remap"),
    ] = ()
    partial: Partial = False
    json: Annotated[bool, Flag("--json", help="print one JSON object a line")] = False


def build_parser() -> LineParser[TrackOptions]:
    """Return the parser of the command line after the word track."""
    return LineParser(
        TrackOptions,
        "actiondbg track",
        "[options] --input A.mlir --then B.mlir [--from WHAT]",
        "Track operations from an IR to a later one, and back.",
        _EPILOG,
    )


def run(argv: list[str]) -> int:
    """Run the command line after the word track; return the exit code.

    Raises:
        ActiondbgError: the dumps cannot be read, or nothing has the name.
    """
    parser = build_parser()
    options = parser.read(argv)
    if len(options.input) != 1:
        parser.error("give one input: actiondbg track --input A.mlir --then B.mlir")
    if options.back and options.related:
        parser.error("--back and --related exclude each other")
    from actiondbg.lineage.dumps.dump_files import read_dumps

    dumps = read_dumps(
        [*options.input, *options.then], remap=options.remap, partial=options.partial
    )
    for note in dumps.notes:
        print(f"actiondbg: {note}", file=sys.stderr)
    if not options.what:
        from actiondbg.commands.cli.track_shell import run_shell

        return run_shell(dumps.lineage)
    if not options.related:
        if not options.then:
            parser.error("a later stage is missing: give one with --then B.mlir")
        dumps.lineage.check_order()
    _show(_answers(dumps.lineage, options), as_json=options.json)
    return 0


def _answers(lineage: DumpLineage, options: TrackOptions) -> list[TrackingShown]:
    from actiondbg.commands.render.tracking import TrackingShown
    from actiondbg.lineage.selection import select

    first, other = lineage.stages[0], _stage(lineage, options.to)
    source, target = (other, first) if options.back else (first, other)
    direction: Direction = "came from" if options.back else "became"
    if options.related:
        source, target, direction = first, first, "shares its source with"
    answers: list[TrackingShown] = []
    for what in options.what:
        for operation in select(source, what, lineage.index(source)):
            tracking = lineage.track([operation], target, nested=options.nested)
            answers.append(TrackingShown(operation, direction, target, tracking))
    return answers


def _stage(lineage: DumpLineage, name: str | None) -> Stage:
    """Return a stage by its file or its number, from 1; the last one by default."""
    from actiondbg.lineage.locations.source_files import same_file

    stages = lineage.stages
    if name is None:
        return stages[-1]
    if name.isdecimal() and 0 < int(name) <= len(stages):
        return stages[int(name) - 1]
    found = [stage for stage in stages if same_file(stage.name, name)]
    if len(found) != 1:
        names = ", ".join(stage.name for stage in stages)
        raise UsageError(f"{name!r} is not one stage of {names}: give its file or its number.")
    return found[0]


def _show(answers: list[TrackingShown], *, as_json: bool) -> None:
    from actiondbg.commands.render.tracking import tracking_lines, tracking_object

    if as_json:
        for answer in answers:
            print(json.dumps(tracking_object(answer)))
        return
    print("\n".join(tracking_lines(answers)))
