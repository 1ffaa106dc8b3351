"""A trial: what it skips, what is needed while it runs, and its result."""

from __future__ import annotations

import hashlib
import shutil
import threading
from pathlib import Path
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.bisection.command_runner import Cancelled, CommandRunner
from actiondbg.bisection.oracles.oracle import Evidence
from actiondbg.bisection.verdict import Judgement
from actiondbg.process.forked_tool import ForkedTool


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the tool with a set of skips.

    Attributes:
        plan: the skips.
        first_skip: nothing is skipped before this ordinal, so that the trial can be forked from a
            process that is frozen there; 0 if that is not known.
        seconds: the time limit; None for no limit.
        processor: the limit of processor time, in seconds; None for no limit.
    """

    plan: protocol.SetPlan
    first_skip: int = 0
    seconds: float | None = None
    processor: float | None = None

    @property
    def digest(self) -> str:
        """Identifies the skips: trials of equal digests have equal verdicts."""
        plan = msgspec.structs.replace(self.plan, record=None, keys=False)
        return hashlib.sha256(msgspec.json.encode(plan)).hexdigest()


class TrialResult(NamedTuple):
    """A judged trial.

    Attributes:
        judgement: the verdict and its reason.
        evidence: the files that the trial wrote; None if they are not on this machine.
    """

    judgement: Judgement
    evidence: Evidence | None = None

    def remove_files(self) -> None:
        """Remove the files of a trial that will not be judged again."""
        if self.evidence is not None:
            self.evidence.remove()


class RunningTrial:
    """The directory, the commands and the processes of a trial; another thread may cancel it.

    Args:
        directory: created for the files of the trial.

    Attributes:
        commands: runs the commands of the oracle.
        at_first_skip: a fork of the tool that is stopped at the trial's ``first_skip``, if the
            trial made one; later trials can be forked from it.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self.commands = CommandRunner(directory)
        self.at_first_skip: ForkedTool | None = None
        self._lock = threading.Lock()
        self._forks: list[ForkedTool] = []
        self.is_cancelled = False

    def own(self, fork: ForkedTool) -> ForkedTool:
        """Close a fork together with the trial; raises Cancelled if that is cancelled already."""
        with self._lock:
            if not self.is_cancelled:
                self._forks.append(fork)
                return fork
        fork.close()
        raise Cancelled

    def release(self, fork: ForkedTool) -> None:
        """Keep a fork when the trial is closed; raises Cancelled if that is cancelled already."""
        with self._lock:
            if self.is_cancelled:
                raise Cancelled
            self._forks.remove(fork)

    def close(self) -> None:
        """End the processes of the trial."""
        with self._lock:
            forks, self._forks = self._forks, []
        for fork in forks:
            fork.close()

    def cancel(self) -> None:
        """End the trial from another thread: the thread that waits for it gets Cancelled."""
        with self._lock:
            self.is_cancelled = True
        self.commands.cancel()
        self.close()

    def remove_files(self) -> None:
        """Remove the directory of the trial."""
        shutil.rmtree(self.directory, ignore_errors=True)
