"""``actiondbg compare [options] A B``."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands.cli.line_parser import SUFFIX, LineParser, NoColor, subcommand
from actiondbg.commands.cli.recorded_tool import print_cut, print_errors
from actiondbg.commands.interpreter.options import flag, option
from actiondbg.commands.interpreter.oracle_options import OracleOptions, optional_oracle
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.render.diff import stdout_paint
from actiondbg.commands.render.terminal.output import print_notice, print_result
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.errors import UsageError
from actiondbg.recording.errors import need_packages
from actiondbg.recording.format.structs import IRDetail
from actiondbg.support.output_file import writing
from actiondbg.support.scratch_directory import make_scratch, remove_directory
from actiondbg.tool.command_line import copy_stdin, inspect_command_line

if TYPE_CHECKING:
    from actiondbg.bisection.oracles import Oracle
    from actiondbg.comparison.decisive import Decisive
    from actiondbg.comparison.run_comparison import RunComparison
    from actiondbg.comparison.side import Side

DIFFERENT = 1  # exit status
_EPILOG = """\
A and B are recordings, suites, or commands, each quoted as one word.

examples:
  actiondbg compare --tool build/bin/mlir-opt -- mlir-opt in.mlir --canonicalize
  actiondbg compare 'mlir-opt in.mlir -cse -canonicalize' 'mlir-opt in.mlir -canonicalize -cse'
  actiondbg compare old.adbrec new.adbrec
  actiondbg compare suite-21 suite-22

exit status: 0 the same output, or the same actions if it is not recorded; 1 other output, or an
error; 2 bad usage; 3 a tool could not be started. docs/compare.md describes the comparison.
"""


class CompareOptions(OracleOptions):
    tool: str | None = option(
        "TOOL", help="compare the command after -- with the same command of this tool, as B"
    )
    ir: IRDetail = option(
        default="function",
        help="of commands, the IR to record: function; output is faster, and shows less well where "
        "runs part and meet",
    )
    diff: bool = flag(help="show whole diffs of the IR at the end")
    number: int = option(
        "-n", "N", default=10, help="show N functions, or N causes, of each kind", parse=positive
    )
    all: bool = flag(help="show all functions or causes")
    jobs: int = option(
        "-j",
        "N",
        default=os.cpu_count() or 1,
        help="compare N pairs of runs at a time",
        parse=positive,
    )
    json: bool = flag(help="print one JSON object")
    no_color: NoColor = False


@subcommand("compare", "[options] (A B | --tool TOOL -- COMMAND)", CompareOptions, _EPILOG)
def run(parser: LineParser[CompareOptions], argv: list[str]) -> int:
    """Compare two runs, or two suites: which IR differs at the end, and what began it."""
    ours, words = parser.split(argv)
    options = parser.read(ours)
    need_packages("actiondbg compare")
    oracle = optional_oracle(options)
    if options.tool is not None:
        if not words:
            parser.error("the command is missing: actiondbg compare --tool TOOL -- COMMAND")
        commands = [words, [options.tool, *words[1:]]]
        return _compare_runs(options, oracle, commands)
    if len(words) != 2:
        parser.error("two runs are compared: actiondbg compare [options] A B")
    if all(os.path.isdir(word) for word in words):
        if oracle is not None:
            raise UsageError("Suites have no oracle: compare two of their runs with it.")
        return _compare_suites(options, words)
    return _compare_runs(options, oracle, [_run_of(word) for word in words])


def _run_of(word: str) -> str | list[str]:
    """Return the path of a recording, or a command line.

    Raises:
        UsageError: it is neither.
    """
    if word.endswith(SUFFIX) or (os.path.isfile(word) and " " not in word):
        return word
    if os.path.isdir(word):
        raise UsageError(f"{word!r} is a suite, and is compared with another suite only.")
    try:
        return shlex.split(word)
    except ValueError as error:
        raise UsageError(f"The command {word!r} cannot be read: {error}.") from error


def _compare_runs(
    options: CompareOptions, oracle: Oracle | None, runs: Sequence[str | list[str]]
) -> int:
    from actiondbg.commands.render.comparison import run_lines, run_object
    from actiondbg.comparison.run_comparison import compare_runs
    from actiondbg.comparison.side import recorded_side, run_side

    scratch = make_scratch("compare")
    progress = ProgressLine(sys.stderr)
    try:
        stdin = _stdin(runs, scratch)
        sides: list[Side] = []
        for name, each in zip("AB", runs, strict=True):
            with progress.shown(f"... {name} runs,"):
                if isinstance(each, str):
                    sides.append(recorded_side(each))
                else:
                    folder, errors = scratch / name, scratch / f"{name}.err"
                    folder.mkdir()
                    try:
                        side = run_side(
                            each,
                            folder,
                            ir=options.ir,
                            stdin=stdin,
                            stderr=errors,
                            tell=print_notice,
                        )
                    finally:
                        print_errors(errors)
                    sides.append(side)
            print_cut(sides[-1].path or name, sides[-1].recording.cut)
        with progress.shown("... comparing,"):
            compared = compare_runs(*sides)
        if not options.json:
            most = None if options.all else options.number
            paint = stdout_paint(options.no_color)
            print_result(run_lines(compared, most, options.diff, paint))
        found = None if oracle is None else _decisive(compared, oracle, stdin, options.json)
        if options.json:
            decisive = {} if found is None else {"decisive": found.as_json()}
            print_result(run_object(compared) | decisive)
        elif found is not None:
            print(f"\n{found.message}")
    except KeyboardInterrupt:
        print_notice("Interrupted.")
        return 128 + signal.SIGINT
    finally:
        remove_directory(scratch)
    is_other = compared.output == "other"
    is_other |= compared.output == "unknown" and not compared.has_same_actions
    return DIFFERENT if is_other else 0


def _stdin(runs: Sequence[str | list[str]], scratch: Path) -> str | None:
    """Return a file with our standard input, if a command reads it."""
    commands = [each for each in runs if not isinstance(each, str)]
    if not any(inspect_command_line(each).reads_stdin for each in commands):
        return None
    with writing(scratch / "stdin"):
        file = copy_stdin(scratch)
    return None if file is None else str(file)


def _decisive(
    compared: RunComparison, oracle: Oracle, stdin: str | None, is_quiet: bool
) -> Decisive:
    from actiondbg.commands.render.bisection import progress_display
    from actiondbg.comparison.decisive import find_decisive

    with progress_display(sys.stderr, quiet=is_quiet) as progress:
        return find_decisive(compared, oracle, stdin=stdin, progress=progress)


def _compare_suites(options: CompareOptions, words: Sequence[str]) -> int:
    from actiondbg.commands.render.comparison import suite_lines, suite_object
    from actiondbg.comparison.suite_comparison import compare_suites
    from actiondbg.suite.folder import SuiteFolder

    progress = ProgressLine(sys.stderr)
    try:
        with progress.shown("... 0 runs,"):
            compared = compare_suites(
                *(SuiteFolder(Path(word)) for word in words),
                jobs=options.jobs,
                progress=lambda done, total: progress.change(f"... {done} of {total} runs,"),
            )
    except KeyboardInterrupt:
        print_notice("Interrupted.")
        return 128 + signal.SIGINT
    most = None if options.all else options.number
    print_result(suite_object(compared) if options.json else suite_lines(compared, most))
    return 0 if compared.is_same else DIFFERENT
