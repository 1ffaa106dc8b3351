"""``actiondbg explain [options] (-- TOOL ARGS... | RUN.adbrec)``."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.commands import FAILED
from actiondbg.commands.cli.line_parser import LineParser, NoColor, Partial, Randomize, subcommand
from actiondbg.commands.cli.watched_session import run_watched
from actiondbg.commands.interpreter.options import Options, flag, option
from actiondbg.commands.render.terminal.progress import ProgressLine
from actiondbg.errors import NoAnswer, UsageError
from actiondbg.recording.overwrite_protection import check_output
from actiondbg.support.output_file import write_file

if TYPE_CHECKING:
    from actiondbg.recording.session.recorded_session import DebugSession

_EPILOG = """\
examples:
  actiondbg explain -- mlir-opt in.mlir --convert-arith-to-spirv
  actiondbg explain --left 'op:memref.*' -- mlir-opt in.mlir --finalize-memref-to-llvm
  actiondbg explain --html why.html -- mlir-opt in.mlir --convert-to-llvm

The stderr of the tool is shown, its stdout is not.

exit status: 0 something was explained; 1 no conversion failed, none left such operations, or an
error; 2 bad usage; 3 the tool could not be started. docs/explain.md explains the output.
"""


_LEFT_AT_END = "Only its end shows which operations are left."
_NONE_YET = "No dialect conversion failed up to there."
_FIRST_PART = (
    "This is the first failure. Parts of the input behind it may fail too (--split-input-file): "
    "explain each alone."
)


class ExplainRunOptions(Options):
    left: str | None = option(
        "@ID|op:GLOB", help="explain why conversions left these operations, not why one failed"
    )
    all: bool = flag(help="show all patterns that were tried, not only the most telling")
    json: bool = flag(help="print one JSON object")
    html: Path | None = option("FILE", help="write an HTML page as well")
    partial: Partial = False
    no_color: NoColor = False
    randomize: Randomize = False


@subcommand("explain", "[options] (-- TOOL ARGS... | RUN.adbrec)", ExplainRunOptions, _EPILOG)
def run(parser: LineParser[ExplainRunOptions], argv: list[str]) -> int:
    """Explain why a dialect conversion failed: which operation it could not legalize, which
    patterns it tried, and what each of them lacked.
    """
    options, tool, recorded = parser.read_with_target(argv)
    parser.need_target(tool)
    _check(options, tool)
    from actiondbg.tool.command_line import is_split

    with ExitStack() as stack:
        progress = ProgressLine(sys.stderr, enabled=not options.json)
        session = (
            _recorded(stack, tool[0], options) if recorded else _run(stack, tool, options, progress)
        )
        status = _explain(session, options, progress)
        if status == 0 and options.left is None and not options.json and is_split(tool):
            print(_FIRST_PART)
        return status


def _check(options: ExplainRunOptions, tool: list[str]) -> None:
    if options.left is not None:
        from actiondbg.breakpoints.targets import OperationGlob, parse_wanted

        if not isinstance(parse_wanted(options.left), OperationGlob | int):
            raise UsageError(f"--left {options.left}: give an id such as @12, or op:GLOB.")
    if options.html is not None:
        check_output(options.html, tool)


def _run(
    stack: ExitStack, tool: list[str], options: ExplainRunOptions, progress: ProgressLine
) -> DebugSession:
    """Run a tool to its first failure, or to its end if operations were left."""
    from actiondbg.session.session import launch

    session = stack.enter_context(
        launch(tool, randomize=options.randomize, stdout=os.devnull, stderr="inherit")
    )
    if options.left is None:
        session.breakpoints.catch("failure")
        session.breakpoints.catch("crash")
    with progress.shown():
        stop = run_watched(session, _NONE_YET if options.left is None else _LEFT_AT_END)
    if stop.when == "exit" and session.target.hello is None:
        raise NoAnswer(f"There is nothing to explain. {stop.message}")
    return session


def _recorded(stack: ExitStack, path: str, options: ExplainRunOptions) -> DebugSession:
    from actiondbg.recording.session import open_session

    session = stack.enter_context(open_session(path, partial=options.partial))
    while session.state != "exited":
        session.continue_()
    return session


def _explain(session: DebugSession, options: ExplainRunOptions, progress: ProgressLine) -> int:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.render.legalization.explanation_text import (
        ExplanationShown,
        explanation_json,
        explanation_text,
    )
    from actiondbg.commands.render.tables import fitted

    with progress.shown():
        found = session.past.explain(options.left)
    shown = ExplanationShown(found, options.all)
    if options.json:
        print(json.dumps(explanation_json(shown)))
    else:
        crash = None if session.stop is None else session.stop.crash
        console = Console(session, interactive=True, color=not options.no_color)
        if crash is not None and found.other is None:
            print(fitted(crash, console.width))
        print(fitted(explanation_text(console, shown), console.width))
    if options.html is not None:
        from actiondbg.commands.render.legalization.explanation_page import explanation_page

        write_file(options.html, explanation_page(found))
    is_answer = found.failed or found.other or found.casts
    if found.target:
        is_answer = found.groups() or found.never_tried()
    return 0 if is_answer else FAILED
