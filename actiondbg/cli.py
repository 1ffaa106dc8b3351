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
from typing import TYPE_CHECKING, NoReturn

from actiondbg.commands import FAILED, NOT_STARTED
from actiondbg.errors import ActiondbgError, LaunchError

if TYPE_CHECKING:
    from types import FrameType

SUBCOMMANDS = ("bisect", "export", "log", "open", "query", "record", "report", "stat", "trace")
_OF_NANOBIND = frozenset(("duckdb", "mlir"))  # packages


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    atexit.register(_end_quickly)
    words = sys.argv[1:] if argv is None else argv
    try:
        return _delegate(words)
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


def _delegate(words: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    # Imported only then: each brings packages that the others do not need.
    if words and words[0] in SUBCOMMANDS:
        return import_module(f"actiondbg.commands.{words[0]}_cli").run(words[1:])
    return import_module("actiondbg.commands.debug_cli").run(words)


def _end_quickly() -> None:
    """Spare the interpreter its searches for garbage as it ends, which take 10 ms and more."""
    # But nanobind would say on stderr that what is not collected is leaked.
    if _OF_NANOBIND.isdisjoint(sys.modules):
        gc.freeze()


def _complain(error: Exception, code: int) -> int:
    print(f"actiondbg: {error}", file=sys.stderr)
    return code


def _leave(number: int, _: FrameType | None) -> NoReturn:
    """End through every ``finally``: the session is closed on the way."""
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second one must not cut the cleaning up short
    sys.exit(128 + number)
