"""The progress of a bisection: phase, trials, the range that is left, and an estimate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import msgspec


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a bisection.

    Attributes:
        phase: the current phase, a few words.
        trials: the number of trials.
        to_go: an estimate of the trials that are left; None if there is none.
        range: the ordinals of the first and the last action that may be the culprit, or None.
        left: an estimate of the seconds that are left; None if there is none.
        note: a finding, one sentence, or empty.
    """

    phase: str
    trials: int = 0
    to_go: int | None = None
    range: tuple[int, int] | None = None
    left: float | None = None
    note: str = ""


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
        self._phase = ""
        self._to_go: int | None = None
        self._range: tuple[int, int] | None = None

    @property
    def seconds(self) -> float:
        """The time since the reporter was made."""
        return time.monotonic() - self._start

    def start_phase(self, phase: str, to_go: int | None = None) -> None:
        """Start a phase; ``to_go`` is its number of trials, None if it is not known."""
        self._phase, self._to_go = phase, to_go
        self._phase_start, self._phase_trials = time.monotonic(), self.trials
        self._report()

    def trial_done(self) -> None:
        """Count a trial."""
        self.trials += 1
        self._report()

    def set_range(self, first: int, last: int, width: int, after: int) -> None:
        """Set the range that the culprit is in.

        Args:
            first: the ordinal of the first action.
            last: the ordinal of the last action.
            width: the number of candidates in the range.
            after: the number of trials after one candidate is left.
        """
        self._range = first, last
        self._to_go = math.ceil(math.log2(max(width, 1))) + after
        self._report()

    def add_note(self, text: str) -> None:
        """Add a finding."""
        self.notes.append(text)
        self._report(text)

    def _report(self, note: str = "") -> None:
        if self._callback is not None:
            self._callback(
                Progress(
                    phase=self._phase,
                    trials=self.trials,
                    to_go=self._to_go,
                    range=self._range,
                    left=self._seconds_left(),
                    note=note,
                )
            )

    def _seconds_left(self) -> float | None:
        done = self.trials - self._phase_trials
        if self._to_go is None or not done:
            return None
        return self._to_go * (time.monotonic() - self._phase_start) / done
