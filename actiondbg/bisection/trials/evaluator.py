"""Single trials: what is skipped in each, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.bisection.candidates import Record, Row, Scheme, read_record
from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.filters import Choice
from actiondbg.bisection.oracles.oracle import Evidence
from actiondbg.bisection.progress import Meter
from actiondbg.bisection.state import State
from actiondbg.bisection.trials.runner import Judging, Outcome, Threads, check_same, digest_of
from actiondbg.bisection.trials.trials import Scope, Task, Trials
from actiondbg.bisection.verdict import Judgement


class Asking:
    """Makes single trials here, and knows those that were made before.

    Args:
        trials: the frozen tool.
        judging: makes and judges trials.
        choice: which actions may be candidates.
        state: what is known.
        meter: who is told.
        seconds: how long a trial may take; None for no limit.

    Attributes:
        candidates: how many were searched.
    """

    def __init__(
        self,
        trials: Trials,
        judging: Judging,
        choice: Choice,
        state: State,
        meter: Meter,
        seconds: float | None,
    ) -> None:
        self.candidates = 0
        self.trials = trials
        self.choice = choice
        self.state = state
        self.meter = meter
        self.seconds = seconds
        self._judging = judging
        self._begun: Threads | None = None

    # --- what a trial is ---

    def plan(
        self,
        scheme: Scheme,
        *,
        limit: int | None = None,
        only: int | None = None,
        apply: list[protocol.Key] | None = None,
        skip: list[protocol.Key] | None = None,
    ) -> protocol.SetPlan:
        """Return what is skipped of the candidates of a scheme."""
        return protocol.SetPlan(
            limit=limit,
            only=only,
            apply=apply,
            skip=skip,
            specs=self.choice.specs,
            always=self.choice.always,
            passes=sorted(scheme.passes),
            held=sorted(scheme.held),
        )

    def task(self, plan: protocol.SetPlan, place: int) -> Task:
        """Return a trial; up to the action ``place`` nothing is skipped."""
        return Task(plan=plan, place=place, seconds=self.seconds)

    def whole(self) -> Task:
        """Return the trial in which nothing is skipped."""
        return self.task(self.plan(Scheme()), 0)

    def prefix(self, scheme: Scheme, units: list[Row], prefix: int) -> Task:
        """Return the trial that applies the first ``prefix`` candidates, and skips what follows."""
        if prefix == len(units):
            return self.whole()
        place = units[prefix].ordinal
        return self.task(self.plan(scheme, limit=place - 1), place)

    # --- what came of it ---

    def judge(self, task: Task) -> Outcome:
        """Make a trial and judge it, unless its verdict is known."""
        known = self.known(task)
        return Outcome(known) if known is not None else self._judge(task, task)

    def known(self, task: Task) -> Judgement | None:
        """Return the verdict from before, or None."""
        return self.state.get(digest_of(task))

    def record(self, task: Task, keys: bool = False) -> tuple[Outcome, Record]:
        """Make a trial, judge it unless its verdict is known, and record what it did.

        Args:
            task: the trial.
            keys: whether the record tells what each action is.
        """
        file = self.trials.directory / "record"
        plan = msgspec.structs.replace(task.plan, record=str(file), keys=keys)
        recorded = msgspec.structs.replace(task, plan=plan)
        known = self.known(task)
        if known is None:
            outcome = self._judge(task, recorded)
        else:
            outcome = self._here(self._only_make, recorded)._replace(judgement=known)
        return outcome, read_record(file)

    def look_again(self, evidence: Evidence, before: Judgement) -> None:
        """Judge an output once more.

        Raises:
            Disagreement: the oracle is flaky.
        """

        def look(_: Task, scope: Scope) -> Outcome:
            return Outcome(self._judging.look(evidence, scope))

        check_same(before, self._here(look, self.whole()).judgement)

    def begin(self, task: Task) -> None:
        """Begin a trial that may be asked for next, beside what is asked now; see ``take``."""
        self.drop()
        self._begun = Threads(self.trials, self._judge_gently)
        self._begun.submit(0, task)

    def take(self, task: Task) -> Outcome | None:
        """Wait for what was begun, which means the same as a trial.

        Returns:
            What came of it; None if nothing was begun, or its verdict is not good or bad.
        """
        if self._begun is None:
            return None
        try:
            outcome = self._begun.wait()[1]
        finally:
            self.drop()
        if outcome.judgement.verdict == "untestable":
            return None
        self.state.add(digest_of(task), outcome.judgement)
        self.meter.judged()
        return outcome

    def drop(self) -> None:
        """End what was begun, if it is not over."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.close()

    def file(self, name: str) -> Path:
        """Return a place for a file that goes with the bisection."""
        return self.trials.directory / name

    def _judge(self, task: Task, made: Task) -> Outcome:
        outcome = self._here(self._judging.judge, made)
        self.state.add(digest_of(task), outcome.judgement)
        self.meter.judged()
        return outcome

    def _judge_gently(self, task: Task, scope: Scope) -> Outcome:
        """Judge a trial that may never be asked for: no error is told of."""
        try:
            return self._judging.judge(task, scope)
        except Cancelled:
            raise
        except Exception as error:
            return Outcome(Judgement("untestable", str(error)))

    def _only_make(self, task: Task, scope: Scope) -> Outcome:
        try:
            return Outcome(Judgement("untestable", ""), self.trials.make(task, scope))
        finally:
            scope.close()

    def _here(self, act: Callable[[Task, Scope], Outcome], task: Task) -> Outcome:
        """Do it in a thread, so that Ctrl-C can end it."""
        pool = Threads(self.trials, act)
        try:
            pool.submit(0, task)
            return pool.wait()[1]
        finally:
            pool.close()
