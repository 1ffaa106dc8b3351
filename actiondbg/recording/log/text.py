"""Texts joined from words, many at a time.

Making a Python string for each line would take longer than the action itself. Here every distinct
word is made once, and one kernel of pyarrow concatenates them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from actiondbg.recording.format.arrow import Array, Ints, call, int_array, pa

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
