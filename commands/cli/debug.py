"""``actiondbg [options] [--] TOOL ARGS...``."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, TextIO

from actiondbg import __version__
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands import SUBCOMMANDS
from actiondbg.commands.cli.child_process import exit_code
from actiondbg.commands.cli.line_parser import (
    Follow,
    LineParser,
    Randomize,
    Without,
    names_recording,
    subcommand,
)
from actiondbg.commands.cli.startup import StartupOptions, make_console, reads_stdin, run_console
from actiondbg.commands.interpreter.options import flag, option
from actiondbg.errors import LaunchError
from actiondbg.support.executables import which

if TYPE_CHECKING:
    from actiondbg.session.session import Session

_EPILOG = """\
examples:
  actiondbg mlir-opt in.mlir --canonicalize
  actiondbg -ex 'break pattern:Fold*' -ex run mlir-opt in.mlir --canonicalize
  actiondbg --batch -x steps.adbg mlir-opt in.mlir --canonicalize
  echo 'break-on-tag fold' | actiondbg --json mlir-opt in.mlir --canonicalize
  actiondbg bisect --test './judge.sh {}' -- mlir-opt in.mlir --canonicalize

subcommands, each with --help:
  connect   debug a Python program that waits in actiondbg.attach(wait=True)
  bisect    find the action that miscompiles a program or crashes the tool
  explain   explain why a dialect conversion failed
  record    record all actions of a run
  suite     record all runs of a test suite; coverage of patterns
  lineage   ask what the operations of a program became
  open      debug a recording
  query     query recordings in SQL
  export    export recordings to Parquet files
  import    make a recording from the IR that a compiler printed
  log       log all actions, a line each
  lint      find the patterns and passes that break a rule of rewriting
  compare   compare two runs, or two suites: what differs, and what began it
  validate  judge for each action whether the program still does the same
  trace     write a trace for Perfetto, Chrome or Tracy
  report    write an HTML page about a run
  stat      measure the cost of actions
  track     track operations from an IR to a later one, and back
  whatif    compare a run with others that do something otherwise
  kernels   compile, verify, profile, count and bisect single kernels
  annotate  print the final module with the origin of each operation
  dap       serve the Debug Adapter Protocol, for VS Code and other editors
  doctor    examine tools: the agent for each, and what it can do there
  mcp       serve coding agents by the Model Context Protocol
  cost      join a run-time profile with the lineage of a program

exit status: 0 all commands succeeded, 1 a command failed, 2 bad usage,
3 the tool could not be started; with --return-child-result that of the tool.
"""


class DebugOptions(StartupOptions):
    return_child_result: bool = flag(help="exit with the tool's status")
    follow: Follow = None
    randomize: Randomize = False
    without: Without = ()
    skips: str | None = option("FILE", help="load skips written by 'save skips'")
    skip: tuple[str, ...] = option(
        "SPEC", help="skip every action that matches SPEC, as 'set skip' does; may be repeated"
    )
    edits: str | None = option("FILE", help="apply edits written by 'save edits'")
    tool_stdout: str | None = option("FILE", help="redirect the standard output of the tool")
    version: bool = flag(help="print the versions of actiondbg and the tool")


@subcommand("", "[options] [--] TOOL ARGS...", DebugOptions, _EPILOG)
def run(parser: LineParser[DebugOptions], argv: list[str]) -> int:
    """Debug the actions of an MLIR compiler: stop at, inspect, skip or apply any of them."""
    ours, tool = parser.split(argv)
    options = parser.read(ours)
    if options.version:
        return _print_version(tool)
    if not tool:
        parser.error("the tool is missing: actiondbg [options] TOOL ARGS...")
    if "--" not in argv[: len(argv) - len(tool)]:
        _check_subcommand(parser, ours, tool)
    return _debug(tool, options)


def _check_subcommand(parser: LineParser[DebugOptions], ours: list[str], tool: list[str]) -> None:
    """Refuse a tool that was meant as a subcommand: behind options, or misspelled."""
    if tool[0] in SUBCOMMANDS:
        import shlex

        meant = shlex.join(["actiondbg", tool[0], *ours, *tool[1:]])
        parser.error(
            f"the options of a subcommand follow it: {meant}; a tool of that name follows '--'"
        )
    if names_recording(tool):
        file = tool[0]
        raise LaunchError(f"{file!r} is a recording: debug it with 'actiondbg open {file}'.")
    import difflib

    close = difflib.get_close_matches(tool[0], SUBCOMMANDS, n=1)
    if close and which(tool[0]) is None:
        raise LaunchError(
            f"There is no subcommand or tool {tool[0]!r}: did you mean 'actiondbg {close[0]}'?"
        )


def _print_version(tool: list[str]) -> int:
    from actiondbg.tool import find_tool

    print(f"actiondbg {__version__}")
    found = find_tool(tool[0] if tool else "mlir-opt")
    print(f"tool {found.path}: LLVM {found.llvm() or 'unknown'}")
    return 0


# --- the session --------------------------------------------------------------


def _debug(tool: list[str], options: DebugOptions) -> int:
    from actiondbg.session.session import launch

    session = launch(
        tool,
        follow=options.follow,
        randomize=options.randomize,
        without=options.without,
        stdin=os.devnull if reads_stdin(options) else None,
        stdout=_tool_stdout(options),
        stderr="inherit",
        skips=options.skips,
        edits=options.edits,
    )
    for text in options.skip:
        session.skips.rules.add(*split_spec_and_condition(text))
    with session:
        if not options.json:  # whose client gets the error as the answer to run
            _check_tool(session)
        code = run_console(make_console(session, options, live=session), options)
    return _child_result(session, code) if options.return_child_result else code


def _check_tool(session: Session) -> None:
    """Raise LaunchError at once for a tool that cannot be debugged."""
    from actiondbg.tool.discovery import is_driver

    if not is_driver(session.target.argv):  # which needs the arguments that run may give
        _ = session.target.tool


def _tool_stdout(options: DebugOptions) -> str | TextIO:
    if options.tool_stdout:
        return os.path.abspath(options.tool_stdout)
    return sys.stderr if options.json else "inherit"


def _child_result(session: Session, code: int) -> int:
    """Return the exit code of the tool, if it was started and all commands succeeded."""
    from actiondbg.process.stop import parse_crash

    status = session.exit_status
    if code or status is None:
        return code
    last = session.execution.last if session.execution else None
    crash = parse_crash(last.message or "") if last else None
    # A tool that was left at the stop of its crash died of that, not of our SIGKILL.
    return exit_code(status if crash is None else -signal.Signals[crash.signal])
