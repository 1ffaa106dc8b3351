"""Runs of the plain tool with random addresses: how often its output is bad."""

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

from actiondbg.bisection.command_runner import STDERR, STDOUT, Cancelled, CommandRunner
from actiondbg.bisection.evaluator import content_digest
from actiondbg.bisection.oracles import TrialFiles
from actiondbg.bisection.task import BisectionTask
from actiondbg.process.stop import exit_of
from actiondbg.support.counts import counted
from actiondbg.tool.address_layout import address_layout

_RUNS = 4
_MORE_RUNS = 8  # if their verdicts differ
_SECONDS = 2.0  # the search is not prolonged by more runs
_MISSED = 0.001  # the chance that a bad output is missed by as many tries
_LEAST_TRIES, _MOST_TRIES = 16, 30  # a few runs are a rough estimate


class PlainVerdicts(NamedTuple):
    """How often the plain tool is bad with random addresses.

    Attributes:
        bad: the number of runs with a bad output.
        runs: the number of runs.
        outputs: the number of different ends, outputs included.
    """

    bad: int = 0
    runs: int = 0
    outputs: int = 0

    @property
    def is_always_bad(self) -> bool:
        """Whether no run was good, as far as is known."""
        return self.bad == self.runs

    @property
    def is_the_same(self) -> bool:
        """Whether all runs had the same bad output, as far as is known."""
        return self.is_always_bad and self.outputs <= 1

    @property
    def tries(self) -> int:
        """How often the tool has to be run to be bad almost certainly."""
        good = 1 - self.bad / (self.runs + 1)
        tries = _MOST_TRIES if good == 1 else math.ceil(math.log(_MISSED) / math.log(good))
        return min(max(tries, _LEAST_TRIES), _MOST_TRIES)

    def describe(self) -> str:
        """Return the numbers in a sentence."""
        return (
            f"The plain tool is bad in {self.bad} of {counted(self.runs, 'run')} with "
            "random addresses, so "
            "the bug depends on addresses."
        )


class PlainRuns:
    """Runs the tool without the agent, beside the search.

    Args:
        task: the tool and its command line.
        directory: an empty directory for the outputs.
        seconds: the time limit of a run; None for no limit.
    """

    def __init__(self, task: BisectionTask, directory: Path, seconds: float | None) -> None:
        self._task = task
        self._directory = directory
        self._seconds = seconds
        self._evidence: list[TrialFiles] = []
        self._runner: CommandRunner | None = None
        self._is_over = False  # the search has ended
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def first(self) -> list[TrialFiles]:
        """Wait for the first runs, of which slow ones are fewer."""
        self._is_over = True
        while self._thread.is_alive():
            self._thread.join(0.1)  # a signal that another thread gets wakes no join
        return self._evidence

    def outputs(self) -> int:
        """Return the number of different ends of the runs so far, outputs included."""
        return len({_end(one) for one in self._evidence})

    def more(self) -> list[TrialFiles]:
        """Make more runs."""
        more = [self._run(number) for number in range(len(self._evidence), _MORE_RUNS)]
        self._evidence += more
        return more

    def close(self) -> None:
        """End the runs, and wait for their end."""
        self._is_closed = True
        if self._runner is not None:
            self._runner.cancel()
        self._thread.join()

    def _work(self) -> None:
        start = time.monotonic()
        for number in range(_RUNS):
            if self._is_over and time.monotonic() - start > _SECONDS:
                return
            try:
                self._evidence.append(self._run(number))
            except (Cancelled, OSError):
                return

    def _run(self, number: int) -> TrialFiles:
        directory = self._directory / f"plain{number}"
        directory.mkdir(parents=True)
        output = directory / "output"
        line = self._task.command_line()
        environment: list[str] = []
        if self._task.env is not None:
            environment = ["-i", *(f"{name}={value}" for name, value in self._task.env.items())]
        program = self._task.program(line.with_output(output))
        words = ["env", *environment, os.fspath(program.tool.path), *program.command[1:]]
        self._runner = CommandRunner(directory)
        if self._is_closed:  # before this runner was there to be cancelled
            raise Cancelled
        with address_layout(randomize=True):
            done = self._runner.run(words, self._task.stdin, self._seconds, self._task.cwd)
        stop = None if done.status is None else exit_of(done.status, True, None, None)
        written = directory / STDOUT if line.output is None else output
        return TrialFiles(written, directory / STDERR, stop)


def _end(evidence: TrialFiles) -> tuple[int | None, str]:
    status = None if evidence.stop is None else evidence.stop.status
    return status, content_digest(evidence.output) if evidence.output.exists() else ""
