"""Verdicts, modes and milestones. The prompt imports this at its start: it imports nothing else."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mode = Literal["first", "minimize", "skip"]
Verdict = Literal["good", "bad", "untestable"]
Found = Literal["found", "untestable", "not-bad", "not-good-at-start", "flaky", "limit"]


class Judgement(NamedTuple):
    """A verdict and its reason, a few words."""

    verdict: Verdict
    reason: str


class Milestone(NamedTuple):
    """The pass in which the event happens that an oracle looks for.

    Attributes:
        argument: of the pass.
        ends: the ordinals of the last actions of its runs up to the event, in the whole run.
    """

    argument: str
    ends: list[int]
