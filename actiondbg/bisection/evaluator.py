"""Run trials, judge their outputs, and evaluate them one by one, with a cache of their verdicts."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from actiondbg import protocol
from actiondbg.bisection.candidates import Record, RecordedAction, Scheme, read_record
from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.frozen_tool import FrozenTool
from actiondbg.bisection.oracles import OracleSetup, TrialFiles
from actiondbg.bisection.progress import ProgressReporter
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.trial import RunningTrial, ThreadPool, Trial, TrialResult
from actiondbg.bisection.verdict import Judgement
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import ActiondbgError
from actiondbg.process.stop import Stop

_LONG_SECONDS = 60.0
_NO_LIMIT = (
    "The whole run has not ended in a minute, and nothing limits it: --timeout SECONDS would."
)


class FlakyOracle(ActiondbgError):
    """The oracle gave two verdicts on the same output."""


class TrialRunner:
    """Runs trials and judges their outputs, each content once. Threads may share it.

    Args:
        task: of the bisection; its oracle is prepared with ``setup``.

    Attributes:
        judged: how often the oracle judged an output; the end of a tool costs nothing to judge.
    """

    def __init__(
        self, tool: FrozenTool, task: BisectionTask, setup: OracleSetup, verdicts: VerdictStore
    ) -> None:
        self.judged = 0
        self._tool = tool
        self._oracle = task.oracle
        self._repeat = task.repeat
        self._setup = setup
        self._verdicts = verdicts
        self._lock = threading.Lock()
        self._locks = defaultdict[str, threading.Lock](threading.Lock)

    def run(self, trial: Trial, running: RunningTrial) -> TrialResult:
        """Run a trial and judge its output.

        Raises:
            Cancelled: another thread cancelled ``running``.
            FlakyOracle: the oracle gave two verdicts on the output.
            OracleError: the oracle cannot judge.
        """
        try:
            evidence = self._tool.run(trial, running)
            judgement = self.judge(evidence, running)
            if judgement.verdict == "good":
                self._tool.keep_frozen(trial, running)
        finally:
            running.close()
        return TrialResult(judgement, evidence)

    def judge(self, evidence: TrialFiles, running: RunningTrial) -> Judgement:
        """Judge the output of a trial, unless its content was judged before."""
        if not self._oracle.judges_output(evidence.stop):
            return self._judge(evidence, running)
        digest = content_digest(evidence.output)
        with self._lock:
            lock = self._locks[digest]
        with lock:  # another trial may have its output of the same content judged
            judgement = self._verdicts.get_output(digest)
            if judgement is None:
                judgement = self._judge(evidence, running)
                self._verdicts.add_output(digest, judgement)
        return judgement

    def judge_again(self, evidence: TrialFiles, running: RunningTrial) -> Judgement:
        """Judge the output of a trial, whatever is known about its content."""
        if self._oracle.judges_output(evidence.stop):
            with self._lock:
                self.judged += 1
        return self._oracle.judge(evidence, running.commands, self._setup)

    def _judge(self, evidence: TrialFiles, running: RunningTrial) -> Judgement:
        first = self.judge_again(evidence, running)
        for _ in range(self._repeat - 1):
            check_same_verdict(first, self.judge_again(evidence, running))
        return first


def content_digest(file: Path) -> str:
    """Return a digest of the content of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_same_verdict(first: Judgement, second: Judgement) -> None:
    """Raise FlakyOracle if two judgements of the same output differ in their verdicts."""
    if first.verdict != second.verdict:
        raise FlakyOracle(
            f"One output was judged {first.verdict} ({first.reason}) and then {second.verdict} "
            f"({second.reason})"
        )


# --- one by one ---


ResultT = TypeVar("ResultT")


class TrialEvaluator:
    """Runs trials in this process and caches their verdicts.

    Attributes:
        seconds: the time limit of a trial; None for no limit.
        processor: its limit of processor time, in seconds; None for no limit.
        candidates: the number of candidates in the search.
        whole: the record of the run that skips nothing; None before that run.
        whole_stop: the end of that run, or None.
    """

    def __init__(
        self,
        tool: FrozenTool,
        runner: TrialRunner,
        task: BisectionTask,
        verdicts: VerdictStore,
        progress: ProgressReporter,
    ) -> None:
        self.candidates = 0
        self.whole: Record | None = None
        self.whole_stop: Stop | None = None
        self.tool = tool
        self.filter = task.filter
        self.verdicts = verdicts
        self.progress = progress
        self.seconds = task.seconds
        self.processor: float | None = None
        self._runner = runner
        self._limit = task.limit
        self._is_long = False
        self._speculative: ThreadPool[Trial, TrialResult] | None = None
        self._ahead: Trial | None = None  # what runs there

    # --- making trials ---

    def plan(
        self,
        scheme: Scheme,
        *,
        limit: int | None = None,
        only: int | None = None,
        apply: list[protocol.Key] | None = None,
        skip: list[protocol.Key] | None = None,
    ) -> protocol.SetPlan:
        """Return the plan that skips some of the candidates of a scheme."""
        return protocol.SetPlan(
            limit=limit,
            only=only,
            apply=apply,
            skip=skip,
            specs=self.filter.specs,
            always=self.filter.always,
            passes=sorted(scheme.passes),
            held=sorted(scheme.held),
        )

    def trial(self, plan: protocol.SetPlan, first_skip: int) -> Trial:
        """Return the trial of a plan that skips nothing before an ordinal."""
        return Trial(
            plan=plan, first_skip=first_skip, seconds=self.seconds, processor=self.processor
        )

    def whole_run(self) -> Trial:
        """Return the trial that skips nothing."""
        return self.trial(self.plan(Scheme()), 0)

    def prefix(self, scheme: Scheme, candidates: list[RecordedAction], length: int) -> Trial:
        """Return the trial that applies the first ``length`` candidates and skips the others."""
        if length == len(candidates):
            return self.whole_run()
        first_skip = candidates[length].ordinal
        return self.trial(self.plan(scheme, limit=first_skip - 1), first_skip)

    # --- evaluating trials ---

    def evaluate(self, trial: Trial) -> TrialResult:
        """Run and judge a trial, unless its verdict is cached."""
        cached = self.cached(trial)
        if cached is not None:
            return TrialResult(cached)
        result = self._in_thread(self._runner.run, trial)
        self.keep(trial, result.judgement)
        return result

    def check_limit(self) -> None:
        """Raise LimitReached if the limit of the search allows no other trial."""
        self._limit.check(self.progress)

    def keep(self, trial: Trial, judgement: Judgement) -> None:
        """Cache the judgement of a trial that has run, and count the trial."""
        self.verdicts.add(trial.digest, judgement)
        self.progress.trial_done()

    def cached(self, trial: Trial) -> Judgement | None:
        """Return the cached judgement of a trial, or None."""
        return self.verdicts.get(trial.digest)

    def record(self, trial: Trial, keys: bool = False) -> tuple[TrialResult, Record]:
        """Run a trial, record its actions, and judge it unless its verdict is cached.

        Args:
            trial: the trial.
            keys: whether the record holds the key of each action.
        """
        evidence, record = self.run_recorded(trial, keys)
        return TrialResult(self.judge_run(trial, evidence), evidence), record

    def run_recorded(self, trial: Trial, keys: bool = False) -> tuple[TrialFiles, Record]:
        """Run a trial, and record its actions; see ``record``."""
        file = self.tool.directory / "record"
        plan = msgspec.structs.replace(trial.plan, record=str(file), keys=keys)
        evidence = self._in_thread(self._run_only, msgspec.structs.replace(trial, plan=plan))
        # Of a run that did not end in time, the record is cut.
        return evidence, Record([]) if evidence.stop is None else read_record(file)

    def judge_run(self, trial: Trial, evidence: TrialFiles) -> Judgement:
        """Judge what a trial left, unless its verdict is cached."""
        cached = self.cached(trial)
        if cached is not None:
            return cached

        def judge(_: Trial, running: RunningTrial) -> Judgement:
            return self._runner.judge(evidence, running)

        judgement = self._in_thread(judge, trial)
        self.keep(trial, judgement)
        return judgement

    def judge_again(self, evidence: TrialFiles, judgement: Judgement) -> None:
        """Judge an output once more.

        Raises:
            FlakyOracle: the verdict differs from that of ``judgement``.
        """

        def judge(_: Trial, running: RunningTrial) -> Judgement:
            return self._runner.judge_again(evidence, running)

        check_same_verdict(judgement, self._in_thread(judge, self.whole_run()))

    # --- one speculative trial ---

    def start_speculative(self, trial: Trial) -> None:
        """Start a trial that may be needed next, in parallel to the current one."""
        self.cancel_speculative()
        self._ahead = trial
        self._speculative = ThreadPool(self.tool.new_trial, self._run_without_errors)
        self._speculative.submit(0, trial)

    def take_speculative(self, trial: Trial) -> TrialResult | None:
        """Wait for the speculative trial, and cache its verdict.

        Args:
            trial: the trial that is needed now; a speculative trial with other skips is ended.

        Returns:
            The result; None if this trial was not started, or if it was untestable.
        """
        if self._speculative is None or self._ahead is None:
            return None
        if self._ahead.digest != trial.digest or self.cached(trial) is not None:
            self.cancel_speculative()
            return None
        try:
            result = self._speculative.wait()[1]
        finally:
            self.cancel_speculative()
        if result.judgement.verdict == "untestable":
            return None
        self.keep(trial, result.judgement)
        return result

    def cancel_speculative(self) -> None:
        """End the speculative trial, if one is running."""
        pool, self._speculative = self._speculative, None
        if pool is not None:
            pool.close()

    def _run_without_errors(self, trial: Trial, running: RunningTrial) -> TrialResult:
        """Run a trial; an error makes it untestable, because its result may not be needed."""
        try:
            return self._runner.run(trial, running)
        except Cancelled:
            raise
        except Exception as error:
            return TrialResult(Judgement("untestable", str(error)))

    def _run_only(self, trial: Trial, running: RunningTrial) -> TrialFiles:
        try:
            return self.tool.run(trial, running)
        finally:
            running.close()

    def _in_thread(self, run: Callable[[Trial, RunningTrial], ResultT], trial: Trial) -> ResultT:
        """Run a trial in a thread, so that Ctrl-C can cancel it."""
        pool = ThreadPool(self.tool.new_trial, run, waiting=self._note_long)
        try:
            pool.submit(0, trial)
            return pool.wait()[1]
        finally:
            pool.close()

    def _note_long(self) -> None:
        """Say once that the whole run is long; the other trials have a limit."""
        if self.seconds is None and not self._is_long and self.progress.seconds > _LONG_SECONDS:
            self._is_long = True
            self.progress.say(_NO_LIMIT)
