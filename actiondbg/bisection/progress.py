"""How far a bisection is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import msgspec


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a bisection is.

    Attributes:
        phase: what is done, in a few words.
        trials: how many outputs were judged.
        to_go: how many will have to be, about; None where it is not known yet.
        range: the ordinals of the first and the last action that may be to blame, or None.
        left: the seconds that it will take, about; None where it is not known yet.
        note: something that was found out, a sentence, or empty.
    """

    phase: str
    trials: int = 0
    to_go: int | None = None
    range: tuple[int, int] | None = None
    left: float | None = None
    note: str = ""


class Meter:
    """Counts trials, and tells of them.

    Args:
        tell: called with each change; None for nobody.

    Attributes:
        trials: how many outputs were judged.
        notes: what was found out, in order.
    """

    def __init__(self, tell: Callable[[Progress], None] | None) -> None:
        self.trials = 0
        self.notes: list[str] = []
        self._tell = tell
        self._began = time.monotonic()
        self._search_began = self._began
        self._search_trials = 0
        self._phase = ""
        self._to_go: int | None = None
        self._range: tuple[int, int] | None = None

    @property
    def seconds(self) -> float:
        """The time since it was made."""
        return time.monotonic() - self._began

    def phase(self, phase: str, to_go: int | None = None) -> None:
        """Begin with something."""
        self._phase, self._to_go = phase, to_go
        self._search_began, self._search_trials = time.monotonic(), self.trials
        self._show()

    def judged(self) -> None:
        """Count a trial."""
        self.trials += 1
        self._show()

    def narrowed(self, first: int, last: int, width: int, after: int) -> None:
        """Tell what may still be to blame.

        Args:
            first: the ordinal of the first action.
            last: of the last one.
            width: how many candidates are left.
            after: how many trials follow when one is left.
        """
        self._range = first, last
        self._to_go = math.ceil(math.log2(max(width, 1))) + after
        self._show()

    def note(self, text: str) -> None:
        """Tell what was found out."""
        self.notes.append(text)
        self._show(text)

    def _show(self, note: str = "") -> None:
        if self._tell is not None:
            self._tell(
                Progress(
                    phase=self._phase,
                    trials=self.trials,
                    to_go=self._to_go,
                    range=self._range,
                    left=self._left(),
                    note=note,
                )
            )

    def _left(self) -> float | None:
        done = self.trials - self._search_trials
        if self._to_go is None or not done:
            return None
        return self._to_go * (time.monotonic() - self._search_began) / done
