"""One bisection: start the tool, search, and describe the result."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

import msgspec

from actiondbg.bisection import messages
from actiondbg.bisection.bounds import SearchSpace, evaluate_whole_run, find_good_start
from actiondbg.bisection.culprit import describe_culprit
from actiondbg.bisection.culprit_search import CulpritSearch
from actiondbg.bisection.messages import NothingFound
from actiondbg.bisection.minimal_sets import smallest_set
from actiondbg.bisection.oracles.oracle import OracleSetup
from actiondbg.bisection.progress import ProgressReporter
from actiondbg.bisection.result import Culprit, Result
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.trials.evaluator import TrialEvaluator
from actiondbg.bisection.trials.frozen_tool import FrozenTool
from actiondbg.bisection.trials.pool import Pool, ThreadPool
from actiondbg.bisection.trials.runner import FlakyOracle, TrialRunner
from actiondbg.bisection.trials.trial import RunningTrial
from actiondbg.bisection.trials.verdict_store import VerdictStore
from actiondbg.support.closeable import Closeable
from actiondbg.support.scratch_directory import make_directory, remove_directory

MakePool = Callable[[BisectionTask, Callable[[], RunningTrial]], Pool]


class Bisection(Closeable):
    """A bisection of one input.

    Args:
        task: the tool, the oracle and the options.
        progress: receives phases, trials and notes.
        make_pool: makes the pool that runs the trials of the search; None for threads.

    Attributes:
        frozen_tool: the tool, frozen before its first action.
        setup: the facts that the oracle was prepared with.
        tool: the stock tool.
    """

    def __init__(
        self,
        task: BisectionTask,
        progress: ProgressReporter,
        make_pool: MakePool | None = None,
    ) -> None:
        self.task = task
        self._progress = progress
        self._make_pool = make_pool
        line = task.command_line()
        self._directory = make_directory()
        try:
            progress.start_phase("the tool")
            program = task.program(line.with_output(self._directory / "first.output"))
            self.tool = program.tool
            self.setup = self._oracle_setup()
            task.oracle.prepare(self.setup)
            self.frozen_tool = FrozenTool(
                program, line, self._directory, task.stdin, task.oracle.catches, task.keys
            )
        except BaseException:
            remove_directory(self._directory)
            raise

    def close(self) -> None:
        """End all processes of the tool and remove their files."""
        self.frozen_tool.close()
        remove_directory(self._directory)

    def find(self, verdicts: VerdictStore) -> Result:
        """Bisect; ``verdicts`` is the cache of verdicts.

        If an oracle that looks for an event cannot judge runs that end with an error, such runs
        count as good in a second search.

        Raises:
            OracleError: the oracle cannot judge.
            ToolGone: the tool does not repeat its run.
        """
        result = self._find(verdicts)
        oracle = self.task.oracle
        if result.verdict != "untestable" or not (oracle.is_event and result.candidates):
            return result
        self._progress.add_note(messages.errors_are_good(result.message, oracle.as_option()))
        verdicts.remove_all("untestable")
        oracle = copy.copy(oracle)
        oracle.is_lenient = True
        self.task = dataclasses.replace(self.task, oracle=oracle)
        return self._find(verdicts)

    def _find(self, verdicts: VerdictStore) -> Result:
        task, progress = self.task, self._progress
        runner = TrialRunner(self.frozen_tool, task.oracle, self.setup, verdicts, task.repeat)
        evaluator = TrialEvaluator(
            self.frozen_tool, runner, task.filter, verdicts, progress, task.seconds
        )
        pool = self._pool(runner)
        try:
            result = self._search(evaluator, runner, pool)
        except NothingFound as ended:
            result = Result(verdict=ended.verdict, message=ended.message, range=ended.range)
        except FlakyOracle as error:
            result = Result(verdict="flaky", message=messages.flaky(str(error)))
        finally:
            evaluator.cancel_speculative()
            pool.close()
        return msgspec.structs.replace(
            result,
            mode=task.mode,
            candidates=evaluator.candidates,
            trials=progress.trials,
            oracle_runs=runner.judged,
            notes=list(progress.notes),
            always=task.filter.always,
            seconds=progress.seconds,
        )

    def _pool(self, runner: TrialRunner) -> Pool:
        if self._make_pool is None:
            return ThreadPool(self.frozen_tool, runner.run, self.task.jobs or 1)
        return self._make_pool(self.task, self.frozen_tool.new_trial)

    def _search(self, evaluator: TrialEvaluator, runner: TrialRunner, pool: Pool) -> Result:
        if self.frozen_tool.stop.when == "exit":
            raise self._nothing_without_actions(runner)
        task = self.task
        jobs = task.jobs or pool.jobs
        first = task.mode == "first"
        speculative = jobs > 1 and not evaluator.verdicts.resumed
        record, whole_run = evaluate_whole_run(
            evaluator, task.keys, task.oracle.is_event, speculative
        )
        space = find_good_start(evaluator, record, whole_run)
        search = CulpritSearch(evaluator, pool, record, jobs, confirms=first)
        space = search.find(space)
        result = self._first(search, space) if first else self._set(evaluator, pool, jobs, space)
        if search.is_contradicted or (first and result.confirmed != "good"):
            search.judge_again(space)
        scheme = space.scheme
        return msgspec.structs.replace(
            result,
            held=sorted(scheme.held - scheme.passes),
            units=sorted(scheme.held & scheme.passes),
        )

    def _first(self, search: CulpritSearch, space: SearchSpace) -> Result:
        judgement = search.confirm(space)
        culprit = self._describe(space, space.interval.bad - 1)
        words = culprit.entry.describe()
        return Result(
            verdict="found",
            culprit=culprit,
            confirmed=judgement.verdict,
            message=f"{words} turns good to bad. {messages.confirmation(judgement)}",
        )

    def _set(self, evaluator: TrialEvaluator, pool: Pool, jobs: int, space: SearchSpace) -> Result:
        mode = "skip" if self.task.mode == "skip" else "minimize"
        items = smallest_set(evaluator, pool, jobs, space, mode)
        chosen = [space.candidates[item].entry for item in items]
        if mode == "skip":
            culprit = self._describe(space, items[0])
            message = messages.smallest_skips(culprit.entry, len(items))
            return Result(verdict="found", culprit=culprit, skips=chosen, message=message)
        if not items:
            raise NothingFound("not-good-at-start", "The output is bad with no action applied.")
        applied = set(items)
        others = [one.entry for at, one in enumerate(space.candidates) if at not in applied]
        culprit = self._describe(space, items[-1])
        message = messages.smallest_applied(len(items))
        return Result(
            verdict="found", culprit=culprit, applied=chosen, skips=others, message=message
        )

    def _describe(self, space: SearchSpace, index: int) -> Culprit:
        self._progress.start_phase("the culprit", 0)
        action = space.candidates[index]
        return describe_culprit(
            lambda: self.frozen_tool.fork_before(action.ordinal), action, self._directory
        )

    def _nothing_without_actions(self, runner: TrialRunner) -> NothingFound:
        """Judge the output of a tool that ended before its first action."""
        evidence = self.frozen_tool.evidence_without_actions()
        judgement = runner.judge(evidence, self.frozen_tool.new_trial())
        if judgement.verdict == "bad":
            return messages.no_candidates("")
        if judgement.verdict == "untestable":
            return messages.no_actions(judgement)
        return messages.not_bad(judgement, self.task.oracle.is_event)

    def _oracle_setup(self) -> OracleSetup:
        directory = self._directory / "oracle"
        directory.mkdir()
        return OracleSetup(
            tool=self.tool.path,
            argv=self.task.argv,
            input=self.task.source(),
            cwd=self.task.cwd,
            directory=directory,
            seconds=self.task.seconds,
        )
