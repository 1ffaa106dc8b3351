"""The command line: ``actiondbg [options] [--] TOOL ARGS...``, ``actiondbg bisect ...``.

What is imported here is imported before any tool is started.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from actiondbg.commands import FAILED, NOT_STARTED
from actiondbg.errors import ActiondbgError, LaunchError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from types import FrameType

_CLI = "actiondbg.commands.cli"
SUBCOMMANDS = {
    "bisect": f"{_CLI}.bisect",
    "export": f"{_CLI}.export",
    "log": f"{_CLI}.log",
    "open": f"{_CLI}.open",
    "query": f"{_CLI}.query",
    "record": f"{_CLI}.record",
    "report": f"{_CLI}.report",
    "stat": f"{_CLI}.stat",
    "trace": f"{_CLI}.trace",
}
_DEBUG = f"{_CLI}.debug"  # where no subcommand is named
_OF_NANOBIND = frozenset(("duckdb", "mlir"))  # packages


class Subcommand(Protocol):
    """A module that implements a subcommand."""

    def build_parser(self) -> ArgumentParser:
        """Return the parser of its options."""
        ...

    def run(self, argv: list[str]) -> int:
        """Run the command line after the subcommand's name; return the exit code."""
        ...


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    _open_missing()
    atexit.register(_end_quickly)
    words = sys.argv[1:] if argv is None else argv
    try:
        return _flushed(words)
    except LaunchError as error:
        return _complain(error, NOT_STARTED)
    except BrokenPipeError:
        _drop_output()  # who read it has left
        return FAILED
    except (ActiondbgError, OSError) as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _open_missing() -> None:
    """Open /dev/null where a standard stream is closed, or a file of ours would be in its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            os.set_inheritable(number, True)  # to the tool
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _flushed(words: list[str]) -> int:
    """Run the command line; what cannot be written is an error here, not at the exit."""
    try:
        return _delegate(words)
    finally:
        sys.stdout.flush()


def _drop_output() -> None:
    """Drop what is still buffered and cannot be written: it must not raise at the exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _delegate(words: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    if words and words[0] in SUBCOMMANDS:
        return load_subcommand(SUBCOMMANDS[words[0]]).run(words[1:])
    return load_subcommand(_DEBUG).run(words)


def load_subcommand(module: str) -> Subcommand:
    """Import a subcommand, only then: each brings packages that the others do not need."""
    return cast("Subcommand", import_module(module))


def _end_quickly() -> None:
    """Spare the interpreter its searches for garbage as it ends, which take 10 ms and more."""
    # But nanobind would say on stderr that what is not collected is leaked.
    if _OF_NANOBIND.isdisjoint(sys.modules):
        gc.freeze()


def _complain(error: Exception, code: int) -> int:
    from actiondbg.commands.interpreter.error_text import message_of

    _drop_output()
    print(f"actiondbg: {message_of(error)}", file=sys.stderr)
    return code


def _leave(number: int, _: FrameType | None) -> NoReturn:
    """End through every ``finally``: the session is closed on the way."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second one must not cut the cleaning up short
    sys.exit(128 + number)
