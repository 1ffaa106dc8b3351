"""A pool of Dask workers, each of which runs trials from a frozen tool of its own."""

from __future__ import annotations

import contextlib
import functools
import itertools
import queue
import uuid
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, cast

from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.evaluator import TrialRunner
from actiondbg.bisection.frozen_tool import FrozenTool
from actiondbg.bisection.oracles import TrialFiles
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.trial import RunningTrial, Trial, TrialResult
from actiondbg.bisection.verdict import Judgement
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import ActiondbgError, ToolGone
from actiondbg.process.stop import Stop
from actiondbg.support.dask_client import DaskClient, DaskFuture, cancelled_with_task, connect
from actiondbg.support.scratch_directory import make_directory, remove_directory

_LARGEST = 64 << 20  # bytes of an output that a worker sends back


# --- on a worker ---------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkerSetup:
    """What a worker needs to run trials; it can be sent to another machine.

    Args:
        token: identifies the bisection.
        task: of the bisection; its oracle is prepared.
        stdin: the contents of the tool's standard input, or None.
        source: the tool's input; None if it is not known.
    """

    token: str
    task: BisectionTask
    stdin: bytes | None
    source: Path | None


class WorkerAnswer(NamedTuple):
    """The result of a trial, as a worker sends it."""

    judgement: Judgement
    stop: Stop | None
    output: bytes | None
    errors: bytes


class WorkerTool:
    """A worker's frozen tool.

    It ends with the last reference to it. The scheduler drops that reference when the client
    disconnects, however the client ended.
    """

    def __init__(self, setup: WorkerSetup) -> None:
        directory = make_directory()
        self._finalizer = weakref.finalize(self, remove_directory, directory)
        task = setup.task
        if setup.stdin is not None:
            task = replace(task, stdin=directory / "stdin")
            (directory / "stdin").write_bytes(setup.stdin)
        self._tool = FrozenTool(task, directory)
        self._tool.milestone = task.oracle.milestone
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _close, self._tool, directory)
        oracle_setup = task.oracle_setup(self._tool.path, directory, task.stdin or setup.source)
        self._runner = TrialRunner(self._tool, task, oracle_setup, VerdictStore(None, {}))
        self._running: dict[int, RunningTrial] = {}

    def run(self, number: int, trial: Trial) -> WorkerAnswer:
        """Run and judge a trial."""
        self._running[number] = running = self._tool.new_trial()
        try:
            judgement, evidence = self._runner.run(trial, running)
            return _answer(judgement, evidence)
        finally:
            del self._running[number]
            remove_directory(running.directory)

    def close(self) -> None:
        """End the tool."""
        self._finalizer()

    def cancel(self, number: int) -> None:
        """Cancel a trial, if it is running."""
        running = self._running.get(number)
        if running is not None:
            running.cancel()


_tools: weakref.WeakValueDictionary[str, WorkerTool] = weakref.WeakValueDictionary()


def _close(tool: FrozenTool, directory: Path) -> None:
    tool.close()
    remove_directory(directory)


def _answer(judgement: Judgement, evidence: TrialFiles | None) -> WorkerAnswer:
    if evidence is None:
        return WorkerAnswer(judgement, None, None, b"")
    output = None
    if evidence.output.is_file() and evidence.output.stat().st_size <= _LARGEST:
        output = evidence.output.read_bytes()
    errors = evidence.errors.read_bytes() if evidence.errors.is_file() else b""
    return WorkerAnswer(judgement, evidence.stop, output, errors[-_LARGEST:])


def start_worker_tool(setup: WorkerSetup) -> WorkerTool:
    """Start and freeze a worker's tool; the returned object stays in the worker."""
    _tools[setup.token] = tool = WorkerTool(setup)
    return tool


def run_on_worker(tool: WorkerTool, number: int, trial: Trial) -> WorkerAnswer | Exception:
    """Run and judge a trial.

    Errors are returned: the traceback of a raised one would keep a reference to the tool, as do
    those of the errors that it was raised for.
    """
    try:
        with cancelled_with_task(functools.partial(tool.cancel, number)):
            return tool.run(number, trial)
    except (ActiondbgError, Cancelled) as error:
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)


def cancel_on_worker(token: str, number: int) -> None:
    """Cancel a trial of a bisection."""
    tool = _tools.get(token)
    if tool is not None:
        tool.cancel(number)


def close_worker_tool(token: str) -> None:
    """End the tool of a bisection."""
    tool = _tools.get(token)
    if tool is not None:
        tool.close()


# --- in the front end ----------------------------------------------------------------------


class DaskPool:
    """A pool of Dask workers.

    Args:
        client: connected to the scheduler; closed with the pool.
        new_trial: makes a directory for the files of a trial that a worker sends back.

    Attributes:
        jobs: how many trials the workers run at a time.
    """

    def __init__(
        self, client: DaskClient, setup: WorkerSetup, new_trial: Callable[[], RunningTrial]
    ) -> None:
        self._client = client
        self._setup = setup
        self._new_trial = new_trial
        self._threads = dict(client.nthreads())
        self.jobs = sum(self._threads.values())
        self._tools = {
            worker: client.submit(start_worker_tool, setup, workers=[worker], pure=False)
            for worker in self._threads
        }
        self._busy: Counter[str] = Counter()
        # By the caller's number: worker, the worker's number, future.
        self._running: dict[int, tuple[str, int, DaskFuture]] = {}
        # The worker's numbers differ: the caller may submit a cancelled number again.
        self._numbers = itertools.count()
        self._done: queue.SimpleQueue[tuple[int, DaskFuture]] = queue.SimpleQueue()

    def submit(self, number: int, trial: Trial) -> None:
        worker = min(self._tools, key=lambda one: self._busy[one] / self._threads[one])
        self._busy[worker] += 1
        there = next(self._numbers)
        future = self._client.submit(
            run_on_worker,
            self._tools[worker],
            there,
            trial,
            workers=[worker],
            pure=False,
            retries=0,
        )
        self._running[number] = worker, there, future
        future.add_done_callback(functools.partial(self._put, number))

    def _put(self, number: int, done: DaskFuture) -> None:
        self._done.put((number, done))

    def wait(self) -> tuple[int, TrialResult]:
        while True:
            number, future = self._done.get()
            if number in self._running and self._running[number][2] is future:
                worker, _, _ = self._running.pop(number)
                self._busy[worker] -= 1
                return number, self._result(worker, future)

    def cancel(self, number: int) -> None:
        worker, there, future = self._running.pop(number)
        self._busy[worker] -= 1
        future.cancel()
        with contextlib.suppress(Exception):  # a worker that has gone away runs no trial
            self._client.run(cancel_on_worker, self._setup.token, there, workers=[worker])

    def close(self) -> None:
        for number in list(self._running):
            self.cancel(number)
        with contextlib.suppress(Exception):  # a worker that has gone away has ended its tool
            self._client.run(close_worker_tool, self._setup.token)
        self._client.close()

    def _result(self, worker: str, future: DaskFuture) -> TrialResult:
        try:
            answer = cast("WorkerAnswer | Exception", future.result())
        except Exception as error:
            raise ToolGone(
                f"The Dask worker {worker} failed to run a trial ({error}): see its log."
            ) from error
        if isinstance(answer, Exception):
            raise answer
        if answer.output is None:
            return TrialResult(answer.judgement)
        directory = self._new_trial().directory
        evidence = TrialFiles(directory / "output", directory / "errors", answer.stop)
        evidence.output.write_bytes(answer.output)
        evidence.errors.write_bytes(answer.errors)
        return TrialResult(answer.judgement, evidence)


def make_dask_pool(
    address: str, task: BisectionTask, new_trial: Callable[[], RunningTrial]
) -> DaskPool:
    """Connect to a scheduler and start the tool on each worker.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``.
        task: the task of the bisection; its oracle is prepared.
        new_trial: makes a directory for the files of a trial that a worker sends back.

    Raises:
        UsageError: the scheduler cannot be reached or has no workers, or Dask is not installed.
    """
    client = connect(address)
    setup = WorkerSetup(
        token=uuid.uuid4().hex,
        task=replace(task, cwd=task.cwd or Path.cwd()),
        stdin=task.stdin.read_bytes() if task.stdin else None,
        source=task.source(),
    )
    return DaskPool(client, setup, new_trial)
