"""Run trials and judge their outputs."""

from __future__ import annotations

from actiondbg.bisection.oracles.oracle import Evidence, Oracle, OracleSetup
from actiondbg.bisection.trials.frozen_tool import FrozenTool
from actiondbg.bisection.trials.trial import RunningTrial, Trial, TrialResult
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import ActiondbgError


class FlakyOracle(ActiondbgError):
    """The oracle gave two verdicts on the same output."""


class TrialRunner:
    """Runs trials and judges their outputs. Threads may share it.

    Args:
        tool: the frozen tool.
        oracle: judges the outputs; prepared with ``setup``.
        setup: the facts that the oracle needs.
        repeat: how often each output is judged.
    """

    def __init__(
        self, tool: FrozenTool, oracle: Oracle, setup: OracleSetup, repeat: int = 1
    ) -> None:
        self._tool = tool
        self._oracle = oracle
        self._setup = setup
        self._repeat = repeat

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
        """Judge the output of a trial, ``repeat`` times."""
        first = self._judge_once(evidence, running)
        for _ in range(self._repeat - 1):
            check_same_verdict(first, self._judge_once(evidence, running))
        return first

    def _judge_once(self, evidence: Evidence, running: RunningTrial) -> Judgement:
        return self._oracle.judge(evidence, running.commands, self._setup)


def check_same_verdict(first: Judgement, second: Judgement) -> None:
    """Raise FlakyOracle if two judgements of the same output differ in their verdicts."""
    if first.verdict != second.verdict:
        raise FlakyOracle(
            f"One output was judged {first.verdict} ({first.reason}) and then {second.verdict} "
            f"({second.reason})"
        )
