"""``actiondbg track [options] SOURCE --from WHAT``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from actiondbg.commands.cli import lineage_source
from actiondbg.commands.cli.line_parser import LineParser, Partial, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import NotRecorded
from actiondbg.lineage.level import Level
from actiondbg.recording.errors import need_packages
from actiondbg.support.globs import check_glob

if TYPE_CHECKING:
    from actiondbg.lineage.lineage import Lineage
    from actiondbg.lineage.stage import Stage
    from actiondbg.lineage.track_answer import Direction, TrackAnswer

_ENDS = ("input", "output", "end")  # a run without an output has an end
_EPILOG = """\
examples:
  actiondbg track --from in.mlir:12 -- mlir-opt in.mlir --canonicalize --cse
  actiondbg track run.adbrec --back --from llvm.fmul
  actiondbg track --from in.mlir:12 -- mlir-opt in.mlir --cse --then -- mlir-opt --convert-to-llvm
  actiondbg track first.adbrec --then second.adbrec --from in.mlir:12
  actiondbg track --input a.mlir --then b.mlir --from a.mlir:12
  actiondbg track --input a.mlir --then b.mlir --back --from llvm.fmul --json
  actiondbg track --input a.mlir --then b.mlir

A tool is run, and its output dropped; a recording is of 'actiondbg record --lineage'. Dumps are
compared by source locations, which may be an operation's own line and column in the input: print
them with --mlir-print-debuginfo. Without --from, a Python shell over dumps has the functions track,
track_back, related, show and src; statements may also come from a pipe.

exit status: 0 success, 1 error, 2 bad usage, 3 the tool could not be started.
docs/lineage.md explains the answers.
"""


class TrackRecordingOptions(Options):
    recording: str | None = positional("RUN.adbrec", help="made with actiondbg record --lineage")
    input: Annotated[
        tuple[str, ...],
        option("--input", "A.mlir", help="the IR to track from; - for standard input"),
        option("--input-mlir", "A.mlir", help="the same as --input"),
    ] = ()
    then: Annotated[
        tuple[str, ...],
        option(
            "--then", "B.mlir", help="IR of a later stage, or a later recording; may be repeated"
        ),
        option("--track-mlir", "B.mlir", help="the same as --then"),
    ] = ()
    what: tuple[str, ...] = option(
        "--from",
        "WHAT",
        help="the operations: FILE:LINE of the source, %%value, @symbol, @ID of a run or a "
        "name such as linalg.*; may be repeated",
    )
    to: str | None = option(
        "STAGE",
        help="the stage to track to: of dumps a file or number, of a tool a pass or #N (the "
        "last one)",
    )
    back: bool = flag(help="track operations of the last stage, or of STAGE, to the input")
    related: bool = flag(help="list the operations of the input with the same source")
    nested: bool = flag(help="track the operations in their regions too")
    exact: bool = flag(help="leave out what only source locations show")
    level: Level = option(
        default="operation", help="the units that answer for the operations in them"
    )
    remap: Annotated[
        tuple[str, ...],
        option(
            "--remap",
            "OLD=NEW",
            help="name a source file otherwise; %%i is the first dump, %%t the second; may be "
            "repeated",
        ),
        option("--src-remap-list", "OLD=NEW", help="the same as --remap"),
    ] = ()
    partial: Partial = False
    json: bool = flag(help="print one JSON object a line")


@subcommand(
    "track",
    "[options] (RUN.adbrec | --input A.mlir --then B.mlir) | [options] -- TOOL ARGS...",
    TrackRecordingOptions,
    _EPILOG,
)
def run(parser: LineParser[TrackRecordingOptions], argv: list[str]) -> int:
    """Track operations to what they became, and back."""
    ours, tool = lineage_source.split_tool(argv)
    options = parser.read_intermixed(ours)
    if options.back and options.related:
        parser.error("--back and --related exclude each other")
    if len(options.input) > 1:
        parser.error("give one input, and later dumps with --then B.mlir")
    dumps = [*options.input, *options.then]
    source = lineage_source.source_words(options.recording, tool)
    joins = not options.input and lineage_source.is_chain(source, options.then)
    if options.recording and options.then and not joins:
        parser.error("a recording is followed by recordings: A.adbrec --then B.adbrec")
    if not options.input and not joins and (options.then or not source):
        parser.error(
            "the source is missing: a recording, --input A.mlir --then B.mlir, or a tool after --"
        )
    need_packages("actiondbg track")
    if dumps and not joins and not options.what:
        return _run_shell(dumps, options)
    if not options.what:
        parser.error("the operations are missing: give --from FILE:LINE, %value, @symbol or a name")
    if len(dumps) == 1 and options.related and not joins:
        dumps *= 2  # related operations need no later dump
    if len(dumps) == 1 and not joins:
        parser.error("a later stage is missing: give one with --then B.mlir")
    # The action of a run after which a stage is needed.
    after = None if options.input or options.to in (None, *_ENDS) else options.to
    if after is not None and tool:
        check_glob(after, after, 0)
    with lineage_source.opened_lineage(
        source,
        dumps,
        remap=options.remap,
        partial=options.partial,
        after=after,
        ends_after=True,
    ) as lineage:
        _show(_answers(lineage, options), as_json=options.json)
    return 0


def _run_shell(dumps: list[str], options: TrackRecordingOptions) -> int:
    from actiondbg.commands.cli.track_shell import run_shell
    from actiondbg.lineage.dumps.dump_lineage import read_dumps

    found = read_dumps(dumps, remap=options.remap, partial=options.partial)
    for note in found.notes:
        print_notice(note)
    return run_shell(found.lineage)


def _answers(lineage: Lineage, options: TrackRecordingOptions) -> list[TrackAnswer]:
    from actiondbg.lineage.lineage import related
    from actiondbg.lineage.track_answer import answer
    from actiondbg.lineage.units import rolled_up

    first, other = lineage.stages[0], _stage(lineage, options.to)
    source, target = (other, first) if options.back else (first, other)
    direction: Direction = "back" if options.back else "forward"
    if options.related:
        source, target, direction = first, first, "related"
    answers: list[TrackAnswer] = []
    for what in options.what:
        for operation in lineage_source.chosen_operations(lineage, source, [what]):
            if options.related and lineage.is_recorded:
                found = related(lineage, [operation], exact=options.exact)
            else:
                found = lineage.track(
                    [operation], target, exact=options.exact, nested=options.nested or None
                )
            found = rolled_up(found, options.level)
            answers.append(answer(lineage, [operation], target, found, direction))
    return answers


def _stage(lineage: Lineage, name: str | None) -> Stage:
    """Return a stage by its file, its number from 1, or its action; the last one by default."""
    from actiondbg.lineage.stage import chosen_stage

    stages = lineage.stages
    if name is None or name == "end":
        return stages[-1]
    if not lineage.is_recorded and name.isdecimal() and 0 < int(name) <= len(stages):
        return stages[int(name) - 1]
    if lineage.is_recorded and name not in _ENDS:
        found = next((one for one in reversed(stages) if one.name not in _ENDS), None)
        if found is None:
            raise NotRecorded(f"The run ended before its IR after {name} was recorded.")
        return found
    return chosen_stage(stages, name)


def _show(answers: list[TrackAnswer], *, as_json: bool) -> None:
    import msgspec

    from actiondbg.commands.render.lineage import answer_lines

    for answer in answers:
        if as_json:
            print(msgspec.json.encode(answer).decode())
            continue
        for line in answer_lines(answer, colored=False):
            print(line)
