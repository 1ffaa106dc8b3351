"""The recording of a suite: a driver whose processes record on their own."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from actiondbg.recording.capture.recorder import IRDetail, RecordingProcess
from actiondbg.suite.folder import SuiteFolder
from actiondbg.support.closeable import Closeable
from actiondbg.tool.agent_environment import SUITE
from actiondbg.tool.program import Program
from actiondbg.tool.seen_programs import SeenPrograms
from actiondbg.tool.shipped import shipped_agent

_SECONDS = 0.5  # between two looks at the size of the recordings


class SuiteProcess(Closeable):
    """A running driver; leaving the ``with`` block ends it and what it has started.

    Args:
        running: the driver.
        folder: the suite.
        limit: bytes of all recordings at which recording ends; None for no limit.
    """

    def __init__(self, running: RecordingProcess, folder: SuiteFolder, limit: int | None) -> None:
        self._running = running
        self._folder = folder
        self._limit = limit
        self._has_terminal_group = _is_in_foreground()
        self.interrupted = False

    def wait(self) -> int:
        """Wait for the end of the driver; return its exit status, negative for a signal.

        Ctrl-C at a terminal reaches the driver, too, and the wait goes on until it has ended.
        """
        looked = time.monotonic()
        while True:
            try:
                done = self._running.poll(_SECONDS)
                if done is not None:
                    return done.status
                if self._limit is not None and time.monotonic() - looked >= _SECONDS:
                    self._check_size(self._limit)
                    looked = time.monotonic()
            except KeyboardInterrupt:
                self.interrupt()

    def interrupt(self) -> None:
        """Note an interrupt, and send it to a driver that has not got it from the terminal."""
        self.interrupted = True
        if not self._has_terminal_group:
            self._running.interrupt()

    def close(self) -> None:
        """End the driver if it still runs."""
        self._running.close()

    def _check_size(self, limit: int) -> None:
        if not self._folder.full.exists() and self._folder_size() >= limit:
            with contextlib.suppress(OSError):
                self._folder.full.touch()

    def _folder_size(self) -> int:
        size = 0
        with contextlib.suppress(OSError), os.scandir(self._folder.runs) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    size += entry.stat().st_size
        return size


class RecordedSuite(NamedTuple):
    """A recorded driver that has ended.

    Args:
        status: its exit status, negative for a signal.
        interrupted: whether Ctrl-C was pressed.
        seconds: its wall time.
    """

    status: int
    interrupted: bool
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
    agent = _link_agent(folder)
    variables = _agent_variables(program, agent, folder, ir)
    _write_settings(folder, variables)
    began = time.monotonic()
    started = program.popen(variables, (None, None, None), agent=agent)
    with SuiteProcess(RecordingProcess(started, None), folder, limit) as running:
        status = running.wait()
        return RecordedSuite(status, running.interrupted, time.monotonic() - began)


def _link_agent(folder: SuiteFolder) -> Path:
    """Return the path from which the processes load the agent."""
    agent = folder.agent / "agent.so"
    agent.unlink(missing_ok=True)
    agent.symlink_to(shipped_agent())
    return agent


def _agent_variables(
    program: Program, agent: Path, folder: SuiteFolder, ir: IRDetail
) -> dict[str, str]:
    """Return the environment variables that configure the agent."""
    of_program = program.environment(agent)
    return {
        **{name: value for name, value in of_program.items() if name.startswith("ACTIONDBG_")},
        **SeenPrograms(folder.path).variables,
        SUITE: str(folder.path),
        "ACTIONDBG_RECORD": str(folder.runs),
        "ACTIONDBG_RECORD_IR": ir,
    }


def _write_settings(folder: SuiteFolder, variables: Mapping[str, str]) -> None:
    """Write the agent's settings beside it: lit passes only LD_PRELOAD on to its tests."""
    words = [f"{name}={value}\0" for name, value in variables.items()]
    (folder.agent / "settings").write_bytes(os.fsencode("".join(words)))


def _is_in_foreground() -> bool:
    """Whether Ctrl-C at the terminal reaches all processes of our group, the driver among them."""
    with contextlib.suppress(OSError, ValueError):
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    return False
