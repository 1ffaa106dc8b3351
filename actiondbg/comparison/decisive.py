"""The difference between two runs that an oracle notices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from actiondbg.bisection.api import bisect
from actiondbg.bisection.oracles.oracle import Oracle, Predicate
from actiondbg.bisection.progress import Progress
from actiondbg.bisection.result import Result
from actiondbg.comparison.runs import RunComparison
from actiondbg.comparison.side import Side


@dataclass(frozen=True)
class Decisive:
    """What an oracle says of two runs, and the action by which the bad one is bad.

    Attributes:
        bad: the runs that it rejects: "", "A", "B" or "AB".
        result: of the bisection of the only bad run; None if both are good or both bad.
        is_own: whether the other run lacks the culprit; None if no culprit was found.
    """

    bad: Literal["", "A", "B", "AB"]
    result: Result | None = None
    is_own: bool | None = None

    @property
    def message(self) -> str:
        """The answer in sentences."""
        if not self.bad:
            return "The oracle accepts both runs: no difference matters to it."
        if self.bad == "AB":
            return "The oracle rejects both runs: no difference decides."
        assert self.result is not None
        other = "B" if self.bad == "A" else "A"
        culprit = self.result.culprit
        if culprit is None:
            return f"The oracle rejects {self.bad} only. {self.result.message}"
        found = f"The oracle rejects {self.bad} only, because of {culprit.entry.describe()}"
        if self.is_own:
            return f"{found}, which {other} does not do."
        return f"{found}. {other} has this action, too: what is before it differs, or its result."


def find_decisive(
    compared: RunComparison,
    oracle: Oracle | Predicate | str,
    *,
    stdin: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Decisive:
    """Find the action that makes one of two runs bad, by skipping actions of it.

    Args:
        compared: the runs, whose commands can still run.
        oracle: judges their outputs, as in ``bisect``.
        stdin: the file on their standard inputs; None for ours.
        progress: called with each change of the progress.

    Raises:
        UsageError, LaunchError, OracleError, ToolGone: as ``bisect``.
    """

    def search(side: Side) -> Result:
        cwd = side.recording.header.cwd
        return bisect(side.argv, oracle, cwd=cwd, stdin=stdin, progress=progress)

    results = [search(compared.a), search(compared.b)]
    are_bad = [result.verdict != "not-bad" for result in results]
    if are_bad[0] == are_bad[1]:
        return Decisive("AB" if are_bad[0] else "")
    at = are_bad.index(True)
    culprit = results[at].culprit
    is_own = None
    if culprit is not None:
        is_own = any(culprit.entry.ordinal in each.own[at] for each in compared.functions)
    return Decisive("A" if at == 0 else "B", results[at], is_own)
