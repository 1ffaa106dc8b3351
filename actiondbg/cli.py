"""The command line: ``actiondbg [options] [--] TOOL ARGS...``, ``actiondbg bisect ...``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from actiondbg import __version__
from actiondbg.commands.driving import (
    FAILED,
    NOT_STARTED,
    VALUED,
    add_options,
    drive,
    is_interactive,
    reads_stdin,
)
from actiondbg.errors import ActiondbgError, LaunchError

if TYPE_CHECKING:
    from actiondbg.session import Session

SUBCOMMANDS = ("bisect", "export", "log", "open", "query", "record", "report", "stat", "trace")
_VALUED = (*VALUED, "--mlir-include", "--skips", "--tool-stdout")
_EPILOG = """\
examples:
  actiondbg mlir-opt in.mlir --canonicalize
  actiondbg -ex 'break pattern:Fold*' -ex run mlir-opt in.mlir --canonicalize
  actiondbg --batch -x steps.adbg mlir-opt in.mlir --canonicalize
  echo 'break-on-tag fold' | actiondbg --json mlir-opt in.mlir --canonicalize
  actiondbg bisect --test './judge.sh {}' -- mlir-opt in.mlir --canonicalize

'actiondbg bisect --help' is about finding the action that breaks a program; record, log, trace,
report and stat watch a whole run, and query, export and open are for what was recorded:
'actiondbg record --help' and so on.

exit status: 0 all commands succeeded, 1 a command failed, 2 bad usage,
3 the tool could not be started; with --return-child-result the tool's.
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of our own options; TOOL and its arguments are cut off before."""
    parser = argparse.ArgumentParser(
        prog="actiondbg",
        usage="actiondbg [options] [--] TOOL ARGS...",
        description="Stop a running MLIR compiler at any action, look, skip, apply.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add_options(parser)
    add("--return-child-result", action="store_true", help="exit with the tool's status")
    add("--mlir-include", metavar="DIR", help="where the headers of the tool's MLIR are")
    add("--skips", metavar="FILE", help="skip what 'save skips' wrote into a file")
    add("--tool-stdout", metavar="FILE", help="where the tool's standard output goes")
    add("--version", action="store_true", help="print the versions of actiondbg and the tool")
    return parser


def split_argv(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split the command line into our options and the tool with its arguments."""
    from actiondbg.commands.words import split_at_tool

    return split_at_tool(argv, _VALUED)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        return _delegate(words) if words and words[0] in SUBCOMMANDS else _start(words)
    except LaunchError as error:
        return _complain(error, NOT_STARTED)
    except BrokenPipeError:
        # Who read our output has left; what is still buffered must not raise at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (ActiondbgError, OSError) as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _start(words: list[str]) -> int:
    ours, tool = split_argv(words)
    parser = build_parser()
    options = parser.parse_args(ours)
    if options.version:
        return _print_version(tool, options)
    if not tool:
        parser.error("name the tool: actiondbg [options] TOOL ARGS...")
    return _debug(tool, options)


def _delegate(words: list[str]) -> int:
    _leave_on_signals()
    # Imported only then: each brings packages that the others do not need.
    return import_module(f"actiondbg.commands.{words[0]}_cli").run(words[1:])


def _complain(error: Exception, code: int) -> int:
    print(f"actiondbg: {error}", file=sys.stderr)
    return code


def _print_version(tool: list[str], options: argparse.Namespace) -> int:
    from actiondbg.toolchain import agent_state, find_tool

    print(f"actiondbg {__version__}")
    found = find_tool(tool[0] if tool else "mlir-opt", options.mlir_include)
    print(f"tool {found.path}: LLVM {found.llvm}")
    print(f"agent: {agent_state(found)}")
    return 0


# --- the session --------------------------------------------------------------


def _debug(tool: list[str], options: argparse.Namespace) -> int:
    from actiondbg.commands.front import Front
    from actiondbg.session import launch

    spinner = Spinner()
    session = launch(
        tool,
        mlir_include=options.mlir_include,
        stdin=os.devnull if reads_stdin(options) else None,
        stdout=_tool_stdout(options),
        stderr="inherit",
        on_compile=spinner.start,
        skips=options.skips,
    )
    spinner.session = session
    _leave_on_signals()
    with session:
        front = Front(
            session,
            json=options.json,
            interactive=is_interactive(options),
            color=not options.no_color,
            after_resume=spinner.stop,
        )
        code = drive(front, options)
    return _child_result(session, code) if options.return_child_result else code


def _tool_stdout(options: argparse.Namespace) -> Any:
    if options.tool_stdout:
        return os.path.abspath(options.tool_stdout)
    return sys.stderr if options.json else "inherit"


def _leave_on_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)


def _leave(number: int, _: FrameType | None) -> NoReturn:
    """End through every ``finally``: the session is closed on the way."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second one must not cut the cleaning up short
    sys.exit(128 + number)


class Spinner:
    """Says on stderr that the agent is compiled; turns there if stderr is a terminal."""

    session: Session

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin: the compiler has been started."""
        text = f"Compiling the agent for LLVM {self.session.tool.llvm} ..."
        if not sys.stderr.isatty():
            print(text, file=sys.stderr, flush=True)
            return
        self._over.clear()
        self._thread = threading.Thread(target=self._turn, args=(text,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End: the tool has stopped, or could not be started."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _turn(self, text: str) -> None:
        from rich.console import Console

        with Console(stderr=True).status(text):
            # Until the tool runs: what it prints must not be mixed with the spinner.
            while self.session.state != "running" and not self._over.wait(0.1):
                pass


def _child_result(session: Session, code: int) -> int:
    """Return the tool's status as a shell gives it, if it ended."""
    status = session.exit_status
    if code or status is None:
        return code
    return status if status >= 0 else 128 - status
