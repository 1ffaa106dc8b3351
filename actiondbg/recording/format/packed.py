"""Packed numbers: LEB128, mostly of differences to the item before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import Ints

T = TypeVar("T")

_THREADS = 2  # more need more memory and save little: columns share intermediate results
_BITS = 7  # of a number per byte; the eighth bit marks that more follow
_PART = 0x7F  # mask of a number's bits in a byte
_BLOCK = 1 << 17  # bytes per block: the intermediate arrays fit into the cache

Bytes = npt.NDArray[np.uint8]


def do_all(work: Callable[[T], object], items: Sequence[T]) -> None:
    """Call a function for each item; re-raises the first exception."""
    if len(items) < 2:
        for item in items:
            work(item)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(work, items))


class _Block(NamedTuple):
    """Slices of the sections and of the items that are unpacked together."""

    sections: slice
    items: slice


def unpack(
    payloads: Sequence[Bytes], counts: Sequence[int], names: Sequence[str], differences: int
) -> dict[str, Ints]:
    """Unpack the items of sections.

    Args:
        payloads: one per section.
        counts: the number of items in each section.
        names: the fields of an item, in order.
        differences: the number of leading fields that are zigzag-coded differences to the item
            before in the section.

    Returns:
        An array per name, with a number per item.

    Raises:
        RecordingError: the payloads do not hold the expected count of numbers.
    """
    columns = np.empty((len(names), sum(counts)), np.int32)

    def read(block: _Block) -> None:
        numbers = _leb128(np.concatenate(payloads[block.sections]))
        here = columns[:, block.items]
        if len(numbers) != here.size:
            raise RecordingError(
                f"The recording holds {len(numbers):,} packed numbers where {here.size:,} are "
                "expected: record it again."
            )
        for index, column in enumerate(here):
            plain = np.ascontiguousarray(numbers[index :: len(names)])
            if index < differences:
                _sum(unzigzag(plain).view(np.int32), counts[block.sections], column)
            else:
                column[:] = plain

    do_all(read, list(_blocks(payloads, counts)))
    return dict(zip(names, columns, strict=True))


def varint(number: int) -> bytes:
    """Encode a number, not negative, as LEB128."""
    encoded = bytearray()
    while number > _PART:
        encoded.append(number & _PART | 1 << _BITS)
        number >>= _BITS
    encoded.append(number)
    return bytes(encoded)


def zigzag(number: int) -> int:
    """Encode 0, -1, 1, -2, 2, ... as 0, 1, 2, 3, 4, ..."""
    return number << 1 if number >= 0 else -(number << 1) - 1


def unzigzag(numbers: Ints) -> Ints:
    """Decode 0, 1, 2, 3, ... to 0, -1, 1, -2, ..."""
    return numbers >> 1 ^ -(numbers & 1)


def _blocks(payloads: Sequence[Bytes], counts: Sequence[int]) -> Iterator[_Block]:
    """Group sections into blocks of about _BLOCK bytes."""
    first, first_item, item, size = 0, 0, 0, 0
    for index, (payload, count) in enumerate(zip(payloads, counts, strict=True)):
        item += count
        size += len(payload)
        if size >= _BLOCK or index == len(payloads) - 1:
            yield _Block(slice(first, index + 1), slice(first_item, item))
            first, first_item, size = index + 1, item, 0


def _leb128(content: Bytes) -> npt.NDArray[np.uint32]:
    """Decode a LEB128 stream (DWARF 5, section 7.6) of numbers of at most 32 bits."""
    ends = np.flatnonzero(content < 1 << _BITS)
    if ends[-1:].sum() + 1 < len(content):
        return np.zeros(0, np.uint32)  # the last number is incomplete: the count will not match
    begins = np.zeros_like(ends)
    np.add(ends[:-1], 1, out=begins[1:])
    numbers = content.take(ends).astype(np.uint32)
    # Most have one byte; the others are assembled from their last byte (the highest bits) back.
    longer = np.flatnonzero(begins != ends)
    at, first = ends[longer], begins[longer]
    while len(longer):
        at = at - 1
        numbers[longer] = numbers[longer] << _BITS | content[at] & _PART
        unfinished = at > first
        longer, at, first = longer[unfinished], at[unfinished], first[unfinished]
    return numbers


def _sum(differences: Ints, counts: Sequence[int], sums: Ints) -> None:
    """Write running sums that restart with each section."""
    at = 0
    for count in counts:
        np.cumsum(differences[at : at + count], out=sums[at : at + count])
        at += count
