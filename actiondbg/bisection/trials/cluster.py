"""Trials that the workers of a Dask cluster make, each from a frozen tool of its own."""

from __future__ import annotations

import contextlib
import functools
import itertools
import queue
import threading
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from actiondbg.bisection.command_line import look_at
from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.oracles.oracle import Evidence, Oracle, Surroundings
from actiondbg.bisection.request import Request
from actiondbg.bisection.trials.runner import Judging, Outcome
from actiondbg.bisection.trials.trials import Scope, Task, Trials
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import ActiondbgError, ToolGone, UsageError
from actiondbg.process.stop import Stop
from actiondbg.support.scratch_directory import make_directory, remove_directory
from actiondbg.tool.program import Program

_SECONDS = 10.0  # to reach the scheduler
_WATCH_SECONDS = 0.5
_LARGEST = 64 << 20  # bytes of an output that is sent back, to be judged again


@dataclass(frozen=True)
class Job:
    """What a worker has to know, to make trials: all of it can be sent.

    Attributes are those of ``Request``; ``stdin`` is what the tool reads, and ``token`` names it.
    """

    token: str
    argv: list[str]
    oracle: Oracle
    keys: bool
    seconds: float | None
    repeat: int
    stdin: bytes | None
    source: Path | None
    cwd: Path | None
    env: Mapping[str, str] | None
    mlir_include: Path | None


class Answer(NamedTuple):
    """What a worker sends back."""

    judgement: Judgement
    stop: Stop | None
    output: bytes | None
    errors: bytes


class Frozen:
    """A worker's frozen tool. It goes with the last reference to it: the scheduler drops that when
    the client is gone, however that ended.
    """

    def __init__(self, job: Job) -> None:
        directory = make_directory()
        self._finalizer = weakref.finalize(self, remove_directory, directory)
        line = look_at(job.argv, job.cwd)
        program = Program(
            argv=line.with_output(directory / "first.output"),
            mlir_include=job.mlir_include,
            cwd=job.cwd,
            env=job.env,
        )
        stdin = None
        if job.stdin is not None:
            stdin = directory / "stdin"
            stdin.write_bytes(job.stdin)
        self._trials = Trials(program, line, directory, stdin, job.oracle.catches, job.keys)
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _end, self._trials, directory)
        around = Surroundings(
            tool=program.tool.path,
            argv=job.argv,
            input=stdin or job.source,
            cwd=job.cwd,
            directory=directory,
            seconds=job.seconds,
        )
        self._judging = Judging(self._trials, job.oracle, around, job.repeat)
        self._scopes: dict[int, Scope] = {}

    def judge(self, number: int, task: Task) -> Answer:
        """Make a trial and judge it."""
        self._scopes[number] = scope = self._trials.scope()
        try:
            judgement, evidence = self._judging.judge(task, scope)
            return _answer(judgement, evidence)
        finally:
            del self._scopes[number]
            remove_directory(scope.directory)

    def close(self) -> None:
        """End the tool."""
        self._finalizer()

    def cancel(self, number: int) -> None:
        """End a trial; one that is over already, or has not begun, is left alone."""
        scope = self._scopes.get(number)
        if scope is not None:
            scope.cancel()


_frozen: weakref.WeakValueDictionary[str, Frozen] = weakref.WeakValueDictionary()  # of a worker


def _end(trials: Trials, directory: Path) -> None:
    trials.close()
    remove_directory(directory)


def _answer(judgement: Judgement, evidence: Evidence | None) -> Answer:
    if evidence is None:
        return Answer(judgement, None, None, b"")
    output = None
    if evidence.output.is_file() and evidence.output.stat().st_size <= _LARGEST:
        output = evidence.output.read_bytes()
    errors = evidence.errors.read_bytes() if evidence.errors.is_file() else b""
    return Answer(judgement, evidence.stop, output, errors[-_LARGEST:])


# --- what a worker runs ---------------------------------------------------------------


def freeze(job: Job) -> Frozen:
    """Start a tool and freeze it; what is returned stays in the worker."""
    _frozen[job.token] = frozen = Frozen(job)
    return frozen


def judge(frozen: Frozen, number: int, task: Task) -> Answer | Exception:
    """Make and judge a trial; what it raises is returned, as a raised one would hold the tool."""
    over = threading.Event()
    from distributed import get_worker

    watching = (get_worker(), get_worker().get_current_task(), over, frozen, number)
    threading.Thread(target=_watch, args=watching, daemon=True).start()
    try:
        return frozen.judge(number, task)
    except (ActiondbgError, Cancelled) as error:
        return error.with_traceback(None)
    finally:
        over.set()


def _watch(worker: Any, key: str, over: threading.Event, frozen: Frozen, number: int) -> None:
    """End a trial that nobody waits for any more: Dask itself lets what runs go on."""
    while not over.wait(_WATCH_SECONDS):
        known = worker.state.tasks.get(key)
        if known is None or known.state == "cancelled":
            frozen.cancel(number)
            return


def cancel(token: str, number: int) -> None:
    """End a trial."""
    frozen = _frozen.get(token)
    if frozen is not None:
        frozen.cancel(number)


def thaw(token: str) -> None:
    """End a frozen tool."""
    frozen = _frozen.get(token)
    if frozen is not None:
        frozen.close()


# --- the front end ----------------------------------------------------------------------


class Cluster:
    """A pool of Dask workers.

    Args:
        client: connected to the scheduler; it is closed with the pool.
        job: what they make.
        room: makes a folder for what comes back.

    Attributes:
        jobs: how many trials they can make at a time.
    """

    def __init__(self, client: Any, job: Job, room: Callable[[], Scope]) -> None:
        self._client = client
        self._job = job
        self._room = room
        threads: Mapping[str, int] = client.nthreads()
        self.jobs = sum(threads.values())
        self._threads = dict(threads)
        self._tools = {
            worker: client.submit(freeze, job, workers=[worker], pure=False) for worker in threads
        }
        self._busy: Counter[str] = Counter()
        self._running: dict[int, tuple[str, int, Any]] = {}  # worker, number there, future
        self._numbers = itertools.count()  # one may be submitted, cancelled and submitted again
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()

    def submit(self, number: int, task: Task) -> None:
        worker = min(self._tools, key=lambda one: self._busy[one] / self._threads[one])
        self._busy[worker] += 1
        there = next(self._numbers)
        future = self._client.submit(
            judge, self._tools[worker], there, task, workers=[worker], pure=False, retries=0
        )
        self._running[number] = worker, there, future
        future.add_done_callback(functools.partial(self._note, number))

    def _note(self, number: int, done: Any) -> None:
        self._done.put((number, done))

    def wait(self) -> tuple[int, Outcome]:
        while True:
            number, future = self._done.get()
            if number in self._running and self._running[number][2] is future:
                worker, _, _ = self._running.pop(number)
                self._busy[worker] -= 1
                return number, self._outcome(worker, future)

    def cancel(self, number: int) -> None:
        worker, there, future = self._running.pop(number)
        self._busy[worker] -= 1
        future.cancel()
        with contextlib.suppress(Exception):  # a worker that is gone makes no trial any more
            self._client.run(cancel, self._job.token, there, workers=[worker])

    def close(self) -> None:
        for number in list(self._running):
            self.cancel(number)
        with contextlib.suppress(Exception):  # a worker that is gone has ended its tool
            self._client.run(thaw, self._job.token)
        self._client.close()

    def _outcome(self, worker: str, future: Any) -> Outcome:
        try:
            answer: Answer | Exception = future.result()
        except Exception as error:
            raise ToolGone(
                f"The Dask worker {worker} did not make a trial ({error}): look at its log."
            ) from error
        if isinstance(answer, Exception):
            raise answer
        if answer.output is None:
            return Outcome(answer.judgement)
        folder = self._room().directory
        evidence = Evidence(folder / "output", folder / "errors", answer.stop)
        evidence.output.write_bytes(answer.output)
        evidence.errors.write_bytes(answer.errors)
        return Outcome(answer.judgement, evidence)


def make_pool(address: str, request: Request, room: Callable[[], Scope]) -> Cluster:
    """Connect to a scheduler, and have each worker start the tool.

    Args:
        address: of the scheduler, such as ``tcp://10.0.0.1:8786``.
        request: what is to be found; its oracle is prepared.
        room: makes a folder for what comes back.

    Raises:
        UsageError: it cannot be reached, or has no workers; or Dask is not installed.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("Dask is not installed: pip install 'actiondbg[dask]'.") from error
    try:
        client: Any = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"The Dask scheduler at {address!r} cannot be reached ({error}): check its address."
        ) from error
    job = Job(
        token=uuid.uuid4().hex,
        argv=request.argv,
        oracle=request.oracle,
        keys=request.keys,
        seconds=request.seconds,
        repeat=request.repeat,
        stdin=request.stdin.read_bytes() if request.stdin else None,
        source=request.source(),
        cwd=request.cwd or Path.cwd(),
        env=request.env,
        mlir_include=request.mlir_include,
    )
    if not client.nthreads():
        client.close()
        raise UsageError(f"The Dask scheduler at {address!r} has no workers: start some.")
    return Cluster(client, job, room)
