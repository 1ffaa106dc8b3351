"""The words of a bisection that a front end needs at once: they are cheap to import."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mode = Literal["first", "minimize", "skip"]
Verdict = Literal["good", "bad", "untestable"]
Found = Literal["found", "untestable", "not-bad", "not-good-at-start", "flaky"]


class Judgement(NamedTuple):
    """A verdict, and in a few words why."""

    verdict: Verdict
    reason: str
