"""Making trials and judging what they leave; by threads here, or by workers elsewhere."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import shutil
import threading
from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.oracles.oracle import Evidence, Oracle, Surroundings
from actiondbg.bisection.trials.trials import Scope, Task, Trials
from actiondbg.bisection.verdict import Judgement, Verdict
from actiondbg.errors import ActiondbgError

_END_SECONDS = 5.0
_LOOK_SECONDS = 0.1  # between two looks at whether a signal has come


class Disagreement(ActiondbgError):
    """The oracle judged one output in two ways."""


class Outcome(NamedTuple):
    """What came of a trial.

    Attributes:
        judgement: the verdict.
        evidence: what it left, which is removed with the bisection; None if it is not here.
    """

    judgement: Judgement
    evidence: Evidence | None = None


class Judging:
    """Makes trials and judges them. Threads may share it.

    Args:
        trials: the frozen tool.
        oracle: ready to judge.
        around: what the oracle may need to know.
        repeat: how often each output is judged.
    """

    def __init__(
        self, trials: Trials, oracle: Oracle, around: Surroundings, repeat: int = 1
    ) -> None:
        self._trials = trials
        self._oracle = oracle
        self._around = around
        self._repeat = repeat

    def judge(self, task: Task, scope: Scope) -> Outcome:
        """Make a trial and judge it.

        Raises:
            Cancelled: another thread cancelled the scope.
            Disagreement: the oracle is flaky.
            OracleError: it cannot judge.
        """
        try:
            evidence = self._trials.make(task, scope)
            judgement = self.look(evidence, scope)
            if judgement.verdict == "good":
                self._trials.keep(task, scope)
        finally:
            scope.close()
        return Outcome(judgement, evidence)

    def look(self, evidence: Evidence, scope: Scope) -> Judgement:
        """Judge what a trial left, as often as was asked for."""
        first = self._look(evidence, scope)
        for _ in range(self._repeat - 1):
            again = self._look(evidence, scope)
            check_same(first, again)
        return first

    def _look(self, evidence: Evidence, scope: Scope) -> Judgement:
        return self._oracle.judge(evidence, scope.runner, self._around)


def check_same(first: Judgement, again: Judgement) -> None:
    """Raise Disagreement if one output was judged in two ways."""
    if first.verdict != again.verdict:
        raise Disagreement(
            f"One output was judged {first.verdict} ({first.reason}) and then {again.verdict} "
            f"({again.reason})"
        )


class Pool(Protocol):
    """Has several trials made and judged at a time; each is known by a number.

    Attributes:
        jobs: how many it can make at a time.
    """

    jobs: int

    def submit(self, number: int, task: Task) -> None:
        """Begin a trial."""

    def wait(self) -> tuple[int, Outcome]:
        """Wait for one of them; raises what it raised."""
        ...

    def cancel(self, number: int) -> None:
        """Forget one: it is ended, and ``wait`` does not return it."""

    def close(self) -> None:
        """End all of them."""


class Threads:
    """A pool of threads in this process, over one frozen tool.

    Args:
        trials: makes the room for each.
        judge: makes and judges one.
        jobs: how many it is to make at a time.
    """

    def __init__(
        self, trials: Trials, judge: Callable[[Task, Scope], Outcome], jobs: int = 1
    ) -> None:
        self.jobs = jobs
        self._trials = trials
        self._judge = judge
        self._done: queue.SimpleQueue[tuple[int, Scope, Outcome | BaseException]]
        self._done = queue.SimpleQueue()
        self._running: dict[int, tuple[Scope, threading.Thread]] = {}
        self._ending: list[threading.Thread] = []

    def submit(self, number: int, task: Task) -> None:
        scope = self._trials.scope()
        thread = threading.Thread(target=self._work, args=(number, task, scope), daemon=True)
        self._running[number] = scope, thread
        thread.start()

    def wait(self) -> tuple[int, Outcome]:
        while True:
            number, scope, outcome = self._next()
            if number not in self._running or self._running[number][0] is not scope:
                continue  # it was cancelled
            _, thread = self._running.pop(number)
            thread.join()
            if isinstance(outcome, BaseException):
                raise outcome
            return number, outcome

    def _next(self) -> tuple[int, Scope, Outcome | BaseException]:
        # A signal may be given to another thread, and then wakes nobody here: so look around.
        while True:
            with contextlib.suppress(queue.Empty):
                return self._done.get(timeout=_LOOK_SECONDS)

    def cancel(self, number: int) -> None:
        scope, thread = self._running.pop(number)
        scope.cancel()
        self._ending.append(thread)

    def close(self) -> None:
        for number in list(self._running):
            self.cancel(number)
        for thread in self._ending:
            thread.join(_END_SECONDS)  # a predicate in Python cannot be cut short
        self._ending.clear()

    def _work(self, number: int, task: Task, scope: Scope) -> None:
        outcome: Outcome | BaseException
        try:
            outcome = self._judge(task, scope)
        except Cancelled as error:
            outcome = error
            shutil.rmtree(scope.directory, ignore_errors=True)
        except BaseException as error:  # it is raised where the trial is waited for
            outcome = error
        self._done.put((number, scope, outcome))


def forget(evidence: Evidence | None) -> None:
    """Remove the files of a trial, which nobody will judge again."""
    if evidence is not None:
        shutil.rmtree(evidence.output.parent, ignore_errors=True)


def digest_of(task: Task) -> str:
    """Return what tells a trial from all that skip something else."""
    plan = msgspec.structs.replace(task.plan, record=None, keys=False)
    return hashlib.sha256(msgspec.json.encode(plan)).hexdigest()


class Known(Protocol):
    """Verdicts from before."""

    def get(self, digest: str) -> Judgement | None: ...

    def add(self, digest: str, judgement: Judgement) -> None: ...


class Prefixes:
    """Judges prefixes, as ``search`` asks for them.

    Args:
        pool: makes the trials.
        task: what trial a prefix stands for.
        known: verdicts from before, and where those to come go.
        judged: called with the prefix and what came of it, and not for one that was known.
    """

    def __init__(
        self,
        pool: Pool,
        task: Callable[[int], Task],
        known: Known,
        judged: Callable[[int, Outcome], None],
    ) -> None:
        self._pool = pool
        self._task = task
        self._known = known
        self._judged = judged
        self._ready: list[tuple[int, Verdict]] = []

    def submit(self, prefix: int) -> None:
        task = self._task(prefix)
        judgement = self._known.get(digest_of(task))
        if judgement is not None:
            self._ready.append((prefix, judgement.verdict))
            return
        self._pool.submit(prefix, task)

    def wait(self) -> tuple[int, Verdict]:
        if self._ready:
            return self._ready.pop(0)
        prefix, outcome = self._pool.wait()
        self._known.add(digest_of(self._task(prefix)), outcome.judgement)
        self._judged(prefix, outcome)
        return prefix, outcome.judgement.verdict

    def cancel(self, prefix: int) -> None:
        for index, (ready, _) in enumerate(self._ready):
            if ready == prefix:
                del self._ready[index]
                return
        with contextlib.suppress(KeyError):
            self._pool.cancel(prefix)
