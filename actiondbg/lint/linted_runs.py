"""Recorded runs to lint: those of recordings, folders of these, globs and suites."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from actiondbg.recording import open_recording
from actiondbg.suite.folder import SuiteFolder
from actiondbg.suite.runs import recorded_commands

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


@dataclass(frozen=True)
class ToolCommand:
    """A command of a tool, that can run again."""

    argv: tuple[str, ...]  # its command line
    cwd: str  # its working directory
    stdin: str = os.devnull  # the file that it reads, or /dev/null


class LintedRun(NamedTuple):
    """A recorded run."""

    recording: Recording
    path: str  # of the recording, or its name among several ones
    # What can run again; None if its input is gone, which only a suite knows, as only it has the
    # file of standard input.
    command: ToolCommand | None
    # The test that the run belongs to, with the line of its RUN line; None if that is not known.
    test: str | None = None


def recorded_runs(
    paths: Sequence[str], *, partial: bool = False, warn: Callable[[str], None] | None = None
) -> Iterator[LintedRun]:
    """Yield the runs of recordings and suites; those of a suite are opened one at a time.

    Args:
        paths: suites, recordings, folders of recordings, and globs of these.
        partial: read damaged recordings up to the damage, and leave out unreadable ones if there
            are others; those of suites are read so in any case.
        warn: called with a sentence for each recording that is left out or incomplete.

    Raises:
        RecordingError: nothing is found, or a recording cannot be read.
        UsageError: the format of a suite is not known.
    """
    from actiondbg.recording.query.sources import open_sources

    others: list[str] = []
    for path in paths:
        suite = SuiteFolder(Path(path))
        if not suite.exists:
            others.append(path)
            continue
        for recorded, test, argv, cwd, stdin in recorded_commands(suite):
            recording = open_recording(recorded, partial=True)
            # The suite has the file of the tool, the recording the words, also of long lines.
            words = (argv[0], *recording.header.argv[1:])
            command = None if stdin is None else ToolCommand(words, cwd, stdin)
            yield LintedRun(recording, str(recorded), command, test)
    if not others:
        return
    sources = open_sources(others, partial=partial)
    for sentence in sources.sentences():
        if warn is not None:
            warn(sentence)
    for name, recording in sources.recordings.items():
        header = recording.header
        yield LintedRun(recording, name, ToolCommand(header.argv, header.cwd))
