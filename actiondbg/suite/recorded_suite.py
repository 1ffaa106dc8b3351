"""The recording of a suite: a driver whose processes record on their own."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from actiondbg.recording.capture.recorder import IRDetail, RecordingProcess
from actiondbg.suite.folder import SuiteFolder
from actiondbg.support.scratch_directory import reserved_space
from actiondbg.tool.agent_environment import SUITE
from actiondbg.tool.program import Program
from actiondbg.tool.seen_programs import SeenPrograms

_NOTES = 4 << 20  # bytes of notes that there is room for when recordings have filled the disk
_SECONDS = 0.5  # between two looks at the size of the recordings


class RecordedSuite(NamedTuple):
    """The exit status of a driver, negative for a signal, and its wall time in seconds."""

    status: int
    seconds: float


def record_suite(
    argv: Sequence[str],
    folder: SuiteFolder,
    *,
    ir: IRDetail = "none",
    limit: int | None = None,
    resume: bool = False,
    follow: str | None = None,
    randomize: bool = False,
    without: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> RecordedSuite:
    """Run a driver, such as lit or ninja, and record each process of it that runs MLIR.

    Each process writes a recording of its own; nothing controls it. Its threads, its output and
    its exit status are its own.

    Args:
        argv: the command line of the driver.
        folder: the suite; it is made.
        ir: the IR to record, see ``start_recording``.
        limit: bytes of all recordings at which recording ends, while the driver runs on; checked
            twice a second. None for no limit.
        resume: keep the runs that the folder has.
        follow: a glob of the processes to record, see ``launch``.
        randomize: whether addresses are random, so that runs may differ.
        without: names of capabilities that the agent does not use.
        env: the driver's environment; None for ours.

    Raises:
        UsageError: the command line is empty, or the folder has other contents.
        LaunchError: the driver cannot be started.
    """
    program = Program(argv, None, env, randomize, follow, without, starts_tools=True)
    program.prepare()
    folder.make(resume)
    folder.describe(program.argv)
    variables = {
        **SeenPrograms(folder.path).variables,
        SUITE: str(folder.path),
        "ACTIONDBG_RECORD": str(folder.runs),
        "ACTIONDBG_RECORD_IR": ir,
    }
    with reserved_space(folder.notes, _NOTES):
        began = time.monotonic()
        started = program.popen(variables, (None, None, None))
        with RecordingProcess(started, None, is_interrupted=_is_in_foreground()) as running:
            while (done := running.poll(_SECONDS)) is None:
                _end_at(limit, folder)
            return RecordedSuite(done.status, time.monotonic() - began)


def _end_at(limit: int | None, folder: SuiteFolder) -> None:
    """Let all processes end recording if the recordings have reached a limit in bytes."""
    if limit is None or folder.full.exists() or _recorded(folder) < limit:
        return
    with contextlib.suppress(OSError):  # a full disk ends recording, too
        folder.full.touch()


def _recorded(folder: SuiteFolder) -> int:
    size = 0
    with contextlib.suppress(OSError), os.scandir(folder.runs) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                size += entry.stat().st_size
    return size


def _is_in_foreground() -> bool:
    """Whether Ctrl-C at the terminal reaches all processes of our group, the driver among them."""
    with contextlib.suppress(OSError, ValueError):
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    return False
