"""Numbers that are packed: each in as few bytes as it needs, mostly as a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.threads import do_all

_BITS = 7  # of a number in each byte; the eighth says that more follow
_PART = 0x7F  # of a byte
_BLOCK = 1 << 17  # bytes that are read at a time: what is made of them stays in the cache

Bytes = npt.NDArray[np.uint8]


class _Block(NamedTuple):
    """Sections that are read together, and their items among all."""

    sections: slice
    items: slice


def unpack(
    payloads: Sequence[Bytes], counts: Sequence[int], names: Sequence[str], differences: int
) -> dict[str, Ints]:
    """Read the packed items of some sections.

    Args:
        payloads: of the sections.
        counts: of the items in each.
        names: of the numbers of an item, in order.
        differences: how many of them, the first ones, are differences to the item before in the
            section, zigzag coded.

    Returns:
        An array for each name, with a number for each item.

    Raises:
        RecordingError: the payloads hold another count of numbers.
    """
    columns = np.empty((len(names), sum(counts)), np.int32)

    def read(block: _Block) -> None:
        numbers = _leb128(np.concatenate(payloads[block.sections]))
        here = columns[:, block.items]
        if len(numbers) != here.size:
            raise RecordingError(
                f"The recording holds {len(numbers):,} packed numbers where {here.size:,} are due: "
                "record it again."
            )
        for index, column in enumerate(here):
            plain = np.ascontiguousarray(numbers[index :: len(names)])
            if index < differences:
                _sum(unzigzag(plain).view(np.int32), counts[block.sections], column)
            else:
                column[:] = plain

    do_all(read, list(_blocks(payloads, counts)))
    return dict(zip(names, columns, strict=True))


def unzigzag(numbers: Ints) -> Ints:
    """Return signed numbers from 0, -1, 1, -2, ... coded as 0, 1, 2, 3, ..."""
    return numbers >> 1 ^ -(numbers & 1)


def _blocks(payloads: Sequence[Bytes], counts: Sequence[int]) -> Iterator[_Block]:
    """Yield some sections at a time."""
    first, first_item, item, size = 0, 0, 0, 0
    for index, (payload, count) in enumerate(zip(payloads, counts, strict=True)):
        item += count
        size += len(payload)
        if size >= _BLOCK or index == len(payloads) - 1:
            yield _Block(slice(first, index + 1), slice(first_item, item))
            first, first_item, size = index + 1, item, 0


def _leb128(content: Bytes) -> npt.NDArray[np.uint32]:
    """Return the numbers of a LEB128 stream (DWARF 5, section 7.6), of 32 bits at most."""
    ends = np.flatnonzero(content < 1 << _BITS)
    if ends[-1:].sum() + 1 < len(content):
        return np.zeros(0, np.uint32)  # the last number is not whole: none is right
    begins = np.zeros_like(ends)
    np.add(ends[:-1], 1, out=begins[1:])
    numbers = content.take(ends).astype(np.uint32)
    # Most have one byte; the others are put together from the last byte, the highest bits, on.
    longer = np.flatnonzero(begins != ends)
    at, first = ends[longer], begins[longer]
    while len(longer):
        at = at - 1
        numbers[longer] = numbers[longer] << _BITS | content[at] & _PART
        goes_on = at > first
        longer, at, first = longer[goes_on], at[goes_on], first[goes_on]
    return numbers


def _sum(differences: Ints, counts: Sequence[int], sums: Ints) -> None:
    """Write running sums that begin anew with each section."""
    at = 0
    for count in counts:
        np.cumsum(differences[at : at + count], out=sums[at : at + count])
        at += count
