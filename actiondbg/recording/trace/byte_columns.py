"""Columns of bytes, from which all formats assemble their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from actiondbg.recording.format.arrow import Array, pa
from actiondbg.recording.trace.text_columns import NONE, Mask, Numbers, TextColumn, pc

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


class Column(Protocol):
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


def column_of(argument: Argument, encoder: Encoder) -> Column:
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


def merge(columns: Sequence[Column]) -> list[Column]:
    """Merge neighbouring columns with few values, which halves the time to write them."""
    result: list[Column] = []
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
