"""``actiondbg lint [options] (-- TOOL ARGS... | RUN.adbrec... | SUITE)``."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from actiondbg.commands import FAILED
from actiondbg.commands.cli import line_parser
from actiondbg.commands.cli.line_parser import LineParser, names_recording, subcommand
from actiondbg.commands.cli.recorded_tool import print_errors
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.interpreter.values import positive
from actiondbg.commands.render.lint import lint_text, progress_words
from actiondbg.commands.render.tables import fitted
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.lint.api import Linted, Stage, lint_recordings, lint_tool
from actiondbg.lint.reports import junit_text, sarif_log
from actiondbg.lint.rules import (
    RULES,
    Finding,
    Rule,
    baseline_text,
    finding_object,
    read_baseline,
    rule_named,
)
from actiondbg.recording.errors import need_packages
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.support.output_file import write_file

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


class LintOptions(Options):
    rule: tuple[Rule, ...] = option(
        "RULE", help="check this rule only; repeatable", parse=rule_named
    )
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
    need_packages("actiondbg lint")
    for path in (options.output, options.write_baseline):
        if path is not None:
            check_overwritten(path, words)
    known = set[tuple[str, str]]() if options.baseline is None else read_baseline(options.baseline)
    is_recorded = names_recording(words) or os.path.isdir(words[0])
    is_tool = "--" in argv[len(ours) : -len(words)] or not is_recorded
    linted = _lint(options, words, is_tool)
    if options.write_baseline is not None and not linted.is_interrupted:
        write_file(options.write_baseline, baseline_text(linted.findings))
        known |= {each.key for each in linted.findings}
    left = [each for each in linted.findings if each.key not in known]
    _write(options, left, linted)
    if linted.is_interrupted:
        return 128 + signal.SIGINT
    return FAILED if left or linted.is_incomplete else 0


def _lint(options: LintOptions, words: list[str], is_tool: bool) -> Linted:
    line = ProgressLine(sys.stderr)

    def progress(stage: Stage, done: int, total: int) -> None:
        line.change(progress_words(stage, done, total))

    runs_again = options.rerun and not is_tool
    with line.shown("running the commands again ..." if runs_again else "checking ..."):
        if is_tool:
            return lint_tool(
                words,
                rules=options.rule,
                rerun=options.rerun,
                follow=options.follow,
                progress=progress,
                tell=print_notice,
                show_errors=print_errors,
            )
        return lint_recordings(
            words,
            rules=options.rule,
            rerun=options.rerun,
            follow=options.follow,
            jobs=options.jobs,
            partial=options.partial,
            progress=progress,
            tell=print_notice,
        )


def _write(options: LintOptions, found: Sequence[Finding], linted: Linted) -> None:
    """Write the findings that are not known."""
    known = len(linted.findings) - len(found)
    if options.format == "json":
        objects = [finding_object(each) for each in found]
        whole = {"findings": objects, "runs": linted.runs, "known": known}
        text = json.dumps(whole, ensure_ascii=False)
    elif options.format == "sarif":
        text = json.dumps(sarif_log(found, linted.rules), indent=2, ensure_ascii=False)
    elif options.format == "junit":
        text = junit_text(found, linted.rules, linted.runs, linted.checked).rstrip("\n")
    else:
        text = lint_text(found, linted.runs, known)
    if options.output is None:
        fits = sys.stdout.isatty() and options.format == "text"
        width = os.get_terminal_size(sys.stdout.fileno()).columns if fits else None
        print(fitted(text, width))
        return
    write_file(options.output, f"{text}\n")
