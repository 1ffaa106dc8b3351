"""Several trials at a time: the protocol of a pool, and a pool of threads."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.trials.trial import RunningTrial, Trial, TrialResult

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
    """A pool of threads in this process."""

    def __init__(
        self,
        new_trial: Callable[[], RunningTrial],
        run: Callable[[TaskT, RunningTrial], ResultT],
        jobs: int = 1,
    ) -> None:
        self.jobs = jobs
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
