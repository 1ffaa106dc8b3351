"""The fields at the beginning of a line of the log: ordinal, thread, outcome and duration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from actiondbg.recording.arrow import Array, Ints, pa
from actiondbg.recording.layout import OUTCOMES, UNFINISHED

Paint = Callable[[str, str], str]  # a role and a text; roles are "name" and the outcomes

_ORDINAL_WIDTH = 9  # with the #, and a blank behind it
_THREAD_WIDTH = 4
_OUTCOME_WIDTH = 1 + max(map(len, OUTCOMES))
_DURATION_WIDTH = 7
_DIGITS = 4  # that are written at a time
_POWERS = 10 ** np.arange(18, dtype=np.int64)

# Durations have three digits, and each has its code: nanoseconds below 1000 are their own; behind
# them are 900 for each power of ten.
_DECADES = 11
_UNITS = ("ns", "us", "ms", "s")
_MOST_DECADES = 3 * len(_UNITS) - 3  # above there are only more digits
_DIVISORS = _POWERS[: _DECADES + 1]
_LIMITS = np.r_[1000, 9995 * _POWERS[: _DECADES - 1]]  # from there they have the next unit
_ABSENT = 1000 + 900 * _DECADES


def no_paint(_: str, text: str) -> str:
    """Paint nothing."""
    return text


class Fields:
    """Writes the fields of many lines at a time.

    Args:
        paint: see ``LineWriter``.
    """

    def __init__(self, paint: Paint = no_paint) -> None:
        outcomes = [paint(each, f"{each:<{_OUTCOME_WIDTH}}") for each in OUTCOMES]
        self._outcomes = _bytes(outcomes)
        self._durations = _bytes(_duration_texts())
        self._numbers = _bytes([f"{number:04}" for number in range(10**_DIGITS)])

    def array(self, ordinals: Ints, threads: Ints, outcomes: Ints, durations: Ints) -> Array:
        """Return a string for each action; see ``log_lines.Actions``."""
        names = [f"t{n}".ljust(_THREAD_WIDTH) for n in range(int(threads.max(initial=0)) + 1)]
        parts = [
            self._ordinals(ordinals),
            _bytes(names)[threads],
            self._outcomes[outcomes],
            self._durations[np.where(outcomes == UNFINISHED, _ABSENT, _duration_codes(durations))],
        ]
        fields = np.empty(len(ordinals), [(str(i), each.dtype) for i, each in enumerate(parts)])
        for i, each in enumerate(parts):
            fields[str(i)] = each
        return _strings(fields)

    def ending(self, outcome: int, nanoseconds: int) -> bytes:
        """Write the outcome and the duration alone: what an action gets when it is over."""
        duration = self._durations[_duration_codes(np.array([nanoseconds]))[0]]
        return self._outcomes[outcome].tobytes() + duration.tobytes()

    @staticmethod
    def ending_start(ordinals: Ints) -> int:
        """Return where these begin in the lines of some actions, in bytes."""
        return _width(ordinals) + _THREAD_WIDTH

    def _ordinals(self, ordinals: Ints) -> npt.NDArray[np.void]:
        """Write them with a # before, and blanks behind."""
        count, width = len(ordinals), _width(ordinals)
        groups = -(-width // _DIGITS)
        numbers = np.empty((count, groups), self._numbers.dtype)
        rest = ordinals
        for group in reversed(range(groups)):
            quotient = rest // 10**_DIGITS  # faster than divmod
            numbers[:, group] = self._numbers[rest - quotient * 10**_DIGITS]
            rest = quotient
        digits = numbers.view(np.uint8).reshape(count, groups * _DIGITS)
        written = np.full((count, width), ord(" "), np.uint8)
        written[:, 0] = ord("#")
        lengths = np.searchsorted(_POWERS[1:], ordinals, side="right") + 1
        for length in np.unique(lengths):
            # Mostly all have the same.
            rows = slice(None) if (lengths == length).all() else lengths == length
            written[rows, 1 : 1 + length] = digits[rows, -length:]
        return written.view(f"V{width}").reshape(count)


def _bytes(texts: Sequence[str]) -> npt.NDArray[np.void]:
    """Return texts of the same length; copying them is faster than as strings of numpy."""
    encoded = np.array([text.encode() for text in texts])
    return encoded.view(f"V{encoded.itemsize}")


def _width(ordinals: Ints) -> int:
    """Return how wide the ordinals of some lines are, with the # and a blank."""
    return max(_ORDINAL_WIDTH, len(str(int(ordinals.max(initial=0)))) + 2)


def _strings(fields: npt.NDArray[np.void]) -> Array:
    """Return the items of an array, which are text, as strings; they are not copied."""
    offsets = np.arange(len(fields) + 1, dtype=np.int32) * fields.dtype.itemsize
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(fields.view(np.uint8))]
    return pa.Array.from_buffers(pa.string(), len(fields), buffers)


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
    """Return the place of each among ``_duration_texts``."""
    decades = np.searchsorted(_LIMITS, durations, side="right")
    divisors = _DIVISORS[decades]
    mantissas = np.minimum((durations + divisors // 2) // divisors, 999)
    return np.where(decades > 0, 900 * decades + mantissas, durations)
