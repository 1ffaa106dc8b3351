"""Verdicts and modes. The prompt imports this module at its start, so it imports nothing else."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mode = Literal["first", "minimize", "skip"]
Verdict = Literal["good", "bad", "untestable"]
Found = Literal["found", "untestable", "not-bad", "not-good-at-start", "flaky"]


class Judgement(NamedTuple):
    """A verdict and its reason, a few words."""

    verdict: Verdict
    reason: str
