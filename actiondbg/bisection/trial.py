"""A trial: what it skips, what is needed while it runs, its result; and pools that run several."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from actiondbg import protocol
from actiondbg.bisection.command_runner import Cancelled, CommandRunner
from actiondbg.bisection.oracles import TrialFiles
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
    evidence: TrialFiles | None = None

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


# --- several trials at a time ---


TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

_JOIN_SECONDS = 5.0
_POLL_SECONDS = 0.1


class Pool(Protocol):
    """Runs and judges several trials at a time; the caller numbers them.

    Attributes:
        jobs: how many trials run at a time.
    """

    jobs: int

    def submit(self, number: int, trial: Trial) -> None:
        """Start a trial."""

    def wait(self) -> tuple[int, TrialResult]:
        """Wait for any of the trials; raises the error of a trial that raised one."""
        ...

    def cancel(self, number: int) -> None:
        """End a trial; ``wait`` will not return it."""

    def close(self) -> None:
        """End all trials."""


class ThreadPool(Generic[TaskT, ResultT]):
    """A pool of threads in this process.

    Args:
        waiting: called now and then while ``wait`` waits, in its thread.
    """

    def __init__(
        self,
        new_trial: Callable[[], RunningTrial],
        run: Callable[[TaskT, RunningTrial], ResultT],
        jobs: int = 1,
        waiting: Callable[[], None] | None = None,
    ) -> None:
        self.jobs = jobs
        self._waiting = waiting
        self._new_trial = new_trial
        self._run = run
        self._done: queue.SimpleQueue[tuple[int, RunningTrial, ResultT | BaseException]]
        self._done = queue.SimpleQueue()
        self._running: dict[int, tuple[RunningTrial, threading.Thread]] = {}
        self._cancelled: list[threading.Thread] = []

    def submit(self, number: int, trial: TaskT) -> None:
        running = self._new_trial()
        thread = threading.Thread(target=self._work, args=(number, trial, running), daemon=True)
        self._running[number] = running, thread
        thread.start()

    def wait(self) -> tuple[int, ResultT]:
        while True:
            number, running, result = self._next()
            if number not in self._running or self._running[number][0] is not running:
                continue  # cancelled
            _, thread = self._running.pop(number)
            thread.join()
            if isinstance(result, BaseException):
                raise result
            return number, result

    def _next(self) -> tuple[int, RunningTrial, ResultT | BaseException]:
        # A signal that another thread receives does not wake this one, so poll.
        while True:
            with contextlib.suppress(queue.Empty):
                return self._done.get(timeout=_POLL_SECONDS)
            if self._waiting is not None:
                self._waiting()

    def cancel(self, number: int) -> None:
        if number not in self._running:
            return  # it failed, and wait has raised its error
        running, thread = self._running.pop(number)
        running.cancel()
        self._cancelled.append(thread)

    def close(self) -> None:
        for number in list(self._running):
            self.cancel(number)
        for thread in self._cancelled:
            if thread.is_alive():  # an interrupt may have prevented its start
                thread.join(_JOIN_SECONDS)  # a predicate in Python cannot be interrupted
        self._cancelled.clear()

    def _work(self, number: int, trial: TaskT, running: RunningTrial) -> None:
        result: ResultT | BaseException
        try:
            result = self._run(trial, running)
        except Cancelled as error:
            result = error
            running.remove_files()
        except BaseException as error:  # raised again by wait
            result = error
        self._done.put((number, running, result))
