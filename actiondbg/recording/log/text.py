"""Texts that are put together of words, many at a time.

Making a string of Python for each line would take longer than what the tool does in it. Here every
different word is made once, and one kernel of pyarrow copies them behind each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from actiondbg.recording.format.arrow import Array, Ints, call, int_array, pa

_MOST_KEYS = 1 << 22  # between the least and the greatest, that have places; others are sorted
_LINE_BREAK = re.compile(r"[\t\n\f\r ]*[\r\n][\t\n\f\r ]*")
_LOW = 10_000  # numbers are written in two parts: what is below, and what is above
_NOTHING: Array = pa.array([""])
_LOW_WORDS: Array = pa.array([*(f"{n:04}" for n in range(_LOW)), *map(str, range(_LOW))])


class Coded(NamedTuple):
    """Texts: for each its place among ``words``, from 0; -1 for none."""

    codes: Ints
    words: Array


def joined(parts: Sequence[Coded]) -> Array:
    """Join texts row by row; what is none is the empty text."""
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
    # What is taken lies in memory as it is to be written: only the texts' ends are others.
    pieces = call("take", pa.concat_arrays(words), int_array(codes.reshape(-1), pa.int32()))
    _, offsets, text = pieces.buffers()
    ends = np.frombuffer(offsets, np.int32)[: rows * width + 1 : width]
    buffers = [None, pa.py_buffer(np.ascontiguousarray(ends)), text]
    return pa.Array.from_buffers(pa.string(), rows, buffers)


def number_parts(before: str, numbers: Ints) -> tuple[Coded, Coded]:
    """Return the parts of texts of numbers with something before; none for negative ones."""
    highs = numbers // _LOW
    lows = numbers - highs * _LOW
    different, places = _ranked(highs)
    if (highs <= 0).any():
        lows[highs == 0] += _LOW
        places[highs < 0] = lows[highs < 0] = -1
    words = pa.array([f"{before}{high or ''}" for high in different], pa.string())
    return Coded(places, words), Coded(lows, _LOW_WORDS)


def _ranked(numbers: Ints) -> tuple[Iterable[int], Ints]:
    """Return different numbers, and the place of each number among them."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if most - least <= len(numbers):
        return range(least, most + 1), numbers - least
    rows, places = distinct(numbers)
    return numbers[rows].tolist(), places


def distinct(keys: Ints) -> tuple[Ints, Ints]:
    """Return a row of each different number, and the place of each number among these."""
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
    """Put something before a word, without line breaks in it; an empty one stays empty."""
    return f"{before}{one_line(word)}" if word else ""


def one_line(word: str) -> str:
    """Return a word without line breaks in it."""
    return _LINE_BREAK.sub(" ", word) if "\n" in word or "\r" in word else word


def _used(texts: Coded) -> Coded:
    """Leave words out that are not used, if there are many."""
    if len(texts.words) <= max(len(texts.codes), len(_LOW_WORDS)):
        return texts
    rows, places = distinct(texts.codes)
    used = texts.codes[rows]
    return Coded(places, call("take", texts.words, int_array(used, pa.int32(), used < 0)))
