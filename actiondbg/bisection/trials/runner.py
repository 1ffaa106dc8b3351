"""Run trials and judge their outputs."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from pathlib import Path

from actiondbg.bisection.oracles.oracle import Evidence, OracleSetup
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.trials.frozen_tool import FrozenTool
from actiondbg.bisection.trials.trial import RunningTrial, Trial, TrialResult
from actiondbg.bisection.trials.verdict_store import VerdictStore
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import ActiondbgError


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

    def judge(self, evidence: Evidence, running: RunningTrial) -> Judgement:
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

    def judge_again(self, evidence: Evidence, running: RunningTrial) -> Judgement:
        """Judge the output of a trial, whatever is known about its content."""
        if self._oracle.judges_output(evidence.stop):
            with self._lock:
                self.judged += 1
        return self._oracle.judge(evidence, running.commands, self._setup)

    def _judge(self, evidence: Evidence, running: RunningTrial) -> Judgement:
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
