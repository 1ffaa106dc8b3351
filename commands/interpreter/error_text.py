"""Messages of errors, and reports of internal errors, which are faults of actiondbg."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from errno import EBADF, EIO
from typing import TYPE_CHECKING

from actiondbg.errors import ActiondbgError, InternalError
from actiondbg.support.atomic_write import write_whole
from actiondbg.support.output_file import NO_SPACE, way_out
from actiondbg.support.user_directories import state_directory
from actiondbg.version import VERSION

if TYPE_CHECKING:
    from actiondbg.recording.session.recorded_session import DebugSession

_OUTPUT_ERRORS = (*NO_SPACE, EBADF, EIO)  # of writing, which unlike those of opening name no file


def message_of(error: Exception) -> str:
    """Return the message of an error; for a file error, with its name and the reason."""
    if not isinstance(error, OSError):
        return str(error)
    if error.filename:
        way = way_out(error)
        return f"{str(error.filename)!r} cannot be used ({error.strerror}): {way}."
    if error.errno in _OUTPUT_ERRORS:
        way = way_out(error, "redirect it")
        return f"The output cannot be written ({error.strerror}): {way}."
    return str(error)


def as_reported(
    error: Exception, doing: str, commands: Sequence[str] = (), session: DebugSession | None = None
) -> Exception:
    """Return an error that a user expects unchanged; report any other one.

    Args:
        error: the exception of a command.
        doing: the command line, or the subcommand.
        commands: the command lines of the session so far, the newest last.
        session: the session, which goes on; None if there is none.

    Returns:
        ``error`` if it is an ActiondbgError or an OSError; else an InternalError that names the
        report.
    """
    if isinstance(error, ActiondbgError | OSError):
        return error
    report = _report(error, doing, commands, session)
    fault = f"{type(error).__name__}: {error}".rstrip(": ").partition("\n")[0].rstrip(".")
    return InternalError(
        f"Internal error in {doing!r}: {fault}. {_way_on(session)}{_request(report)}", report[0]
    )


def _way_on(session: DebugSession | None) -> str:
    if session is None:
        return ""
    tool = {"stopped": ", and the tool is still stopped", "exited": ""}.get(session.state, "")
    return f"The session goes on{tool}. "


def _request(report: tuple[str | None, str]) -> str:
    """Return sentences with the report, a file or the text, and what to do with it."""
    path, text = report
    content = "the versions, the command lines so far and the traceback, but no IR"
    if path is None:
        return f"Please send this report to the maintainers: it has {content}.\n{text}"
    return f"Please send the report {path} to the maintainers: it has {content}."


def _report(
    error: Exception, doing: str, commands: Sequence[str], session: DebugSession | None
) -> tuple[str | None, str]:
    """Write a report; return its path, None if it cannot be written, and its text."""
    text = _text(error, doing, commands, session)
    import time

    folder = state_directory() / "reports"
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{time.monotonic_ns() % 1000:03}.txt"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode(errors="replace"))
        return str(folder / name), text
    return None, text


def _text(
    error: Exception, doing: str, commands: Sequence[str], session: DebugSession | None
) -> str:
    import platform
    import traceback

    lines = [
        f"actiondbg {VERSION}, Python {platform.python_version()}, {platform.platform()}",
        f"arguments: {shlex.join(sys.argv[1:])}",
    ]
    with contextlib.suppress(Exception):  # the session itself may be at fault
        lines += _state(session)
    script = "\n".join(commands) or doing
    trace = "".join(traceback.format_exception(error))
    return "\n".join([*lines, "", "command lines:", script, "", trace])


def _state(session: DebugSession | None) -> list[str]:
    from actiondbg.session.session import Session

    if session is None:
        return []
    version = session.target.llvm() if isinstance(session, Session) else None
    llvm = "" if version is None else f"LLVM {version}, "
    stop = session.stop
    place = "" if stop is None else f", {stop.when} #{stop.ordinal} {stop.name}, event {stop.event}"
    return [f"tool: {llvm}{session.state}{place}"]
