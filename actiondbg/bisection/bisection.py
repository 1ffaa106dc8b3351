"""One bisection of one input: the tool, its trials, and what they come to."""

from __future__ import annotations

import copy
import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from actiondbg.bisection import messages as telling
from actiondbg.bisection.bounds import Searched, find_end, find_start
from actiondbg.bisection.culprit import describe
from actiondbg.bisection.culprit_search import Finding
from actiondbg.bisection.minimal_sets import smallest
from actiondbg.bisection.oracles.oracle import Surroundings
from actiondbg.bisection.progress import Meter
from actiondbg.bisection.request import Request
from actiondbg.bisection.result import Guilty, Result
from actiondbg.bisection.state import State
from actiondbg.bisection.trials.evaluator import Asking
from actiondbg.bisection.trials.runner import Disagreement, Judging, Pool, Threads
from actiondbg.bisection.trials.trials import Scope, Trials
from actiondbg.support.closeable import Closeable
from actiondbg.support.scratch_directory import make_directory, remove_directory

MakePool = Callable[[Request, Callable[[], Scope]], Pool]


class Work(Closeable):
    """The tool, frozen before its first action; use it as a context manager.

    Args:
        request: what is to be found.
        meter: who is told.
        make_pool: makes the trials of the search; None for threads here.

    Attributes:
        around: what the oracle may need to know.
    """

    def __init__(
        self,
        request: Request,
        meter: Meter,
        make_pool: MakePool | None = None,
    ) -> None:
        self.request = request
        self._meter = meter
        self._make_pool = make_pool
        self._line = request.line()
        self._directory = make_directory()
        try:
            meter.phase("the tool")
            argv = self._line.with_output(self._directory / "first.output")
            program = request.program(argv)
            self.tool = program.tool
            self.around = self._surroundings()
            request.oracle.prepare(self.around)
            self.trials = Trials(
                program,
                self._line,
                self._directory,
                request.stdin,
                request.oracle.catches,
                request.keys,
            )
        except BaseException:
            remove_directory(self._directory)
            raise

    def close(self) -> None:
        """End all processes, and remove what they wrote."""
        self.trials.close()
        remove_directory(self._directory)

    def find(self, state: State) -> Result:
        """Bisect.

        Args:
            state: what is known.

        Raises:
            OracleError: the oracle cannot judge.
            ToolGone: the tool does not do the same in every run.
        """
        result = self._try(state)
        oracle = self.request.oracle
        if result.verdict != "untestable" or not (oracle.is_event and result.candidates):
            return result
        self._meter.note(telling.lenient(result.message, oracle.words()))
        state.forget("untestable")
        oracle = copy.copy(oracle)
        oracle.is_lenient = True
        self.request = dataclasses.replace(self.request, oracle=oracle)
        return self._try(state)

    def _try(self, state: State) -> Result:
        meter, request = self._meter, self.request
        judging = Judging(self.trials, request.oracle, self.around, request.repeat)
        asking = Asking(self.trials, judging, request.choice, state, meter, request.seconds)
        pool = self._pool(judging)
        try:
            result = self._find(asking, judging, pool)
        except telling.Ended as ended:
            result = Result(verdict=ended.verdict, message=ended.message, range=ended.range)
        except Disagreement as flaky:
            result = Result(verdict="flaky", message=_flaky(flaky))
        finally:
            asking.drop()
            pool.close()
        return msgspec.structs.replace(
            result,
            mode=request.mode,
            candidates=asking.candidates,
            trials=meter.trials,
            notes=list(meter.notes),
            always=request.choice.always,
            seconds=meter.seconds,
        )

    def _pool(self, judging: Judging) -> Pool:
        if self._make_pool is None:
            return Threads(self.trials, judging.judge, self.request.jobs or 1)
        return self._make_pool(self.request, self.trials.scope)

    def _find(self, asking: Asking, judging: Judging, pool: Pool) -> Result:
        if self.trials.stop.when == "exit":
            return self._without_actions(asking, judging)
        jobs = self.request.jobs or pool.jobs
        ahead = jobs > 1 and not asking.state.resumed
        oracle = self.request.oracle
        record, whole = find_end(asking, self.request.keys, oracle.is_event, ahead)
        searched = find_start(asking, record, whole)
        finding = Finding(asking, pool, record, jobs, self.request.mode == "first")
        searched = finding.find(searched)
        if self.request.mode == "first":
            result = self._first(finding, searched)
        else:
            result = self._set(asking, pool, jobs, searched)
        finding.judge_again(searched)
        scheme = searched.scheme
        return msgspec.structs.replace(
            result,
            held=sorted(scheme.held - scheme.passes),
            units=sorted(scheme.held & scheme.passes),
        )

    def _first(self, finding: Finding, searched: Searched) -> Result:
        judgement = finding.confirm(searched)
        guilty = self._describe(searched, searched.interval.bad - 1)
        return Result(
            verdict="found",
            guilty=guilty,
            confirmed=judgement.verdict,
            message=f"{guilty.entry.words()} turns good to bad. {telling.confirmed(judgement)}",
        )

    def _set(self, asking: Asking, pool: Pool, jobs: int, searched: Searched) -> Result:
        mode = "skip" if self.request.mode == "skip" else "minimize"
        items = smallest(asking, pool, jobs, searched, mode)
        chosen = [searched.units[item].entry for item in items]
        if mode == "skip":
            guilty = self._describe(searched, items[0])
            count = "it" if len(items) == 1 else f"{len(items)} candidates"
            message = f"{guilty.entry.words()}: the output is good when {count} is skipped."
            if len(items) > 1:
                message = f"The output is good when {count} are skipped, and with none less."
            return Result(verdict="found", guilty=guilty, skips=chosen, message=message)
        left_out = set(items)
        others = [row.entry for at, row in enumerate(searched.units) if at not in left_out]
        if not items:
            raise telling.Ended("not-good-at-start", "The output is bad with no action applied.")
        guilty = self._describe(searched, items[-1])
        count = f"{len(items)} candidate{'s are' if len(items) > 1 else ' is'}"
        message = f"The output is bad when only {count} applied, and with none less."
        return Result(verdict="found", guilty=guilty, applied=chosen, skips=others, message=message)

    def _describe(self, searched: Searched, index: int) -> Guilty:
        self._meter.phase("the guilty action", 0)
        row = searched.units[index]
        return describe(lambda: self.trials.near(row.ordinal), row, self._directory)

    def _without_actions(self, asking: Asking, judging: Judging) -> Result:
        """Judge a tool that ended before its first action."""
        evidence = self.trials.alone()
        scope = self.trials.scope()
        judgement = judging.look(evidence, scope)
        if judgement.verdict == "bad":
            raise telling.no_candidates("")
        raise telling.not_bad(judgement, self.request.oracle.is_event)

    def _surroundings(self) -> Surroundings:
        directory = self._directory / "oracle"
        directory.mkdir()
        return Surroundings(
            tool=self.tool.path,
            argv=self.request.argv,
            input=self.request.source(),
            cwd=self.request.cwd,
            directory=directory,
            seconds=self.request.seconds,
        )


def _flaky(flaky: Disagreement) -> str:
    return (
        f"{flaky}: the oracle is flaky. Have it say the same each time, such as by comparing with "
        "what is expected, not with a wrong output that was seen."
    )


def spool(stream_fd: int, file: Path) -> None:
    """Keep what comes in on a descriptor in a file: each trial reads it anew."""
    with open(stream_fd, "rb", closefd=False) as source, file.open("wb") as target:
        shutil.copyfileobj(source, target)
