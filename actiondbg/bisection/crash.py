"""Where a tool crashed, and why, by its end and what it wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path

from actiondbg.bisection.command_runner import error_lines, fatal_line
from actiondbg.process.stop import CrashCause, Stop, crash_cause, function_name

# A frame in the stack trace of LLVM's crash handler: with its name, and the library or the source.
_FRAME = re.compile(r"\s*#\d+ 0x[0-9a-f]+ (?P<name>\S.*?)?(?: ?\(\S+\+0x[0-9a-f]+\)| \S+:\d+:\d+)")
_TRAMPOLINE = ("", "__restore_rt")  # from a signal to its handler, in the C library


def crash_sentence(stop: Stop, *errors: Path) -> str:
    """Return where the tool crashed, and why: the action, the signal, the message, the function.

    Args:
        stop: the end of the tool.
        errors: files with the stderr of the tool, and of further runs that crashed alike.
    """
    how = (stop.message or "The tool crashed.").rstrip(".")
    cause = cause_of("SIGABRT" if "SIGABRT" in how else "", chain(*map(error_lines, errors)))
    what = f": {cause.what}" if cause.what and cause.what not in how else ""
    return f"{how}{what}{place_of(cause)}."


def cause_of(signal: str, errors: Iterable[str]) -> CrashCause:
    """Return the cause of a crash.

    Args:
        signal: its name, such as SIGSEGV.
        errors: the lines of the tool's stderr; LLVM's stack trace names the function in which a
            signal came. Where an abort came is a function of the C library, and not named.
    """
    lines = list(errors)
    cause = crash_cause(signal, fatal_line(lines))
    if cause.what or signal == "SIGABRT":
        return cause
    frames = [match["name"] or "" for match in map(_FRAME.fullmatch, lines) if match]
    interrupted = (name for frame, name in pairwise(frames) if frame in _TRAMPOLINE)
    return cause._replace(function=next(interrupted, "") or None)


def place_of(cause: CrashCause) -> str:
    """Return where the cause is, as the end of a sentence: " in FUNCTION at FILE:LINE"."""
    comma = "" if cause.what else ","
    function = f"{comma} in {function_name(cause.function)}" if cause.function else ""
    return f"{function} at {cause.place}" if cause.place else function
