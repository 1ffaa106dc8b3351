"""The command line: ``actiondbg [options] [--] TOOL ARGS...``, ``actiondbg bisect ...``.

Imports of this module delay the start of every tool.
"""

from __future__ import annotations

import atexit
import codecs
import gc
import os
import signal
import sys
import warnings
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Protocol, cast

from actiondbg.commands import BAD_USAGE, FAILED, NOT_STARTED, SUBCOMMANDS
from actiondbg.errors import ActiondbgError, ActiondbgWarning, LaunchError, NotRecorded, UsageError
from actiondbg.support.interrupts import delay_signal, raise_interrupt

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from types import FrameType
    from typing import TextIO

_DEBUG = "actiondbg.commands.cli.debug"  # without a subcommand
_ESCAPED = "actiondbg.escaped"  # the handler of errors of encodings
_PASSED = "actiondbg-passed-or-escaped"
_NANOBIND_PACKAGES = frozenset(("duckdb", "mlir"))

# The standard streams, with flags for a file in the place of each that fails as a closed stream.
_UNUSABLE = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY, "stderr": os.O_RDONLY}


class Subcommand(Protocol):
    """A subcommand, as ``actiondbg.commands.cli.line_parser`` declares it."""

    def build_parser(self) -> ArgumentParser:
        """Return the parser of the subcommand's options."""
        ...

    def __call__(self, argv: list[str]) -> int:
        """Run the command line after the subcommand's name; return the exit code."""
        ...


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    _open_standard_streams()
    _escape_characters()
    atexit.register(_skip_collection)
    warnings.showwarning = _show_warning
    words = sys.argv[1:] if argv is None else argv
    try:
        return _run_and_flush(words)
    except LaunchError as error:
        return _print_error(error, NOT_STARTED)
    except NotRecorded as error:  # no fault of the command line
        return _print_error(error, FAILED)
    except UsageError as error:
        return _print_error(error, BAD_USAGE)
    except BrokenPipeError:
        _drop_output()  # the reader has ended
        return FAILED
    except (ActiondbgError, OSError) as error:
        return _print_error(_explained(error), FAILED)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        from actiondbg.commands.interpreter.error_text import as_reported

        return _print_error(as_reported(error, " ".join(["actiondbg", *words[:1]])), FAILED)


def _explained(error: Exception) -> Exception:
    """Return the error to print: of a current directory that is gone, Python names no file."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        try:
            os.getcwd()
        except FileNotFoundError:
            return UsageError("The current directory has been removed: change to another one.")
    return error


def _open_standard_streams() -> None:
    """Open /dev/null for closed standard streams, so that no other file gets their numbers.

    The tool inherits them, and fails where it reads or writes them, as it does where they are
    closed; our own reads and writes do not fail.
    """
    closed: list[str] = []
    for number, (name, flags) in enumerate(_UNUSABLE.items()):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest free number, which is this one
            os.set_inheritable(number, True)
            closed.append(name)
    for name in closed:
        own = os.open(os.devnull, os.O_RDWR)
        setattr(sys, name, os.fdopen(own, "r" if name == "stdin" else "w"))


def _escape_characters() -> None:
    """Escape what the encoding of a stream lacks, as JSON does: text is printed in any case.

    Such are names that are not valid in UTF-8, and with PYTHONIOENCODING=ascii all others than
    English ones.
    """
    codecs.register_error(_ESCAPED, _escaped)
    codecs.register_error(_PASSED, _passed_or_escaped)
    for stream, errors, handler in (
        (sys.stdin, "strict", "surrogateescape"),
        (sys.stdout, "surrogateescape", _PASSED),  # as of the locale POSIX
        (sys.stdout, "strict", _ESCAPED),
    ):
        if isinstance(stream, TextIOWrapper) and stream.errors == errors:
            stream.reconfigure(errors=handler)


def _passed_or_escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return _escaped(error)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in pairs), error.end


def _run_and_flush(words: list[str]) -> int:
    """Run the command line, and flush, so that a write error is raised here and not at exit."""
    try:
        return _delegate(words)
    finally:
        sys.stdout.flush()


def _drop_output() -> None:
    """Drop buffered output that cannot be written, so that the exit raises no error."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _delegate(words: list[str]) -> int:
    # Large recordings become many objects without cycles, for which Python searches too often.
    gc.set_threshold(50_000)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit_on_signal)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as for a job in the background
        signal.signal(signal.SIGINT, raise_interrupt)
    for length in (2, 1):  # a group of commands, such as kernels, has names of two words
        name = " ".join(words[:length])
        if name in SUBCOMMANDS:
            return load_subcommand(SUBCOMMANDS[name])(words[length:])
    return load_subcommand(_DEBUG)(words)


def load_subcommand(place: str) -> Subcommand:
    """Import a subcommand, lazily: each needs packages that the others do not.

    Args:
        place: its module, and after a colon its name there; ``run`` without a name.
    """
    module, _, name = place.partition(":")
    return cast("Subcommand", getattr(import_module(module), name or "run"))


def _skip_collection() -> None:
    """Skip the interpreter's garbage collection at exit, which takes 10 ms and more."""
    # With nanobind, objects that are not collected are reported on stderr as leaks.
    if _NANOBIND_PACKAGES.isdisjoint(sys.modules):
        gc.freeze()


def _print_error(error: Exception, code: int) -> int:
    from actiondbg.commands.interpreter.error_text import message_of
    from actiondbg.commands.render.terminal.output import print_notice

    _drop_output()
    print_notice(message_of(error))
    return code


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of actiondbg as a sentence, and any other one as Python does."""
    out = file or sys.stderr
    if issubclass(category, ActiondbgWarning):
        print(f"actiondbg: {message}", file=out)
    else:
        out.write(warnings.formatwarning(message, category, filename, lineno, line))


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    """Exit by an exception, so that every ``finally`` runs and the session is closed."""
    if delay_signal(number, frame):
        return
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
    sys.exit(128 + number)
