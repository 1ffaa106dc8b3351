"""``actiondbg validate [options] (-- TOOL ARGS... | RUN.adbrec)``."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands import FAILED
from actiondbg.commands.cli.line_parser import LineParser, NoColor, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.interpreter.values import positive, seconds
from actiondbg.commands.render.diff import stdout_paint
from actiondbg.commands.render.terminal.output import print_notice, print_result
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.errors import ActiondbgError
from actiondbg.recording.errors import READING, need_packages
from actiondbg.support.counts import counted
from actiondbg.support.output_file import writing
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool.command_line import copy_stdin, inspect_command_line
from actiondbg.tool.discovery import find_tool

if TYPE_CHECKING:
    from actiondbg.comparison.side import Side
    from actiondbg.recording.recording import Recording
    from actiondbg.validation.run_validation import Validation
    from actiondbg.validation.steps import Rerun
    from actiondbg.validation.workers import Workers

_CORES = os.cpu_count() or 1
_EPILOG = f"""\
examples:
  actiondbg validate -- mlir-opt in.mlir --canonicalize
  actiondbg validate -o wrong -- mlir-opt in.mlir --convert-scf-to-cf
  actiondbg validate --budget 600 -j {_CORES} run.adbrec

A recording must have the IR of functions: record --ir function.

exit status: 0 all changing passes are equivalent; 1 an action is different, or an error; 2 bad
usage; 3 the tool could not be started; 4 something is not known, and nothing different; 130 after
Ctrl-C. docs/validate.md explains the verdicts.
"""
NOT_KNOWN = 4  # exit status
_TOOL_OF_IMPORTS = "mlir-opt"  # for real runs: imported logs have no command line


class ValidateRunOptions(Options):
    budget: float = option(
        "SECONDS",
        default=120.0,
        help="time for the actions in passes that are not equivalent; 120",
        parse=seconds,
    )
    timeout: float | None = option(
        "SECONDS",
        help="time for a function before and after an action; 20, and less in long runs",
        parse=seconds,
    )
    inputs: int = option("N", default=48, help="run each function on N inputs; 48", parse=positive)
    aliased: bool = flag(help="memref arguments of a type may overlap")
    any_index: bool = flag(help="arguments of type index may need more than 32 bits")
    jobs: int = option(
        "-j", "N", default=_CORES, help=f"judge N functions at a time; {_CORES}", parse=positive
    )
    output: Path | None = option(
        "-o",
        "--output",
        "DIR",
        help="write a report, the IR around the culprit, and its counterexample as programs",
    )
    all: bool = flag(help="show all functions of each pass")
    json: bool = flag(help="print one JSON object")
    no_color: NoColor = False


@subcommand("validate", "[options] (-- TOOL ARGS... | RUN.adbrec)", ValidateRunOptions, _EPILOG)
def run(parser: LineParser[ValidateRunOptions], argv: list[str]) -> int:
    """Judge for each action whether the program still does the same: by proof, and by running
    functions before and after it.
    """
    options, words, recorded = parser.read_with_target(argv)
    parser.need_target(words)
    need_packages("actiondbg validate", (*READING, "ml_dtypes", "bitwuzla"), extra="validate")
    from actiondbg.validation.workers import Workers

    with (
        scratch_directory("validate") as folder,
        Workers(options.jobs) as workers,
    ):
        try:
            workers.start()
            side, rerun = _side(words, recorded, folder)
            found = _validate(side, rerun, workers, options, folder)
        except KeyboardInterrupt:
            print_notice("Interrupted.")
            return 128 + signal.SIGINT
        _show(found, options)
    if found.is_interrupted:
        print_notice("Interrupted: what is above was judged up to then.")
        return 128 + signal.SIGINT
    return {"equivalent": 0, "different": FAILED, "unknown": NOT_KNOWN}[found.verdict]


def _side(words: list[str], recorded: bool, folder: Path) -> tuple[Side, Rerun | None]:
    from actiondbg.comparison.side import recorded_side
    from actiondbg.validation.run_validation import ToolRun

    if recorded:
        side = recorded_side(words[0])
        if not side.recording.header.has_texts:
            raise ActiondbgError(
                f"{words[0]!r} does not hold the IR of functions: record it with --ir function."
            )
        _print_cut(side)
        return side, None
    stdin = None
    if inspect_command_line(words).reads_stdin:
        with writing(folder / "stdin"):
            file = copy_stdin(folder)
        stdin = None if file is None else str(file)
    with ProgressLine(sys.stderr).shown("running the tool ..."):
        run = ToolRun(words, folder, stdin)
        side = run.passes()
    _print_cut(side)
    if side.status and not side.recording.count:
        raise ActiondbgError(f"The tool {side.ending}: no action is there to judge.")
    if side.status:
        print_notice(f"The tool {side.ending}: its actions up to then are judged.")
    return side, run.inside


def _print_cut(side: Side) -> None:
    if side.recording.cut is not None:
        print_notice(side.recording.cut)


def _validate(
    side: Side, rerun: Rerun | None, workers: Workers, options: ValidateRunOptions, folder: Path
) -> Validation:
    from actiondbg.validation.function_judgement import JudgementLimits
    from actiondbg.validation.inputs import INDEX_BITS
    from actiondbg.validation.run_validation import Validator
    from actiondbg.validation.types import INDEX_WIDTH

    progress = ProgressLine(sys.stderr, enabled=not options.json)
    nouns = {"passes": "pass", "actions": "action"}
    others = {"run": "running the tool again ...", "programs": "reducing the program ..."}

    def show(stage: str, done: int, total: int) -> None:
        if stage not in nouns:
            progress.change(others[stage])
            return
        progress.change(f"{done:,} of {counted(total, nouns[stage])} judged ...")

    limits = JudgementLimits(
        inputs=options.inputs,
        aliased=options.aliased,
        index_bits=INDEX_WIDTH if options.any_index else INDEX_BITS,
        tool=_path_of(side.argv[0] if side.argv else _TOOL_OF_IMPORTS),
        scratch=str(folder),
    )
    if options.timeout is not None:
        limits = replace(limits, seconds=options.timeout)
    with progress.shown("judging ..."):
        validator = Validator(
            side,
            workers,
            rerun=rerun,
            limits=limits,
            is_fair=options.timeout is None,
            budget=options.budget,
            progress=show,
        )
        found = validator.validate()
    if side.recording.header.imported:
        _judge_log(found, side.recording)
    return found


def _judge_log(found: Validation, recording: Recording) -> None:
    """Take the passes whose IR an imported log does not show out of what is judged."""
    rows = recording.table("actions", ["ordinal", "name", "outcome", "changed"]).to_pylist()
    hidden = {row["ordinal"]: row["name"] for row in rows if row["changed"] is None}
    found.passes = [each for each in found.passes if each.step.ordinal not in hidden]
    found.unjudged += len(hidden)
    if hidden:
        ordinal, name = next(iter(hidden.items()))
        print_notice(
            f"The log lacks the IR before or after {counted(len(hidden), 'pass')}, such as "
            f"#{ordinal} ({name}): make it with --mlir-print-ir-before-all and "
            "--mlir-print-ir-after-all."
        )
    failed = next((row for row in rows if row["outcome"] == "failed"), None)
    if failed is not None:
        found.cut = f"#{failed['ordinal']} ({failed['name']}) failed: what ran is judged."
        print_notice(found.cut)


def _path_of(tool: str) -> str:
    """Return the path of the tool; its name, if it is not here."""
    try:
        return str(find_tool(tool).path)
    except ActiondbgError:
        return tool


def _show(found: Validation, options: ValidateRunOptions) -> None:
    from actiondbg.commands.render.validation import validation_lines, validation_object
    from actiondbg.validation.run_validation import write_report

    lines = validation_lines(found, stdout_paint(options.no_color), all=options.all)
    print_result(validation_object(found) if options.json else lines)
    if options.output is not None:
        write_report(options.output, "\n".join(validation_lines(found, str, all=True)), found)
        print_notice(f"Written: {options.output}.")
