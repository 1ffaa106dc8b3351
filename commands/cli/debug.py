"""``actiondbg [options] [--] TOOL ARGS...``, ``actiondbg connect`` and ``actiondbg open``."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NamedTuple

from actiondbg import __version__
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands import FAILED, NOT_STARTED, SUBCOMMANDS
from actiondbg.commands.cli import line_parser
from actiondbg.commands.cli.line_parser import LineParser, names_recording, subcommand
from actiondbg.commands.interpreter.options import Options, flag, option, positional
from actiondbg.errors import LaunchError
from actiondbg.recording.overwrite_protection import check_overwritten
from actiondbg.support.executables import which
from actiondbg.support.interrupts import exit_code

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.interpreter.interpreter import Interpreter
    from actiondbg.commands.shell.prompt.shell import Shell
    from actiondbg.recording.session.recorded_session import DebugSession, RecordedSession
    from actiondbg.session.session import Session


class Script(NamedTuple):
    """A file of commands (-x), or one command (-ex)."""

    text: str
    is_file: bool = False


class StartupOptions(Options):
    """The options of consoles: commands to run, and output."""

    scripts: Annotated[  # in command-line order
        tuple[Script, ...],
        option(
            "-x", "FILE", help="run the commands of a file", parse=partial(Script, is_file=True)
        ),
        option("-ex", "CMD", help="run a command", parse=Script),
    ] = ()
    batch: bool = flag(help="exit after -x and -ex, or at the first failure")
    json: bool = flag(help="print one JSON object a command")
    keep_going: bool = flag(help="continue after failing commands")
    nx: bool = flag("-nx", help="do not run .actiondbginit")
    trust: bool = flag(help="trust ./.actiondbginit, now and later")
    no_color: line_parser.NoColor = False


def is_interactive(options: StartupOptions) -> bool:
    return not options.batch and not options.json and sys.stdin.isatty()


def reads_stdin(options: StartupOptions) -> bool:
    """Whether commands are read from standard input without a prompt."""
    return not options.batch and not is_interactive(options)


def make_console(
    session: DebugSession,
    options: StartupOptions,
    live: Session | None = None,
    recorded: RecordedSession | None = None,
) -> Console:
    """Return the console of a session for the options of a command line; see Console."""
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.render.terminal.progress import ProgressLine

    return Console(
        session,
        live,
        json=options.json,
        interactive=is_interactive(options),
        color=not options.no_color,
        recorded=recorded,
        progress=ProgressLine(sys.stderr, enabled=not options.json),
    )


def run_console(console: Console, options: StartupOptions) -> int:
    """Run the init scripts, -x and -ex, then the shell or standard input; return the exit code."""
    from actiondbg.commands.interpreter.interpreter import Interpreter, Lines
    from actiondbg.commands.shell.topics import COMMANDS

    from_stdin = reads_stdin(options)
    keep_going = options.keep_going or console.interactive or (options.json and from_stdin)
    interpreter = Interpreter(console, COMMANDS, keep_going=keep_going)
    console.shell = load = _shell_loader(console, interpreter) if console.interactive else None
    succeeded = _run_init(console, interpreter, options) or keep_going
    succeeded = succeeded and (interpreter.run(Lines(_script_lines(options.scripts))) or keep_going)
    if load is not None:
        if not console.quitting:
            shell = load()  # first: Ctrl-C during the import ends without a word
            if console.session.state == "not-running":
                console.note("'help' lists the commands; 'start' stops before the first action.")
            shell.run()
        return 0
    if succeeded and from_stdin and not console.quitting:
        lines = (line.rstrip("\n") for line in iter(sys.stdin.readline, ""))
        succeeded = interpreter.run(Lines(lines, None if console.json else "<stdin>"))
    # A program would be killed because a tool of it has failed: it runs on.
    while succeeded and not (console.json or console.quitting) and console.way_on is not None:
        succeeded = interpreter.execute("continue")
    if interpreter.failure is None:
        return 0
    return NOT_STARTED if isinstance(interpreter.failure, LaunchError) else FAILED


def _script_lines(scripts: Sequence[Script]) -> Iterator[str]:
    for script in scripts:
        yield f"source {_quoted(script.text)}" if script.is_file else script.text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _run_init(console: Console, interpreter: Interpreter, options: StartupOptions) -> bool:
    """Run the init scripts that exist and are trusted."""
    from actiondbg.commands.interpreter.interpreter import ScriptEnded
    from actiondbg.commands.shell.scripts import InitScript, project_file, user_file

    user, project = user_file(), project_file()
    script = InitScript(project) if project.is_file() and project != user else None
    if options.trust and script is not None:
        script.trust()
    if options.nx:
        return True
    console.quiet = True
    try:
        succeeded = not user.is_file() or interpreter.execute(f"source {_quoted(str(user))}")
        if script is not None and script.is_trusted():
            try:
                interpreter.run_script(script.text, str(project))
            except ScriptEnded:
                return False
            return succeeded
    finally:
        console.quiet = False
    if script is not None:
        console.note(f"{project} was not run: if you trust it, use 'trust' or --trust.")
    return succeeded


# --- the shell ----------------------------------------------------------------


def _shell_loader(console: Console, interpreter: Interpreter) -> Callable[[], Shell]:
    """Return a function that makes the shell at its first call.

    cmd2, which is slow to import, is imported while commands run.
    """
    module = "actiondbg.commands.shell.prompt.shell"
    thread = threading.Thread(target=import_module, args=(module,), daemon=True)
    thread.start()

    @cache
    def load() -> Shell:
        thread.join()
        from actiondbg.commands.shell.prompt.shell import Shell

        return Shell(console, interpreter)

    return load


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
  trace     write a trace for Perfetto, Chrome, Tracy or a flame graph
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
    follow: line_parser.Follow = None
    randomize: line_parser.Randomize = False
    without: line_parser.Without = ()
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
        from actiondbg.tool import find_tool

        print(f"actiondbg {__version__}")
        found = find_tool(tool[0] if tool else "mlir-opt")
        print(f"tool {found.path}: LLVM {found.llvm() or 'unknown'}")
        return 0
    if not tool:
        parser.error("the tool is missing: actiondbg [options] TOOL ARGS...")
    if "--" not in argv[: len(argv) - len(tool)]:
        _check_subcommand(parser, ours, tool)
    if options.tool_stdout:
        check_overwritten(options.tool_stdout, tool)
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


# --- the session --------------------------------------------------------------


def _debug(tool: list[str], options: DebugOptions) -> int:
    from actiondbg.session.session import launch
    from actiondbg.tool.discovery import is_driver

    stdout = sys.stderr if options.json else "inherit"
    session = launch(
        tool,
        follow=options.follow,
        randomize=options.randomize,
        without=options.without,
        stdin=os.devnull if reads_stdin(options) else None,
        stdout=os.path.abspath(options.tool_stdout) if options.tool_stdout else stdout,
        stderr="inherit",
        skips=options.skips,
        edits=options.edits,
    )
    for text in options.skip:
        session.skips.rules.add(*split_spec_and_condition(text))
    with session:
        # A tool that cannot be debugged is reported at once; a client of --json gets the error as
        # the answer to run, and a driver needs the arguments that run may give.
        if not options.json and not is_driver(session.target.argv):
            _ = session.target.tool
        code = run_console(make_console(session, options, live=session), options)
    return _child_result(session, code) if options.return_child_result else code


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


_CONNECT_EPILOG = """\
examples:
  actiondbg connect /tmp/actiondbg-attach-12ab/wait
  actiondbg connect --batch -ex 'break pattern:Fold*' -ex run -ex print SOCKET

The program goes on at 'run' or 'start', and stops in MLIR contexts that it makes from then on. It
keeps its standard streams. 'quit' lets it run on by itself.

exit status: 0 all commands succeeded, 1 a command failed, 2 bad usage,
3 no program waits at the socket.
"""


class ConnectOptions(StartupOptions):
    socket: str = positional("SOCKET", help="the path that actiondbg.attach(wait=True) printed")


@subcommand("connect", "[options] SOCKET", ConnectOptions, _CONNECT_EPILOG)
def connect_(parser: LineParser[ConnectOptions], argv: list[str]) -> int:
    """Debug a Python program that waits in actiondbg.attach(wait=True)."""
    options = parser.read(argv)
    from actiondbg.session.session import connect

    with connect(options.socket) as session:
        return run_console(make_console(session, options, live=session), options)


_OPEN_EPILOG = """\
examples:
  actiondbg open run.adbrec
  actiondbg open -ex 'break pattern:Fold*' -ex continue --batch run.adbrec
  echo 'info patterns' | actiondbg open --json run.adbrec

The commands are those of 'actiondbg TOOL ARGS...', except for those that need a running tool:
docs/open.md lists them. 'actiondbg record -o run.adbrec -- TOOL ARGS...' makes a recording.

exit status: 0 all commands succeeded, 1 a command failed or the file is not a recording,
2 bad usage.
"""


class OpenOptions(StartupOptions):
    partial: line_parser.Partial = False
    file: str = positional("RUN.adbrec", help="a recording of 'actiondbg record'")


@subcommand("open", "[options] RUN.adbrec", OpenOptions, _OPEN_EPILOG)
def open_(parser: LineParser[OpenOptions], argv: list[str]) -> int:
    """Debug a recording like a running tool."""
    options = parser.read(argv)
    from actiondbg.recording.session import open_session

    with open_session(options.file, partial=options.partial) as session:
        console = make_console(session, options, recorded=session)
        # Most recordings contain no IR: a message about that at each stop would be noise.
        console.settings.set("print-stop", "off")
        if console.interactive:
            console.note(console.greeting)
        return run_console(console, options)
