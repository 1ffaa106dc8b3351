"""``actiondbg lint [options] (-- TOOL ARGS... | RUN.adbrec... | SUITE)``."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from actiondbg.commands import FAILED
from actiondbg.commands.cli import line_parser
from actiondbg.commands.cli.line_parser import LineParser, names_recording, subcommand
from actiondbg.commands.cli.recorded_tool import print_cut, print_errors
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.render.tables import fitted
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.commands.render.units import path_from_here
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.lint.linter import Linter
from actiondbg.lint.reports import command_of, junit_text, sarif_log
from actiondbg.lint.rules import (
    BY_NAME,
    DEFAULT_RULES,
    RULES,
    Finding,
    Rule,
    baseline_text,
    finding_object,
    read_baseline,
)
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.support.counts import counted
from actiondbg.support.output_file import write_file
from actiondbg.support.scratch_directory import scratch_directory
from actiondbg.tool.command_line import copy_stdin, inspect_command_line

if TYPE_CHECKING:
    from actiondbg.lint.linted_runs import LintedRun

_CORES = os.cpu_count() or 1
_EPILOG = f"""\
examples:
  actiondbg lint -- mlir-opt in.mlir --canonicalize
  actiondbg lint --rerun --rule not-notified 'recordings/*.adbrec'
  actiondbg lint --baseline known.json --format sarif -o lint.sarif suite

The rules: {", ".join(each.name for each in RULES)}.

Of a tool, stderr is shown, and neither stdout nor the file of its option -o is written.

exit status: 0 nothing was found, 1 something was found, or an error; 2 bad usage; 3 the tool could
not be started; 130 after Ctrl-C. docs/lint.md explains the rules.
"""


def _rule(word: str) -> Rule:
    if word not in BY_NAME:
        raise UsageError(f"{word!r} is not a rule: use {', '.join(BY_NAME)}.")
    return BY_NAME[word]


class LintOptions(Options):
    rule: tuple[Rule, ...] = option("RULE", help="check this rule only; repeatable", parse=_rule)
    rerun: bool = flag(
        help="run the command again: with checks if recordings lack them, with other addresses, "
        "and with freed memory overwritten"
    )
    jobs: int = option(
        "-j", "N", default=_CORES, help=f"run N commands at a time; {_CORES}", parse=positive
    )
    format: Literal["text", "json", "sarif", "junit"] = option(
        default="text", help="the format of the result; text by default"
    )
    output: Path | None = option("-o", "--output", "FILE", help="write the result to a file")
    baseline: Path | None = option("FILE", help="leave out the findings of this file")
    write_baseline: Path | None = option("FILE", help="write all findings as a baseline")
    partial: line_parser.Partial = False
    follow: line_parser.Follow = None


@subcommand("lint", "[options] (-- TOOL ARGS... | RUN.adbrec... | SUITE)", LintOptions, _EPILOG)
def run(parser: LineParser[LintOptions], argv: list[str]) -> int:
    """Find the patterns and passes that break a rule of rewriting."""
    ours, words = parser.split(argv)
    options = parser.read(ours)
    parser.need_target(words)
    for rule in options.rule:
        if rule.need == "repetition" and not options.rerun:
            raise UsageError(f"The rule {rule.name} compares several runs: give --rerun, too.")
    need_packages("actiondbg lint")
    for path in (options.output, options.write_baseline):
        if path is not None:
            check_overwritten(path, words)
    known = set[tuple[str, str]]() if options.baseline is None else read_baseline(options.baseline)
    linting = _Linting(options)
    is_recorded = names_recording(words) or os.path.isdir(words[0])
    is_tool = "--" in argv[len(ours) : -len(words)] or not is_recorded
    found = linting.lint_tool(words) if is_tool else linting.lint_recordings(words)
    if options.write_baseline is not None and not linting.is_interrupted:
        write_file(options.write_baseline, baseline_text(found))
        known |= {each.key for each in found}
    left = [each for each in found if each.key not in known]
    _write(options, left, linting, len(found) - len(left))
    if linting.is_interrupted:
        return 128 + signal.SIGINT
    return FAILED if left or linting.is_incomplete else 0


class _Linting:
    """The check of a tool, or of recordings.

    Attributes:
        is_interrupted: whether Ctrl-C ended the tool: the findings are those up to then.
        is_incomplete: whether actions of the tool could not be recorded, and so not be checked.
    """

    def __init__(self, options: LintOptions) -> None:
        self._options = options
        self.linter = Linter(options.rule or DEFAULT_RULES)
        self.is_interrupted = self.is_incomplete = False
        self._progress = ProgressLine(sys.stderr)

    def lint_tool(self, argv: Sequence[str]) -> list[Finding]:
        """Run a tool, and check what it does.

        Raises:
            ActiondbgError: the tool made no MLIR context.
        """
        from actiondbg.lint.linted_runs import ToolCommand
        from actiondbg.lint.rerun import Repetition

        with scratch_directory("lint") as folder:
            reads = inspect_command_line(list(argv)).reads_stdin
            kept = copy_stdin(folder) if reads else None  # for each run
            command = ToolCommand(
                tuple(argv), os.getcwd(), os.devnull if kept is None else str(kept)
            )
            repetition = Repetition(command, folder, self._options.follow, print_notice)
            with self._progress.shown("running the tool ..."):
                try:
                    done = repetition.lint(self.linter, is_compared=self._options.rerun)
                except KeyboardInterrupt:
                    self.is_interrupted = True
                    print_notice("Interrupted in a further run: what the first one did is checked.")
                    return list(self.linter.finish())
            if repetition.errors is not None and not self._options.rerun:
                print_errors(repetition.errors)
            if not done.recordings:
                raise ActiondbgError(
                    f"There is nothing to check: {argv[0]!r} made no MLIR context (it ended with "
                    f"{_status(done.status)})."
                )
            self.is_interrupted = done.is_interrupted
            for recording in done.recordings:
                if recording.cut is not None:
                    self.is_incomplete = True
                    if not done.is_endless:
                        print_cut(recording.path, recording.cut)
            is_whole = not (self.is_interrupted or self.is_incomplete)
            if done.status and is_whole and not any(each.count for each in done.recordings):
                raise ActiondbgError(
                    f"There is nothing to check: {argv[0]!r} ended with {_status(done.status)} "
                    "before its first action."
                )
            if done.status and not done.is_endless:
                ending = _status(done.status)
                print_notice(f"The tool ended with {ending}: what it did up to then is checked.")
        return list(self.linter.finish())

    def lint_recordings(self, words: Sequence[str]) -> list[Finding]:
        from actiondbg.lint.linted_runs import recorded_runs

        runs = recorded_runs(words, partial=self._options.partial, warn=print_notice)
        if self._options.rerun:
            self._rerun(runs)
        else:
            with self._progress.shown("checking ..."):
                for run in runs:
                    self._progress.change(f"{counted(self.linter.runs, 'run')} checked ...")
                    self.linter.add(run.recording, run.path, run.test)
            if self.linter.unchecked and any(each.need == "checks" for each in self.linter.rules):
                print_notice(
                    f"{counted(self.linter.unchecked, 'recording')} without checks: use --rerun, "
                    "or record with --checks."
                )
        return list(self.linter.finish())

    def _rerun(self, runs: Iterable[LintedRun]) -> None:
        from actiondbg.lint.rerun import Rerun

        def show(done: int, total: int) -> None:
            self._progress.change(f"{done:,} of {counted(total, 'command')} ...")

        rerun = Rerun(self.linter, jobs=self._options.jobs, follow=self._options.follow)
        try:
            with self._progress.shown("running the commands again ..."):
                rerun.run(_with_commands(runs), show)
        except KeyboardInterrupt:
            self.is_interrupted = True
            print_notice(
                f"Interrupted after {rerun.done:,} of {counted(rerun.total, 'command')}: what they "
                "did is checked."
            )
        if rerun.failed:
            print_notice(
                f"{counted(rerun.failed, 'command')} could not be run again: the tool, the "
                "directory or an input is gone, or the input was a pipe."
            )


def _with_commands(runs: Iterable[LintedRun]) -> Iterator[LintedRun]:
    """Yield runs; raise ActiondbgError for an imported one, which has no command line."""
    for run in runs:
        recording = run.recording
        if recording.header.imported:
            raise ActiondbgError(
                f"{recording.path} was imported from {recording.header.imported}, which has no "
                "command line to run again: use `actiondbg lint --rerun -- TOOL ARGS...`."
            )
        yield run


def _status(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


def _write(options: LintOptions, found: Sequence[Finding], linting: _Linting, known: int) -> None:
    runs = linting.linter.runs
    if options.format == "json":
        objects = [finding_object(each) for each in found]
        text = json.dumps({"findings": objects, "runs": runs, "known": known}, ensure_ascii=False)
    elif options.format == "sarif":
        text = json.dumps(sarif_log(found, linting.linter.rules), indent=2, ensure_ascii=False)
    elif options.format == "junit":
        text = junit_text(found, linting.linter.rules, runs, linting.linter.checked).rstrip("\n")
    else:
        text = lint_text(found, runs, known)
    if options.output is None:
        fits = sys.stdout.isatty() and options.format == "text"
        width = os.get_terminal_size(sys.stdout.fileno()).columns if fits else None
        print(fitted(text, width))
        return
    write_file(options.output, f"{text}\n")


# --- the text of findings ---


def lint_text(findings: Sequence[Finding], runs: int, known: int) -> str:
    """Return the text of findings, by rule; ``known`` is the number of those in the baseline."""
    lines: list[str] = []
    shows_commands = len({each.place.command for each in findings}) > 1
    for name, group in groupby(findings, key=lambda each: each.rule):
        of_rule = list(group)
        rule = of_rule[0].declared
        lines += [f"{name}: {rule.meaning}", f"  {rule.advice}", ""]
        for each in of_rule:
            lines += [*_lines(each), *([f"    {command_of(each)}"] if shows_commands else [])]
        lines.append("")
    total = f"{counted(len(findings), 'finding')} in {counted(runs, 'run')}"
    lines.append(f"{total}, {known} known." if known else f"{total}.")
    return "\n".join(lines)


def _lines(finding: Finding) -> Iterator[str]:
    times = "once" if finding.times == 1 else f"{finding.times:,} times"
    runs = f", in {finding.runs:,} runs" if finding.runs > 1 else ""
    detail = f"{finding.detail}; " if finding.detail else ""
    yield f"  {finding.subject}: {detail}{times}{runs}, {finding.seconds * 1e3:.3g} ms"
    place = finding.place
    where: list[str] = []
    if place.file is not None:
        line = f":{place.line}" if place.line else ""  # 0: MLIR knows the file only
        where.append(f"{path_from_here(place.file)}{line}")
    if place.function is not None:
        where.append(f"in @{place.function}")
    if place.ordinal:
        where.append(f"action #{place.ordinal}")
    if place.test is not None:
        where.append(f"of {place.test}")
    if where:
        yield f"    {', '.join(where)}"
