"""One bisection: start the tool, search, and describe the result."""

from __future__ import annotations

import bisect
import contextlib
import copy
import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path

import msgspec

from actiondbg import protocol
from actiondbg.bisection import messages
from actiondbg.bisection.bounds import Bounds, StartSearch, evaluate_whole_run
from actiondbg.bisection.broken_ir import BrokenIR, find_broken_ir
from actiondbg.bisection.candidates import Record
from actiondbg.bisection.crash import crash_sentence
from actiondbg.bisection.culprit_search import CulpritSearch, describe_culprit, smallest_set
from actiondbg.bisection.evaluator import FlakyOracle, TrialEvaluator, TrialRunner
from actiondbg.bisection.frozen_tool import FrozenTool
from actiondbg.bisection.messages import NothingFound
from actiondbg.bisection.oracles import TrialFiles
from actiondbg.bisection.plain_runs import PlainRuns, PlainVerdicts
from actiondbg.bisection.progress import LimitReached, ProgressReporter
from actiondbg.bisection.result import Culprit, Result
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.trial import Pool, RunningTrial, ThreadPool
from actiondbg.bisection.verdict import Milestone
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import ActiondbgError
from actiondbg.process.stop import Stop
from actiondbg.support.closeable import Closeable
from actiondbg.support.counts import counted
from actiondbg.support.scratch_directory import make_directory, remove_directory
from actiondbg.support.source_file import known_place

RecordedRun = tuple[FrozenTool, Record]
MakePool = Callable[[BisectionTask, Callable[[], RunningTrial]], Pool]


def _is_not_bad(result: Result) -> bool:
    """Whether the whole run was good, or could not be judged."""
    return result.verdict == "not-bad" or (result.verdict == "untestable" and not result.candidates)


class Bisection(Closeable):
    """A bisection of one input.

    Args:
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
        self._layout = 0
        self._judged = 0
        self._whole: Record | None = None
        self._whole_stop: Stop | None = None
        self._plain: PlainRuns | None = None
        self._directory = make_directory()
        try:
            progress.start_phase("the tool")
            frozen_tool = self._freeze_program() if task.program(task.argv).is_followed else None
            self.tool = self.task.program(self.task.argv).tool
            directory = self._directory / "oracle"
            directory.mkdir()
            self.setup = self.task.oracle_setup(self.tool.path, directory, self.task.source())
            try:
                task.oracle.prepare(self.setup)
            except BaseException:
                if frozen_tool is not None:
                    frozen_tool.close()
                raise
            self.frozen_tool = frozen_tool or self._freeze(layout=0)
        except BaseException:
            remove_directory(self._directory)
            raise

    def close(self) -> None:
        """End all processes of the tool and remove their files."""
        if self._plain is not None:
            self._plain.close()
        self.frozen_tool.close()
        remove_directory(self._directory)

    def find(self, verdicts: VerdictStore) -> Result:
        """Bisect; ``verdicts`` is the cache of verdicts.

        A whole run that is good is repeated in random address layouts, and an untestable one if its
        output depends on addresses. If an oracle that looks for
        an event cannot judge runs that end with an error, such runs count as good in a second
        search.

        Raises:
            OracleError: the oracle cannot judge.
            ToolGone: the tool does not repeat its run.
        """
        result = self._find_in_layout(verdicts)
        has_ended = self._whole is None or self._whole_stop is not None
        if not _is_not_bad(result) or not has_ended or self.frozen_tool.stop.when == "exit":
            return result
        if result.verdict == "untestable" and not self._depends_on_addresses():
            return result
        found = self._find_in_random_layouts(verdicts)
        if found is not None:
            return found
        if not self.task.layouts:
            return result
        runs = counted(self.task.layouts, "run")
        return msgspec.structs.replace(
            result,
            message=f"{result.message} It was not bad in {runs} with random addresses either.",
            trials=self._progress.trials,
            oracle_runs=self._judged,
            seconds=self._progress.seconds,
        )

    def _depends_on_addresses(self) -> bool:
        """Return whether the plain tool ends in several ways with random addresses."""
        if not self.task.layouts or self.tool.libmlir is None:
            return False
        self._progress.start_phase("random addresses", 0)
        runs = PlainRuns(self.task, self._directory / "untestable", self.task.seconds)
        try:
            runs.first()
            if runs.outputs() == 1:
                runs.more()
            return runs.outputs() > 1
        finally:
            runs.close()

    def _freeze_program(self) -> FrozenTool:
        """Start and freeze a program, or the tool that it starts with its own arguments."""
        frozen = self._freeze(layout=0)
        if frozen.started is None:
            return frozen
        frozen.close()
        self._progress.add_note(
            f"{self.task.argv[0]} starts {frozen.started.path} with its own arguments: this tool "
            "is bisected."
        )
        argv = [str(frozen.started.path), *frozen.started.arguments]
        self.task = dataclasses.replace(self.task, argv=argv, env=frozen.started.environment)
        return self._freeze(layout=0)

    def _freeze(self, layout: int) -> FrozenTool:
        """Start and freeze the tool; with fixed addresses in layout 0, else with random ones."""
        self._layout = layout
        directory = self._directory
        if layout:
            directory = directory / f"l{layout}"
            directory.mkdir()
        frozen = FrozenTool(self.task, directory, randomize=layout > 0)
        if frozen.is_cold and not self.task.no_fork:
            self._progress.add_note("The tool cannot be forked: each trial runs from the start.")
        return frozen

    def _find_in_random_layouts(self, verdicts: VerdictStore) -> Result | None:
        """Bisect in the first random address layout in which the whole run is bad."""
        fixed, record = self.frozen_tool, self._whole
        with fixed:
            for layout in range(1, self.task.layouts + 1):
                self._progress.start_phase(f"random addresses, run {layout}")
                if layout > 1:
                    self.frozen_tool.close()
                self.frozen_tool = self._freeze(layout)
                found = self._find_in_layout(verdicts.of_other_layout())
                if _is_not_bad(found):
                    continue
                differs = ""
                if record is not None and self._whole is not None:
                    runs = (fixed, record), (self.frozen_tool, self._whole)
                    if action := first_different_action(*runs, self._directory):
                        differs = f" It differs from the good run first at {action}."
                self._progress.add_note(
                    f"The whole run is good with fixed addresses, and bad in run {layout} with "
                    f"random ones, in which the search was made.{differs}"
                )
                notes = list(self._progress.notes)
                return msgspec.structs.replace(found, layout=layout, notes=notes)
        return None

    def _find_in_layout(self, verdicts: VerdictStore) -> Result:
        result = self._find(verdicts)
        oracle = self.task.oracle
        if result.verdict != "untestable" or not (oracle.is_event and result.candidates):
            return result
        milestone = self._milestone()
        if milestone is None:
            return result
        self._progress.add_note(
            f"{result.message} The search is repeated, and a run that ends with an error counts as "
            f"good if it got past {milestone.argument}, in which the event of {oracle.as_option()} "
            "happens."
        )
        verdicts.remove_all("untestable")
        oracle = copy.copy(oracle)
        oracle.milestone = self.frozen_tool.milestone = milestone
        self.task = dataclasses.replace(self.task, oracle=oracle)
        return self._find(verdicts)

    def _milestone(self) -> Milestone | None:
        """Return the pass in which the event of the whole run happens, or None."""
        if self._whole is None or self._whole_stop is None:
            return None
        return self._whole.milestone(self._whole_stop.ordinal)

    def _find(self, verdicts: VerdictStore) -> Result:
        task, progress = self.task, self._progress
        runner = TrialRunner(self.frozen_tool, task, self.setup, verdicts)
        evaluator = TrialEvaluator(self.frozen_tool, runner, task, verdicts, progress)
        pool = self._pool(runner)
        try:
            result = self._search(evaluator, runner, pool)
        except NothingFound as ended:
            result = Result(verdict=ended.verdict, message=ended.message, range=ended.range)
        except LimitReached:
            result = Result(
                verdict="limit",
                message="The search among the candidates has not begun. A higher limit continues "
                "with --resume.",
            )
        except FlakyOracle as error:
            message = f"{error}: the oracle is flaky. {task.oracle.remedy}"
            result = Result(verdict="flaky", message=message)
        finally:
            evaluator.cancel_speculative()
            pool.close()
            self._whole, self._whole_stop = evaluator.whole, evaluator.whole_stop
            self._judged += runner.judged
        return msgspec.structs.replace(
            result,
            mode=task.mode,
            candidates=evaluator.candidates,
            trials=progress.trials,
            oracle_runs=self._judged,
            notes=list(progress.notes),
            always=task.filter.always,
            seconds=progress.seconds,
        )

    def _pool(self, runner: TrialRunner) -> Pool:
        if self._make_pool is None or self._layout:  # workers have layouts of their own
            return ThreadPool(self.frozen_tool.new_trial, runner.run, self.task.jobs or 1)
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
        # The end of a program is not that of the tool in it.
        is_plain = not (self.tool.libmlir is None and task.oracle.is_event)
        if is_plain and task.layouts and not task.oracle.catches and self._plain is None:
            self._plain = PlainRuns(task, self._directory, evaluator.seconds)
        space = StartSearch(evaluator, record, whole_run).find()
        search = CulpritSearch(evaluator, pool, record, jobs, confirms=first)
        space = search.find(space)
        crash = whole_run.stop if task.oracle.symptom == "crash" and whole_run else None
        if first:
            result = self._first(search, space, crash)
        else:
            result = self._set(evaluator, pool, jobs, space)
        if search.is_contradicted or (first and result.confirmed != "good"):
            search.judge_again(space)
        judged = evaluator.cached(evaluator.whole_run()) if task.oracle.explains else None
        why = f" The whole run is bad: {judged.reason}." if judged else ""
        plain = self._judge_plain_runs(runner)
        if crash is not None and whole_run is not None:
            # A trial writes no stack trace.
            runs = () if self._plain is None else self._plain.first()
            died = [one.errors for one in runs if one.stop and one.stop.status == crash.status]
            sentence = crash_sentence(crash, whole_run.errors, *died[:1])
            result = msgspec.structs.replace(result, crash=sentence)
        scheme = space.scheme
        return msgspec.structs.replace(
            result,
            message=f"{result.message}{why}",
            plain_bad=plain.bad,
            plain_runs=plain.runs,
            plain_outputs=plain.outputs,
            held=sorted(scheme.held - scheme.passes),
            units=sorted(scheme.held & scheme.passes),
        )

    def _judge_plain_runs(self, runner: TrialRunner) -> PlainVerdicts:
        """Count how often the plain tool is bad; most of its outputs were judged in trials."""
        if self._plain is None:
            return PlainVerdicts()

        def count(runs: list[TrialFiles]) -> int:
            judged = (runner.judge(one, self.frozen_tool.new_trial()) for one in runs)
            return sum(judgement.verdict == "bad" for judgement in judged)

        runs = self._plain.first()
        found = PlainVerdicts(count(runs), len(runs))
        if self._layout or not found.is_always_bad:
            more = self._plain.more()
            found = PlainVerdicts(found.bad + count(more), found.runs + len(more))
            self._progress.add_note(found.describe())
        return found._replace(outputs=self._plain.outputs())

    def _first(self, search: CulpritSearch, space: Bounds, crash: Stop | None) -> Result:
        index, why = space.interval.bad - 1, None
        judgement = search.confirm(space, index)
        does = f"turns good to bad.{messages.crashed_in(space.culprit, crash)}"
        broken = self._broken_ir(search, crash)
        if broken is not None:
            at = space.index(broken.action.ordinal)
            without = search.confirm(space, at) if at is not None and at <= index else judgement
            # Without another action the tool may still crash, if that is not the only such one.
            if at is None or at > index or (without.verdict, judgement.verdict) == ("bad", "good"):
                self._progress.add_note(messages.broken_ir(broken))
            else:
                index, why, judgement = at, broken.why, without
                does = f"leaves IR that is not valid: {why}. The tool crashes later."
        culprit = self._describe(space, index)
        return Result(
            verdict="found",
            culprit=culprit,
            confirmed=judgement.verdict,
            broken=why,
            message=f"{culprit.entry.describe()} {does} {messages.confirmation(judgement)}",
        )

    def _broken_ir(self, search: CulpritSearch, crash: Stop | None) -> BrokenIR | None:
        if crash is None or not crash.ordinal:  # a tool may crash outside of any action
            return None
        self._progress.start_phase("the IR before the crash", 0)
        with contextlib.suppress(ActiondbgError):
            return find_broken_ir(self.frozen_tool, crash.ordinal, search.evaluator.seconds)
        return None

    def _set(self, evaluator: TrialEvaluator, pool: Pool, jobs: int, space: Bounds) -> Result:
        mode = "skip" if self.task.mode == "skip" else "minimize"
        items, is_minimal = smallest_set(evaluator, pool, jobs, space, mode)
        chosen = [space.candidates[item].entry for item in items]
        if mode == "skip":
            culprit = self._describe(space, items[0])
            message = messages.smallest_skips(culprit.entry, len(items), is_minimal)
            return Result(
                verdict="found",
                culprit=culprit,
                skips=chosen,
                message=message,
                is_minimal=is_minimal,
            )
        if not items:
            raise NothingFound("not-good-at-start", "The output is bad with no action applied.")
        applied = set(items)
        others = [one.entry for at, one in enumerate(space.candidates) if at not in applied]
        culprit = self._describe(space, items[-1])
        message = messages.smallest_applied(len(items), is_minimal)
        return Result(
            verdict="found",
            culprit=culprit,
            applied=chosen,
            skips=others,
            message=message,
            is_minimal=is_minimal,
        )

    def _describe(self, space: Bounds, index: int) -> Culprit:
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
            return messages.ended_early(judgement)
        if judgement.verdict == "untestable":
            return NothingFound(
                "untestable",
                f"The tool failed before its first action ({judgement.reason}), so there is "
                "nothing to judge: check its command line and its input.",
            )
        return messages.not_bad(judgement, self.task.oracle.is_event)


def first_different_action(one: RecordedRun, other: RecordedRun, directory: Path) -> str | None:
    """Describe the first action of the second run in which it differs.

    Returns:
        The action, such as "#17 fold arith.addi at a.mlir:2:3"; None if it was not found.
    """
    left, right = ([action.ordinal for action in record.actions] for _, record in (one, other))
    pairs = enumerate(itertools.zip_longest(left, right))
    same = next((index for index, (a, b) in pairs if a != b), len(left))
    with contextlib.suppress(ActiondbgError, OSError):
        # The same actions may have changed the IR in two ways.
        index = bisect.bisect_left(
            left[:same], True, key=lambda ordinal: _texts_differ(one, other, ordinal, directory)
        )
        if index < same:
            return _describe(other[0], left[index])
        following = [*left[same : same + 1], *right[same : same + 1]]
        return _describe(other[0], min(following)) if following else None
    return None


def _texts_differ(one: RecordedRun, other: RecordedRun, ordinal: int, directory: Path) -> bool:
    return _text_after(one[0], ordinal, directory) != _text_after(other[0], ordinal, directory)


def _text_after(tool: FrozenTool, ordinal: int, directory: Path) -> bytes:
    file = directory / "difference"
    with tool.replay(ordinal, "after") as fork:
        fork.request(protocol.Print(what="module", path=str(file)))
    return file.read_bytes()


def _describe(tool: FrozenTool, ordinal: int) -> str:
    with tool.replay(ordinal) as fork:
        stop = fork.stop
        assert stop is not None
        named = " ".join(word for word in (stop.tag, stop.name) if word)
        about = f" on {stop.op}" if stop.op else ""
        place = f" at {known_place(stop.location)}" if known_place(stop.location) else ""
        return f"#{ordinal} {named}{about}{place}"
