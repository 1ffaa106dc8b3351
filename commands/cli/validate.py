"""``actiondbg validate [options] (-- TOOL ARGS... | RUN.adbrec)``."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands import FAILED
from actiondbg.commands.cli.line_parser import LineParser, NoColor, subcommand
from actiondbg.commands.interpreter.options import fields_of, flag, option
from actiondbg.commands.render.diff import stdout_paint
from actiondbg.commands.render.terminal.output import print_notice, print_result
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.commands.shell.past import CORES, ValidationOptions
from actiondbg.recording.errors import READING, need_packages
from actiondbg.support.output_file import writing
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool.command_line import copy_stdin, inspect_command_line

if TYPE_CHECKING:
    from actiondbg.validation.run_validation import Stage, Validation

_EPILOG = f"""\
examples:
  actiondbg validate -- mlir-opt in.mlir --canonicalize
  actiondbg validate -o wrong -- mlir-opt in.mlir --convert-scf-to-cf
  actiondbg validate --budget 600 -j {CORES} run.adbrec

A recording must have the IR of functions: record --ir function.

exit status: 0 all changing passes are equivalent; 1 an action is different, or an error; 2 bad
usage; 3 the tool could not be started; 4 something is not known, and nothing different; 130 after
Ctrl-C. docs/validate.md explains the verdicts.
"""
NOT_KNOWN = 4  # exit status


class ValidateCommandLine(ValidationOptions):
    output: Path | None = option(
        "-o",
        "--output",
        "DIR",
        help="write a report, the IR around the culprit, and its counterexample as programs",
    )
    all: bool = flag(help="show all functions of each pass")
    json: bool = flag(help="print one JSON object")
    no_color: NoColor = False


@subcommand("validate", "[options] (-- TOOL ARGS... | RUN.adbrec)", ValidateCommandLine, _EPILOG)
def run(parser: LineParser[ValidateCommandLine], argv: list[str]) -> int:
    """Judge for each action whether the program still does the same: by proof, and by running
    functions before and after it.
    """
    options, words, recorded = parser.read_with_target(argv)
    parser.need_target(words)
    need_packages("actiondbg validate", (*READING, "ml_dtypes", "bitwuzla"), extra="validate")
    with scratch_directory("validate") as folder:
        try:
            stdin = None
            if not recorded and inspect_command_line(words).reads_stdin:
                with writing(folder / "stdin"):
                    stdin = copy_stdin(folder)
            found = _validate(words[0] if recorded else words, stdin, options)
        except KeyboardInterrupt:
            print_notice("Interrupted.")
            return 128 + signal.SIGINT
        _show(found, options)
    if found.is_interrupted:
        print_notice("Interrupted: what is above was judged up to then.")
        return 128 + signal.SIGINT
    return {"equivalent": 0, "different": FAILED, "unknown": NOT_KNOWN}[found.verdict]


def _validate(
    target: str | list[str], stdin: Path | None, options: ValidateCommandLine
) -> Validation:
    from actiondbg.commands.render.validation import progress_words
    from actiondbg.validation.run_validation import validate

    progress = ProgressLine(sys.stderr, enabled=not options.json)

    def show(stage: Stage, done: int, total: int) -> None:
        progress.change(progress_words(stage, done, total))

    with progress.shown("judging ..."):
        given = {each.name: getattr(options, each.name) for each in fields_of(ValidationOptions)}
        return validate(target, stdin=stdin, progress=show, warn=print_notice, **given)


def _show(found: Validation, options: ValidateCommandLine) -> None:
    from actiondbg.commands.render.validation import validation_lines, validation_object
    from actiondbg.validation.run_validation import write_report

    lines = validation_lines(found, stdout_paint(options.no_color), all=options.all)
    print_result(validation_object(found) if options.json else lines)
    if options.output is not None:
        write_report(options.output, "\n".join(validation_lines(found, str, all=True)), found)
        print_notice(f"Written: {options.output}.")
