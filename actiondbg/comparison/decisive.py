"""The difference between two runs that an oracle notices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from actiondbg.bisection.api import bisect
from actiondbg.bisection.oracles import Oracle, Predicate
from actiondbg.bisection.progress import Progress
from actiondbg.bisection.result import Result
from actiondbg.comparison.run_comparison import RunComparison
from actiondbg.comparison.side import Side


@dataclass(frozen=True)
class Decisive:
    """The verdicts of an oracle on two runs, and the action that makes the bad run bad."""

    # The runs that the oracle rejects: "", "A", "B" or "AB"; None if its verdict on a run varies.
    bad: Literal["", "A", "B", "AB"] | None
    # That of the bisection of the bad run, or of the run whose verdict varies; None if both runs
    # are good, or both bad.
    result: Result | None = None
    # How much of what the culprit changed the other run lacks: "all", "some" or "none"; None if no
    # culprit was found.
    share: Literal["all", "some", "none"] | None = None
    # Those of the bisections of A and B, if both are bad.
    both: tuple[Result, Result] | None = None

    @property
    def message(self) -> str:
        """The answer in sentences."""
        if self.bad == "":
            return "The oracle accepts both runs: no difference matters to it."
        if self.bad == "AB":
            why = " ".join(map(_why, "AB", self.both or ()))
            return f"The oracle rejects both runs: no difference decides. {why}"
        assert self.result is not None
        if self.bad is None:
            return self.result.message
        other = "B" if self.bad == "A" else "A"
        culprit = self.result.culprit
        if culprit is None:
            return f"The oracle rejects {self.bad} only. {self.result.message}"
        found = f"The oracle rejects {self.bad} only, because of {culprit.entry.describe()}"
        if self.share == "all":
            return f"{found}, which {other} does not do."
        if self.share == "some":
            return f"{found}, in which the runs differ."
        return f"{found}. {other} has this action, too: what is before it differs, or its result."

    def as_json(self) -> dict[str, object]:
        """Return the answer with stable keys."""
        result = None if self.result is None else self.result.as_json()
        both = None if self.both is None else [each.as_json() for each in self.both]
        found = {"bad": self.bad, "share": self.share, "message": self.message}
        return {**found, "result": result, "both": both}


def _why(name: str, result: Result) -> str:
    if result.culprit is None:
        return f"Of {name}: {result.message}"
    return f"{name} is bad because of {result.culprit.entry.describe()}."


def find_decisive(
    compared: RunComparison,
    oracle: Oracle | Predicate | str,
    *,
    stdin: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Decisive:
    """Find the action that makes the bad run bad, by repeating the run with actions skipped.

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

    results = search(compared.a), search(compared.b)
    for result in results:
        if result.verdict == "flaky":
            return Decisive(None, result)
    are_bad = [result.verdict != "not-bad" for result in results]
    if are_bad[0] == are_bad[1]:
        return Decisive("AB", both=results) if are_bad[0] else Decisive("")
    at = are_bad.index(True)
    bad = "B" if at else "A"
    return Decisive(bad, results[at], _share(compared, at, results[at]))


def _share(
    compared: RunComparison, at: int, result: Result
) -> Literal["all", "some", "none"] | None:
    """Return how much of what the culprit of run A (0) or B (1) changed the other run lacks."""
    if result.culprit is None:
        return None
    # A pass as a whole has the actions in it.
    span = range(result.culprit.entry.ordinal, result.culprit.entry.last + 1)
    changed = {one for each in compared.functions for one in each.ordinals[at] if one in span}
    own = {one for each in compared.functions for one in each.own[at] if one in span}
    return "none" if not own else "all" if own == changed else "some"
