"""Columns of texts as codes, each encoded once, and of bytes, which make up files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from actiondbg.recording.format.arrow import Array, pa

Pieces: TypeAlias = Array  # a pyarrow.LargeBinaryArray: bytes per row
_FEW = 1 << 12  # smaller numbers are encoded once each
_MOST_PAIRS = 1 << 16  # limit for a merged column


@dataclass(frozen=True)
class Argument:
    """A named argument of slices: texts, numbers (NONE for none) or truth values."""

    name: str
    content: TextColumn | Numbers | Mask = field(repr=False)

    @property
    def is_used(self) -> bool:
        """Whether any slice has a value."""
        if isinstance(self.content, TextColumn):
            return bool((self.content.codes != NONE).any())
        is_mask = self.content.dtype == np.bool_
        return bool(self.content.any() if is_mask else (self.content != NONE).any())


class Encoder(Protocol):
    """Encodes arguments in a format."""

    def texts(self, name: str, texts: Array) -> Pieces:
        """Encode texts."""
        ...

    def truth(self, name: str) -> bytes:
        """Encode the value true."""
        ...

    def numbers(self, name: str, numbers: Numbers) -> Pieces:
        """Encode non-negative numbers."""
        ...


class ByteColumn(Protocol):
    """Bytes per slice."""

    def block(self, rows: slice) -> Pieces:
        """Return the bytes of some slices."""
        ...


class Lookup:
    """Bytes by code; empty for NONE."""

    def __init__(self, codes: Numbers, values: Pieces) -> None:
        self._codes = np.where(codes < 0, len(values), codes)
        self._values = pa.concat_arrays([values, pa.array([b""], type=pa.large_binary())])

    def block(self, rows: slice) -> Pieces:
        return self._values.take(pa.array(self._codes[rows]))

    def merged(self, other: Lookup) -> Lookup | None:
        """Merge two columns, each pair of values once; None if there may be too many pairs."""
        width = len(other._values)
        if len(self._values) * width > _MOST_PAIRS:
            return None
        pairs = self._codes * width + other._codes
        used = np.zeros(len(self._values) * width, np.bool_)
        used[pairs] = True
        first, second = np.divmod(np.flatnonzero(used), width)
        values = joined(self._values.take(pa.array(first)), other._values.take(pa.array(second)))
        return Lookup((np.cumsum(used) - 1)[pairs], values)


class _Numbers:
    """Many distinct numbers, encoded block by block; empty for NONE."""

    def __init__(self, name: str, numbers: Numbers, encoder: Encoder) -> None:
        self._name, self._numbers, self._encoder = name, numbers, encoder

    def block(self, rows: slice) -> Pieces:
        numbers = self._numbers[rows]
        absent = numbers == NONE
        pieces = self._encoder.numbers(self._name, np.where(absent, 0, numbers))
        if not absent.any():
            return pieces
        return pc.if_else(pa.array(absent), pa.scalar(b"", pa.large_binary()), pieces)


def column_of(argument: Argument, encoder: Encoder) -> ByteColumn:
    """Encode an argument."""
    name, content = argument.name, argument.content
    if isinstance(content, TextColumn):
        return Lookup(content.codes, encoder.texts(name, content.values))
    if content.dtype == np.bool_:
        truth = pa.array([encoder.truth(name)], type=pa.large_binary())
        return Lookup(np.where(content, 0, NONE), truth)
    numbers = content.astype(np.int64, copy=False)
    most = int(numbers.max(initial=0))
    if most >= min(_FEW, len(numbers)):
        return _Numbers(name, numbers, encoder)
    return Lookup(numbers, encoder.numbers(name, np.arange(most + 1)))


def merge(columns: Sequence[ByteColumn]) -> list[ByteColumn]:
    """Merge neighbouring columns with few values, which halves the time to write them."""
    result: list[ByteColumn] = []
    for column in columns:
        last = result[-1] if result else None
        both = None
        if isinstance(last, Lookup) and isinstance(column, Lookup):
            both = last.merged(column)
        if both is None:
            result.append(column)
        else:
            result[-1] = both
    return result


def joined(*parts: Pieces | bytes) -> Pieces:
    """Concatenate columns row by row; plain bytes repeat in each row. One part is a column."""
    kind = pa.large_binary()
    large = [pa.scalar(p, kind) if isinstance(p, bytes) else p.cast(kind) for p in parts]
    return pc.binary_join_element_wise(*large, pa.scalar(b"", kind))


def decimal(numbers: Numbers) -> Pieces:
    """Format numbers in decimal."""
    return pc.cast(pa.array(numbers), pa.large_string()).cast(pa.large_binary())


def pieces_of(content: NDArray[np.uint8], offsets: Numbers) -> Pieces:
    """Split bytes into pieces.

    Args:
        content: all bytes.
        offsets: shape (rows + 1,), ascending: the begin of each row's bytes, and the end.
    """
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(content)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def lengths(pieces: Pieces) -> Numbers:
    """Return the number of bytes of each row."""
    return np.asarray(pc.binary_length(pieces)).astype(np.int64, copy=False)


def content_of(pieces: Pieces) -> memoryview:
    """Return the bytes of all rows, concatenated."""
    _, offsets, content = pieces.buffers()
    bounds = np.frombuffer(offsets, np.int64)[pieces.offset : pieces.offset + len(pieces) + 1]
    return memoryview(content or b"")[int(bounds[0]) : int(bounds[-1])]


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
