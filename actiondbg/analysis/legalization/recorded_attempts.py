"""What conversions tried, from the recorded attempts of patterns.

A recording tells less than a replay: not what the conversion target says, not which types do not
convert, and nothing of operations for which no pattern was tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from actiondbg.analysis.attempts import Attempt
from actiondbg.analysis.legalization.tree import Legalization, TriedPattern
from actiondbg.protocol.legalizations import TryResult

_ROLLED_BACK = "rolled back"  # the beginning of the agent's own reason


class NestedAttempt(NamedTuple):
    """An attempt, the number of actions around it, and whether it has ended."""

    depth: int
    attempt: Attempt
    ended: bool = True


def legalizations_of(attempts: Iterable[NestedAttempt]) -> list[Legalization]:
    """Build the trees from attempts in the order of their beginnings.

    Attempts in a row for the same operation, at the same depth, are of one tree.
    """
    top: list[Legalization] = []
    around: list[tuple[int, TriedPattern]] = []  # depth, and the pattern of that depth
    for depth, attempt, ended in attempts:
        while around and around[-1][0] >= depth:
            around.pop()
        siblings = around[-1][1].generated if around else top
        if not siblings or siblings[-1].id != attempt.id:
            siblings.append(
                Legalization(
                    id=attempt.id,
                    op=attempt.op or "",
                    location=attempt.location,
                    legality=None,
                    legalized=False,
                )
            )
        one = siblings[-1]
        tried = TriedPattern(
            name=attempt.name,
            benefit=None,
            ordinal=attempt.ordinal,
            result=_result(attempt) if ended else None,
            reasons=list(attempt.outcome.reasons) if ended else [],
        )
        one.tried.append(tried)
        one.legalized = one.legalized or (tried.result == "succeeded" if ended else None)
        around.append((depth, tried))
    return top


def _result(attempt: Attempt) -> TryResult:
    if attempt.outcome.result in ("succeeded", "unchanged"):
        return "succeeded"
    is_rolled_back = any(each.startswith(_ROLLED_BACK) for each in attempt.outcome.reasons)
    return "rolled back" if is_rolled_back else "failed"
