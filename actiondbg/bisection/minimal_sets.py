"""The modes minimize and skip: the smallest bad set of applied candidates, or good set of skips."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from actiondbg.bisection.bounds import SearchSpace
from actiondbg.bisection.messages import NothingFound
from actiondbg.bisection.progress import LimitReached
from actiondbg.bisection.search.ddmin import Minimizer
from actiondbg.bisection.trials.evaluator import TrialEvaluator
from actiondbg.bisection.trials.pool import Pool
from actiondbg.bisection.trials.trial import Trial, TrialResult
from actiondbg.bisection.verdict import Verdict

_MOST_KEYS = 60_000  # so that a plan fits into a message of the protocol, at most 16 MiB


@dataclass(eq=False)
class SetJudge:
    """Judges sets of candidates for a ``Minimizer``; plans name the candidates by their keys.

    Args:
        skips: whether a set is skipped; else only the set is applied.
    """

    evaluator: TrialEvaluator
    pool: Pool
    jobs: int
    space: SearchSpace
    skips: bool
    _next: deque[tuple[int, ...]] = field(default_factory=deque[tuple[int, ...]], init=False)
    _numbers: dict[tuple[int, ...], int] = field(
        default_factory=dict[tuple[int, ...], int], init=False
    )
    _running: dict[int, tuple[int, ...]] = field(
        default_factory=dict[int, tuple[int, ...]], init=False
    )

    def set_next(self, sets: list[list[int]]) -> None:
        """Set the sets that may be judged next; the trials of other sets are cancelled."""
        wanted = [tuple(one) for one in sets]
        for number, items in list(self._running.items()):
            if items not in wanted:
                self.pool.cancel(number)
                del self._running[number]
        running = set(self._running.values())
        self._next = deque(one for one in wanted if one not in running)

    def judge(self, items: Sequence[int]) -> Verdict:
        """Judge a set; with several jobs, the next sets run in parallel."""
        wanted = tuple(items)
        while True:
            cached = self.evaluator.cached(self.trial(wanted))
            if cached is not None:
                return cached.verdict
            self.evaluator.check_limit()
            self._fill_pool(wanted)
            number, result = self.pool.wait()
            self._add(self._running.pop(number), result)

    def trial(self, items: Sequence[int]) -> Trial:
        """Return the trial of a set."""
        evaluator, candidates = self.evaluator, self.space.candidates
        if len(items) > _MOST_KEYS:
            raise NothingFound(
                "untestable",
                f"A set of {len(items):,} candidates is too large for one trial: narrow "
                "them with --name, --func or --tag.",
            )
        keys = [candidates[item].key for item in items]
        if self.skips:
            first_skip = candidates[items[0]].ordinal if items else 0
            return evaluator.trial(evaluator.plan(self.space.scheme, skip=keys), first_skip)
        applied = set(items)
        skipped = (index for index in range(len(candidates)) if index not in applied)
        first = next(skipped, None)
        first_skip = 0 if first is None else candidates[first].ordinal
        # A plan that applies some actions skips only the operations of a schedule that it names.
        left_out = (one for index, one in enumerate(candidates) if index not in applied)
        steps = [one.key for one in left_out if one.is_step]
        plan = evaluator.plan(self.space.scheme, apply=keys, skip=steps or None)
        return evaluator.trial(plan, first_skip)

    def close(self) -> None:
        """Cancel the running trials."""
        self.set_next([])

    def _fill_pool(self, wanted: tuple[int, ...]) -> None:
        if wanted not in self._running.values():
            self._submit(wanted)
        while len(self._running) < self.jobs and self._next:
            items = self._next.popleft()
            is_cached = self.evaluator.cached(self.trial(items)) is not None
            if not is_cached and items not in self._running.values():
                self._submit(items)

    def _submit(self, items: tuple[int, ...]) -> None:
        number = self._numbers.setdefault(items, len(self._numbers))
        self._running[number] = items
        self.pool.submit(number, self.trial(items))

    def _add(self, items: tuple[int, ...], result: TrialResult) -> None:
        self.evaluator.verdicts.add(self.trial(items).digest, result.judgement)
        self.evaluator.progress.trial_done()
        result.remove_files()


def smallest_set(
    evaluator: TrialEvaluator,
    pool: Pool,
    jobs: int,
    space: SearchSpace,
    mode: Literal["minimize", "skip"],
) -> tuple[list[int], bool]:
    """Find the smallest set.

    Args:
        space: narrowed to the culprit.
        mode: "minimize": the smallest set of applied candidates whose output is bad; "skip": the
            smallest set of skipped candidates whose output is good.

    Returns:
        Indices of candidates, and whether no single one can be left out; else the limit ended the
        search.

    Raises:
        NothingFound: the set of all candidates does not have the verdict.
        LimitReached: the limit was reached before a set had the verdict.
    """
    candidates, interval = space.candidates, space.interval
    judge = SetJudge(evaluator, pool, jobs, space, skips=mode == "skip")
    verdict: Literal["good", "bad"] = "good" if mode == "skip" else "bad"
    culprit = interval.bad - 1
    starts = [range(interval.bad), range(len(candidates))]
    if mode == "skip":
        starts = [
            range(culprit, interval.bad),
            range(culprit, len(candidates)),
            range(len(candidates)),
        ]

    def on_reduced(items: list[int], to_go: int) -> None:
        best[:] = items
        first, last = candidates[items[0]].ordinal, candidates[items[-1]].ordinal
        evaluator.progress.set_best(first, last, len(items), to_go)

    def minimized(start: Sequence[int]) -> tuple[list[int], bool]:
        # A single skip cannot be left out: the run that skips nothing is bad.
        if mode == "skip" and len(start) == 1:
            return list(start), True
        on_reduced(list(start), 0)
        try:
            return minimizer.minimize(start), True
        except LimitReached:
            return list(best), False

    best: list[int] = []
    minimizer = Minimizer(judge.judge, verdict, on_reduced=on_reduced, on_next=judge.set_next)
    evaluator.progress.start_phase("the smallest set")
    try:
        for start in starts:
            if minimizer.has_verdict(start):
                return minimized(start)
    finally:
        judge.close()
    what = "skipped" if mode == "skip" else "applied alone"
    raise NothingFound(
        "untestable",
        f"Name and location do not identify the candidates: the output is not {verdict} when "
        f"all of them are {what} by name and location. Use --mode first.",
        (candidates[0].ordinal, candidates[-1].ordinal),
    )
