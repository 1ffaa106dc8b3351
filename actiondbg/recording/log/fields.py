"""The fields at the beginning of a line of the log: ordinal, thread, outcome and duration."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from actiondbg.recording.format.arrow import Array, Ints, pa
from actiondbg.recording.format.layout import OUTCOMES, UNFINISHED
from actiondbg.recording.log.text import Coded, number_parts

# Colours a text by its role: "name", or an outcome. Each outcome grows by the same number of bytes.
Paint = Callable[[str, str], str]

_ORDINAL_WIDTH = 9  # with the # and a blank
_THREAD_WIDTH = 4
_OUTCOME_WIDTH = 1 + max(map(len, OUTCOMES))
_DURATION_WIDTH = 7
_DIGITS = 18  # of the largest ordinal
_POWERS = 10 ** np.arange(_DIGITS, dtype=np.int64)

# Durations are printed with three digits, and each text has a code: nanoseconds below 1000 are
# their own code; 900 codes for each power of ten follow.
_DECADES = 11
_UNITS = ("ns", "us", "ms", "s")
_MOST_DECADES = 3 * len(_UNITS) - 3  # beyond these only digits are added
_DIVISORS = _POWERS[: _DECADES + 1]
_LIMITS = np.r_[1000, 9995 * _POWERS[: _DECADES - 1]]  # the first durations with the next power
UNKNOWN_DURATION = -1
_ABSENT = 1000 + 900 * _DECADES


def no_paint(_: str, text: str) -> str:
    """Return the text unchanged."""
    return text


class Fields:
    """Formats the fields of many lines at a time."""

    def __init__(self, paint: Paint = no_paint) -> None:
        self._outcomes = [paint(each, f"{each:<{_OUTCOME_WIDTH}}") for each in OUTCOMES]
        self._durations: Array = pa.array(_duration_texts())

    def parts(self, ordinals: Ints, threads: Ints, outcomes: Ints, durations: Ints) -> list[Coded]:
        """Return texts that, joined, are the fields of each action; see ``LogActions``."""
        absent = (outcomes == UNFINISHED) | (durations == UNKNOWN_DURATION)
        return [
            *number_parts("#", ordinals),
            self._threads_and_outcomes(ordinals, threads, outcomes),
            Coded(np.where(absent, _ABSENT, _duration_codes(durations)), self._durations),
        ]

    def ending(self, outcome: int, nanoseconds: int) -> bytes:
        """Format outcome and duration alone, to overwrite those of an unfinished action."""
        duration = self._durations[int(_duration_codes(np.array([nanoseconds]))[0])]
        return f"{self._outcomes[outcome]}{duration}".encode()

    @staticmethod
    def ending_start(ordinals: Ints) -> int:
        """Return the offset of the ending in the lines of some actions, in bytes."""
        return _width(ordinals) + _THREAD_WIDTH

    def _threads_and_outcomes(self, ordinals: Ints, threads: Ints, outcomes: Ints) -> Coded:
        """Format threads and outcomes, preceded by the padding of the ordinals."""
        lengths = np.searchsorted(_POWERS, ordinals, side="right")
        width, least = _width(ordinals) - 1, int(lengths.min(initial=_DIGITS))
        blanks = [" " * (width - n) for n in range(least, int(lengths.max(initial=0)) + 1)]
        names = [f"t{n}".ljust(_THREAD_WIDTH) for n in range(int(threads.max(initial=0)) + 1)]
        words = ["".join(word) for word in product(blanks, names, self._outcomes)]
        codes = ((lengths - least) * len(names) + threads) * len(self._outcomes) + outcomes
        return Coded(codes, pa.array(words, pa.string()))


def _width(ordinals: Ints) -> int:
    """Return the width of the ordinals of some lines, with the # and a blank."""
    return max(_ORDINAL_WIDTH, len(str(int(ordinals.max(initial=0)))) + 2)


def _duration_texts() -> list[str]:
    texts = [f"{number}ns" for number in range(1000)]
    mantissas = range(100, 1000)
    points = [[f"{each / 10**more:.{more}f}" for each in mantissas] for more in (2, 1, 0)]
    for decade in range(1, _DECADES + 1):
        unit, place = divmod(decade + 2, 3)
        if unit < len(_UNITS):
            texts += [f"{each}{_UNITS[unit]}" for each in points[place]]
        else:
            zeros = "0" * (decade - _MOST_DECADES)
            texts += [f"{each}{zeros}{_UNITS[-1]}" for each in points[2]]
    return [f"{text:>{_DURATION_WIDTH}}" for text in [*texts, ""]]


def _duration_codes(durations: Ints) -> Ints:
    """Return the index of each in ``_duration_texts``."""
    codes = _SHORT_CODES[np.minimum(durations, len(_SHORT_CODES) - 1)]
    longer = np.flatnonzero(durations >= len(_SHORT_CODES))
    codes[longer] = _computed_codes(durations[longer])
    return codes


def _computed_codes(durations: Ints) -> Ints:
    decades = np.searchsorted(_LIMITS, durations, side="right")
    divisors = _DIVISORS[decades]
    mantissas = np.minimum((durations + divisors // 2) // divisors, 999)
    return np.where(decades > 0, 900 * decades + mantissas, durations)


_SHORT_CODES = _computed_codes(np.arange(1 << 16)).astype(np.int32)  # of most durations
