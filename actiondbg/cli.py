"""The command line: ``actiondbg [options] [--] TOOL ARGS...``, ``actiondbg bisect ...``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from actiondbg import __version__
from actiondbg.errors import ActiondbgError, LaunchError

if TYPE_CHECKING:
    from actiondbg.commands.front import Front
    from actiondbg.commands.interpreter import Interpreter
    from actiondbg.session import Session

FAILED, USAGE, NOT_STARTED = 1, 2, 3  # exit codes
_VALUED = ("-x", "-ex", "--mlir-include", "--skips", "--tool-stdout")
_EPILOG = """\
examples:
  actiondbg mlir-opt in.mlir --canonicalize
  actiondbg -ex 'break pattern:Fold*' -ex run mlir-opt in.mlir --canonicalize
  actiondbg --batch -x steps.adbg mlir-opt in.mlir --canonicalize
  echo 'break-on-tag fold' | actiondbg --json mlir-opt in.mlir --canonicalize
  actiondbg bisect --test './judge.sh {}' -- mlir-opt in.mlir --canonicalize

'actiondbg bisect --help' is about finding the action that breaks a program.

exit status: 0 all commands succeeded, 1 a command failed, 2 bad usage,
3 the tool could not be started; with --return-child-result the tool's.
"""


class _Script(argparse.Action):
    """Collect -x and -ex in one list: they are run in the order in which they stand."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        namespace.scripts = [*namespace.scripts, (option_string, values)]


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
    parser.set_defaults(scripts=[])
    add("-x", action=_Script, metavar="FILE", help="run the commands of a file")
    add("-ex", action=_Script, metavar="CMD", help="run a command")
    add("--batch", action="store_true", help="leave after the -x and -ex, at the first failure")
    add("--json", action="store_true", help="print one JSON object a command")
    add("--keep-going", action="store_true", help="a failing command does not end a batch")
    add("--return-child-result", action="store_true", help="exit with the tool's status")
    add("--mlir-include", metavar="DIR", help="where the headers of the tool's MLIR are")
    add("--skips", metavar="FILE", help="skip what 'save skips' wrote into a file")
    add("--tool-stdout", metavar="FILE", help="where the tool's standard output goes")
    add("-nx", action="store_true", help="do not run .actiondbginit")
    add("--trust", action="store_true", help="trust ./.actiondbginit from now on")
    add("--no-color", action="store_true", help="no colours")
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
        return _bisect(words[1:]) if words[:1] == ["bisect"] else _start(words)
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


def _bisect(words: list[str]) -> int:
    from actiondbg.commands.bisect_cli import run

    _leave_on_signals()
    return run(words)


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

    interactive = not options.batch and not options.json and sys.stdin.isatty()
    reads_stdin = not options.batch and not interactive
    spinner = Spinner()
    session = launch(
        tool,
        mlir_include=options.mlir_include,
        stdin=os.devnull if reads_stdin else None,
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
            interactive=interactive,
            color=not options.no_color,
            after_resume=spinner.stop,
        )
        code = _run(front, options, reads_stdin)
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


def _run(front: Front, options: argparse.Namespace, reads_stdin: bool) -> int:
    """Run the init files, -x and -ex, then what follows; return the exit code."""
    from actiondbg.commands.interpreter import Interpreter, Lines

    keep_going = options.keep_going or front.interactive or (options.json and reads_stdin)
    interpreter = Interpreter(front, keep_going=keep_going)
    loader = ShellLoader(front) if front.interactive else None
    succeeded = _run_init(front, interpreter, options) or keep_going
    succeeded = succeeded and (interpreter.run(Lines(_script_lines(options.scripts))) or keep_going)
    if loader is not None:
        return _run_shell(front, loader)
    if succeeded and reads_stdin and not front.quitting:
        lines = (line.rstrip("\n") for line in iter(sys.stdin.readline, ""))
        interpreter.run(Lines(lines, None if front.json else "<stdin>"))
    return _exit_code(interpreter)


def _exit_code(interpreter: Interpreter) -> int:
    if interpreter.failure is None:
        return 0
    return NOT_STARTED if isinstance(interpreter.failure, LaunchError) else FAILED


def _script_lines(scripts: list[tuple[str, str]]) -> Iterator[str]:
    for option, text in scripts:
        yield f"source {quoted(text)}" if option == "-x" else text


def quoted(text: str) -> str:
    """Return a word as the interpreter reads it back."""
    return "'" + text.replace("'", "'\\''") + "'"


def _run_init(front: Front, interpreter: Interpreter, options: argparse.Namespace) -> bool:
    """Run the init files that are there and trusted."""
    from actiondbg.commands import trust

    project = trust.project_file()
    if options.trust:
        trust.add(project)
    if options.nx:
        return True
    files = [trust.user_file()]
    if project.is_file() and project != files[0]:
        if trust.is_trusted(project):
            files.append(project)
        else:
            front.note(f"{project} was not run: say 'trust' or use --trust if you trust it.")
    front.quiet = True
    try:
        return all([interpreter.execute(f"source {quoted(str(f))}") for f in files if f.is_file()])
    finally:
        front.quiet = False


# --- the shell ----------------------------------------------------------------


class ShellLoader:
    """Imports the shell while the tool starts: cmd2 takes as long as the tool does."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._shell: Any = None
        self._thread = threading.Thread(target=self._import, daemon=True)
        self._thread.start()
        front.shell = self.get

    @staticmethod
    def _import() -> None:
        import_module("actiondbg.commands.shell")

    def get(self) -> Any:
        """Return the shell; it is made the first time."""
        if self._shell is None:
            self._thread.join()
            self._shell = import_module("actiondbg.commands.shell").Shell(self._front)
        return self._shell


def _run_shell(front: Front, loader: ShellLoader) -> int:
    if not front.quitting:
        shell = loader.get()
        import_module("actiondbg.commands.shell").run(shell)
    return 0


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
