"""Other runs in which a pattern was tried: recordings, whose commands run again, and inputs.

A recording does not hold what was around an operation. It names its command, which is run again
under the agent, with its output file replaced by the null device.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.recording.query.sources import SUFFIX, open_sources
from actiondbg.session.session import launch
from actiondbg.tool.command_line import inspect_command_line

if TYPE_CHECKING:
    from actiondbg.analysis.contrast import Example
    from actiondbg.recording.recording import Recording

_MATCHED = ("succeeded", "unchanged")


def examples(name: str, others: Sequence[str], argv: Sequence[str]) -> list[Example]:
    """Run other commands to their end, and return the examples of a pattern in them.

    Args:
        name: of the pattern, a glob.
        others: recordings, folders of recordings, and inputs for the command of this run.
        argv: that command.

    Raises:
        RecordingError: a recording cannot be read, or a folder holds none.
        UsageError: an input does not exist, or a command can no longer run.
    """
    found: list[Example] = []
    for other in others:
        if other.endswith(SUFFIX) or Path(other).is_dir():
            for run, recording in open_sources([other], partial=True).recordings.items():
                found += _of_recording(name, run, recording)
        else:
            found += _of_command(name, other, _with_input(argv, other), None)
    return found


def _of_recording(name: str, run: str, recording: Recording) -> Iterator[Example]:
    """Run the command of a recording again, if the pattern succeeded in it."""
    from actiondbg.recording.session.recorded_session import RecordedSession

    with RecordedSession(recording) as session:
        session.run()
        results = {group.result for group in session.past.why_not(name).grouped()}
    if results.isdisjoint(_MATCHED):
        return
    argv, cwd = list(recording.header.argv), recording.header.cwd
    if not Path(cwd).is_dir():
        raise UsageError(
            f"The command of {recording.path} cannot run again: its working directory {cwd!r} is "
            "gone."
        )
    if inspect_command_line(argv, Path(cwd)).reads_stdin:
        raise UsageError(
            f"The command of {recording.path} cannot run again: it read its standard input, which "
            "is not recorded."
        )
    yield from _of_command(name, run, argv, cwd)


def _of_command(name: str, run: str, argv: list[str], cwd: str | None) -> list[Example]:
    line = inspect_command_line(argv, None if cwd is None else Path(cwd))
    with launch(line.with_output(Path(os.devnull)), cwd=cwd, stdin=os.devnull) as session:
        try:
            session.run()
            return session.past.examples(name, run)
        except ActiondbgError as error:
            raise UsageError(f"The run {run} cannot be compared: {error}") from error


def _with_input(argv: Sequence[str], path: str) -> list[str]:
    if not Path(path).is_file():
        raise UsageError(
            f"There is no file {path!r} to compare with: name a recording (*{SUFFIX}), a folder of "
            "recordings or another input."
        )
    line = inspect_command_line(list(argv))
    if line.input is None:
        raise UsageError(
            f"The command cannot run with the input {path!r}: it names no input, or several."
        )
    return line.with_input(Path(path))
