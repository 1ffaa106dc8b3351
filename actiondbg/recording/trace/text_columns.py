"""Columns of texts as codes: each text is stored and encoded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actiondbg.recording.format.arrow import Array, pa

pc: Any = import_module("pyarrow.compute")

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

NONE = -1
_MOST_WORDS = 20  # of a tally; the rest is only counted


@dataclass(frozen=True)
class TextColumn:
    """A text or none per row.

    Args:
        codes: shape (rows,): the index of the row's text in ``values``, NONE for none.
        values: the texts, a pyarrow.LargeStringArray.
    """

    codes: Numbers
    values: Array

    @classmethod
    def of(cls, column: Array) -> TextColumn:
        """Convert a column of a recording's table, of the type ``WORD``."""
        codes = column.indices.fill_null(NONE).to_numpy(zero_copy_only=False)
        return cls(codes.astype(np.int64), column.dictionary.cast(pa.large_string()))

    def take(self, rows: Numbers | Mask) -> TextColumn:
        """Return the texts of some rows, without unused values."""
        codes = self.codes[rows]
        used = np.zeros(len(self.values) + 1, np.bool_)  # the last is for NONE
        used[codes] = True
        fresh = np.cumsum(used) - 1
        fresh[-1] = NONE
        return TextColumn(fresh[codes], self.values.filter(pa.array(used[:-1])))

    def changed(self, rows: Mask, by: TextColumn) -> TextColumn:
        """Return a copy with other texts, in order, in the rows of a mask."""
        codes = self.codes.copy()
        codes[rows] = np.where(by.codes < 0, NONE, by.codes + len(self.values))
        return TextColumn(codes, pa.concat_arrays([self.values, by.values]))

    def distinct(self) -> TextColumn:
        """Return the same texts without duplicate values."""
        encoded = self.values.dictionary_encode()
        fresh = np.append(np.asarray(encoded.indices), NONE)
        return TextColumn(fresh[self.codes].astype(np.int64), encoded.dictionary)

    def code_of(self, text: str) -> int:
        """Return the code of a text; an unused code for a text that no row has."""
        code = self.values.index(pa.scalar(text, pa.large_string())).as_py()
        return len(self.values) if code < 0 else code


def string_array(texts: Iterable[str]) -> Array:
    """Return texts as ``TextColumn.values``."""
    return pa.array(list(texts), type=pa.large_string())


def texts_of(keys: Numbers, text: Callable[[int], str | None]) -> TextColumn:
    """Make a text for each distinct key; ``text`` returns None for no text."""
    distinct, codes = np.unique(keys, return_inverse=True)
    made = [text(int(key)) for key in distinct]
    values = [each for each in made if each is not None]
    fresh = np.cumsum([each is not None for each in made], dtype=np.int64) - 1
    fresh[[each is None for each in made]] = NONE
    return TextColumn(fresh[codes.reshape(-1)], string_array(values))


def tallies(offsets: Numbers, keys: Numbers, word: Callable[[int], str]) -> TextColumn:
    """Describe groups of keys by count and word, such as ``"2 A; B"``.

    Groups with the same keys share a text: there are few distinct groups.

    Args:
        offsets: shape (groups + 1,), ascending: the begin of each group in ``keys``, and the end.
        keys: the keys of all groups, concatenated.
        word: returns a key's word.
    """
    if len(offsets) < 2:
        return TextColumn(np.empty(0, np.int64), string_array(()))
    hashes = np.add.reduceat(_mixed(keys), offsets[:-1])
    _, example, codes = np.unique(hashes, return_index=True, return_inverse=True)
    values = [_tally(keys[offsets[group] : offsets[group + 1]], word) for group in example]
    return TextColumn(codes.reshape(-1).astype(np.int64), string_array(values))


def _tally(keys: Numbers, word: Callable[[int], str]) -> str:
    counted = Counter[int](keys.tolist()).most_common()
    words = [word(key) if times == 1 else f"{times} {word(key)}" for key, times in counted]
    more = len(words) - _MOST_WORDS
    if more > 0:
        words = [*words[:_MOST_WORDS], f"{more} more"]
    return "; ".join(words)


def _mixed(keys: Numbers) -> NDArray[np.uint64]:
    """Spread keys over 64 bits (splitmix64), so that the sum of a group identifies its keys."""
    bits = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
