"""The lines of the text log: one per action, formatted many at a time.

A line begins with fields of fixed width, so that those of an unfinished action can be overwritten
when it ends. Making a Python string for each line would take longer than the action itself: every
distinct text is made once, and one kernel of pyarrow concatenates them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from actiondbg.recording.format.arrow import Array, Bools, Ints, call, int_array, pa
from actiondbg.recording.format.layout import FOLDS, OUTCOMES, UNFINISHED
from actiondbg.recording.format.structs import Space
from actiondbg.support.counts import NANOSECONDS

# The text before each word that describes an operation.
BEFORE: dict[int, str] = {Space.OPERATION: " ", Space.FUNCTION: " in @", Space.FILE: " at "}

_FAILED = OUTCOMES.index("failed")
_INDENT = "  "  # per enclosing action
_FOLD_NOTES = [
    ": folded in place" if fold == "in-place" else f": folded to {fold}" for fold in FOLDS
]
_ODD_NOTE = ": though it changed the IR"
NOTES: Array = pa.array([f"{note}\n" for note in ("", *_FOLD_NOTES, _ODD_NOTE)])


@dataclass(frozen=True)
class LogActions:
    """Actions in order; the arrays have one item per action.

    Args:
        ordinals: from 1.
        threads: thread numbers.
        depths: the number of enclosing actions.
        outcomes: indices in ``layout.OUTCOMES``.
        durations: in ns; ignored for unfinished actions.
        subjects: the tag and the name of each.
        operations: the operation of each, and where it is.
        notes: the end of each line: the reason of a failure, or the result of a fold; 0 for none.
    """

    ordinals: Ints
    threads: Ints
    depths: Ints
    outcomes: Ints
    durations: Ints
    subjects: Coded
    operations: Coded
    notes: Coded

    def lines(self, fields: Fields) -> Array:
        """Return one line per action, each with its newline, never null."""
        deepest = int(self.depths.max(initial=0))
        indents = pa.array([f" {_INDENT * n}" for n in range(deepest + 1)])
        parts = fields.parts(self.ordinals, self.threads, self.outcomes, self.durations)
        indent = Coded(self.depths, indents)
        return joined([*parts, indent, self.subjects, self.operations, self.notes])


def subject(tag: str, name: str, paint: Paint) -> str:
    """Format the tag and the name, if there is one."""
    return one_line(tag) + (f" ({paint('name', one_line(name))})" if name else "")


def reason_note(reason: str) -> str:
    """Format the end of a line with the reason of a failure."""
    return piece(": ", reason) + "\n"


def note_codes(folds: Ints, changed: Bools, outcomes: Ints, reasons: Ints) -> Ints:
    """Return the ends of lines, as indices in ``NOTES`` and, behind these, the reasons.

    Args:
        folds: indices in ``layout.FOLDS`` plus 1; 0 for none.
        changed: whether each action changed the IR.
        outcomes: indices in ``layout.OUTCOMES``.
        reasons: the index of the reason of each failure; -1 for none.
    """
    codes = folds.astype(np.int32)
    codes[(outcomes == _FAILED) & changed & (codes == 0)] = len(NOTES) - 1
    return np.where(reasons >= 0, reasons + len(NOTES), codes)


def operation_texts(numbers: Ints, words: Sequence[Coded], lines: Ints, columns: Ints) -> Array:
    """Format ``on @5 arith.addi in @f at in.mlir:3:4``, without missing parts.

    Args:
        numbers: operation ids.
        words: operation names, symbols of the enclosing functions, and files, each after its text
            of ``BEFORE``.
        lines: lines of the locations; negative for none.
        columns: columns of the locations; negative for none.
    """
    places = (*number_parts(":", lines), *number_parts(":", columns))
    return joined([*number_parts(" on @", numbers), *words, *places])


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
_UNITS = tuple(NANOSECONDS)
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


_MOST_KEYS = 1 << 22  # largest range of keys for a lookup table; wider ranges are sorted
_LINE_BREAK = re.compile(r"[\t\n\f\r ]*[\r\n][\t\n\f\r ]*")
_LOW = 10_000  # numbers are written in two parts, split at this power of ten
_NOTHING: Array = pa.array([""])
_LOW_WORDS: Array = pa.array([*(f"{n:04}" for n in range(_LOW)), *map(str, range(_LOW))])


class Coded(NamedTuple):
    """Texts, each as an index in ``words``; -1 for no text."""

    codes: Ints
    words: Array


def joined(parts: Sequence[Coded]) -> Array:
    """Join texts row by row; no text counts as an empty one."""
    rows, width = len(parts[0].codes), len(parts)
    if not rows:
        return pa.array([], pa.string())
    codes = np.empty((rows, width), np.int32)
    words: list[Array] = []
    count = 0
    for index, part in enumerate(map(_used, parts)):
        words += (_NOTHING, part.words)
        np.add(part.codes, count + 1, out=codes[:, index], casting="unsafe")
        count += len(part.words) + 1
    # The bytes already lie in the order of the result: only the offsets change.
    pieces = call("take", pa.concat_arrays(words), int_array(codes.reshape(-1), pa.int32()))
    _, offsets, text = pieces.buffers()
    ends = np.frombuffer(offsets, np.int32)[: rows * width + 1 : width]
    buffers = [None, pa.py_buffer(np.ascontiguousarray(ends)), text]
    return pa.Array.from_buffers(pa.string(), rows, buffers)


def number_parts(before: str, numbers: Ints) -> tuple[Coded, Coded]:
    """Return the two parts of numbers with a prefix; no text for negative numbers."""
    highs = numbers // _LOW
    lows = numbers - highs * _LOW
    different, places = _ranked(highs)
    if (highs <= 0).any():
        lows[highs == 0] += _LOW
        places[highs < 0] = lows[highs < 0] = -1
    words = pa.array([f"{before}{high or ''}" for high in different], pa.string())
    return Coded(places, words), Coded(lows, _LOW_WORDS)


def _ranked(numbers: Ints) -> tuple[Iterable[int], Ints]:
    """Return distinct numbers, and the index of each number among them."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if most - least <= len(numbers):
        return range(least, most + 1), numbers - least
    rows, places = distinct(numbers)
    return numbers[rows].tolist(), places


def distinct(keys: Ints) -> tuple[Ints, Ints]:
    """Return a row of each distinct number, and the index of each number among these."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    least = int(keys.min())
    size = int(keys.max()) - least + 1
    if size > _MOST_KEYS:
        return np.unique(keys, return_index=True, return_inverse=True)[1:]
    numbers = np.arange(len(keys), dtype=np.int32)
    offsets = keys - least
    owners = np.empty(size, np.int32)
    owners[offsets] = numbers
    owned = owners[offsets]
    is_owner = owned == numbers
    return np.flatnonzero(is_owner), (np.cumsum(is_owner, dtype=np.int32) - 1)[owned]


def piece(before: str, word: str) -> str:
    """Prefix a word and replace its line breaks; an empty word stays empty."""
    return f"{before}{one_line(word)}" if word else ""


def one_line(word: str) -> str:
    """Replace line breaks in a word by blanks."""
    return _LINE_BREAK.sub(" ", word) if "\n" in word or "\r" in word else word


def _used(texts: Coded) -> Coded:
    """Drop unused words, if there are many."""
    if len(texts.words) <= max(len(texts.codes), len(_LOW_WORDS)):
        return texts
    rows, places = distinct(texts.codes)
    used = texts.codes[rows]
    return Coded(places, call("take", texts.words, int_array(used, pa.int32(), used < 0)))
