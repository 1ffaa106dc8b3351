"""The progress of a bisection: phase, trials, the range that is left, and an estimate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a bisection.

    Attributes:
        phase: the current phase, a few words.
        trials: the number of trials.
        to_go: an estimate of the trials that are left; None if there is none.
        at_least: whether ``to_go`` and ``left`` are lower bounds, and more may be left.
        best: the size of the smallest set so far, of the modes minimize and skip; None before.
        range: the ordinals of the first and the last action that may be the culprit, or None.
        left: an estimate of the seconds that are left; None if there is none.
        note: a finding, one sentence, or empty.
    """

    phase: str
    trials: int = 0
    to_go: int | None = None
    at_least: bool = False
    best: int | None = None
    range: tuple[int, int] | None = None
    left: float | None = None
    note: str = ""


class LimitReached(Exception):
    """The limit of the search does not allow another trial."""


@dataclass(frozen=True)
class SearchLimit:
    """The limit of a search, which is checked before each trial; None for no limit."""

    trials: int | None = None
    seconds: float | None = None

    def check(self, progress: ProgressReporter) -> None:
        """Raise LimitReached if there is no room for another trial."""
        if self.trials is not None and progress.trials >= self.trials:
            raise LimitReached
        if self.seconds is not None and progress.seconds >= self.seconds:
            raise LimitReached


class ProgressReporter:
    """Counts trials and reports the progress.

    Args:
        callback: called with each change; None for no reports.

    Attributes:
        trials: the number of trials.
        notes: the findings so far, in order.
    """

    def __init__(self, callback: Callable[[Progress], None] | None) -> None:
        self.trials = 0
        self.notes: list[str] = []
        self._callback = callback
        self._start = time.monotonic()
        self._phase_start = self._start
        self._phase_trials = 0
        self._state = Progress(phase="")

    @property
    def seconds(self) -> float:
        """The time since the reporter was made."""
        return time.monotonic() - self._start

    def start_phase(self, phase: str, to_go: int | None = None, at_least: bool = False) -> None:
        """Start a phase.

        Args:
            phase: a few words.
            to_go: the number of trials that are left; None if it is not known.
            at_least: whether more may be left.
        """
        self._phase_start, self._phase_trials = time.monotonic(), self.trials
        self._report(phase=phase, to_go=to_go, at_least=at_least)

    def trial_done(self) -> None:
        """Count a trial."""
        self.trials += 1
        to_go = self._state.to_go
        self._report(to_go=None if to_go is None else max(to_go - 1, 0))

    def set_range(self, first: int, last: int, width: int, after: int) -> None:
        """Set the range that the culprit is in.

        Args:
            width: the number of candidates in the range.
            after: the number of trials after one candidate is left.
        """
        to_go = math.ceil(math.log2(max(width, 1))) + after
        self._report(range=(first, last), to_go=to_go)

    def set_best(self, first: int, last: int, size: int, to_go: int) -> None:
        """Set the smallest set so far.

        Args:
            size: the number of its candidates.
            to_go: the number of trials that are left at least: how many is not known before.
        """
        self._report(range=(first, last), best=size, to_go=to_go, at_least=True)

    def add_note(self, text: str) -> None:
        """Add a finding."""
        self.notes.append(text)
        self._report(note=text)

    def say(self, text: str) -> None:
        """Report what is no finding."""
        self._report(note=text)

    def _report(self, note: str = "", **changes: object) -> None:
        now = msgspec.structs.replace(self._state, trials=self.trials, note=note, **changes)
        self._state = msgspec.structs.replace(now, left=self._seconds_left(now.to_go))
        if self._callback is not None:
            self._callback(self._state)

    def _seconds_left(self, to_go: int | None) -> float | None:
        done = self.trials - self._phase_trials
        if to_go is None or not done:
            return None
        return to_go * (time.monotonic() - self._phase_start) / done
