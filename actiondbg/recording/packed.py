"""Numbers that are packed: each in as few bytes as it needs, mostly as a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from actiondbg.recording.arrow import Ints
from actiondbg.recording.error import RecordingError

_BITS = 7  # of a number in each byte; the eighth says that more follow
_PART = 0x7F  # of a byte
_BLOCK = 1 << 17  # bytes that are read at a time: what is made of them stays in the cache

Bytes = npt.NDArray[np.uint8]


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
    at = 0
    for block, of_block in _blocks(payloads, counts):
        items = sum(of_block)
        numbers = _leb128(block)
        if len(numbers) != items * len(names):
            raise RecordingError(
                f"The recording holds {len(numbers):,} packed numbers where "
                f"{items * len(names):,} are due: record it again."
            )
        for index, column in enumerate(columns[:, at : at + items]):
            plain = numbers[index :: len(names)]
            column[:] = _summed(unzigzag(plain), of_block) if index < differences else plain
        at += items
    return dict(zip(names, columns, strict=True))


def unzigzag(numbers: Ints) -> Ints:
    """Return signed numbers from 0, -1, 1, -2, ... coded as 0, 1, 2, 3, ..."""
    return numbers >> 1 ^ -(numbers & 1)


def _blocks(payloads: Sequence[Bytes], counts: Sequence[int]) -> Iterator[tuple[Bytes, list[int]]]:
    """Yield payloads of some sections at a time, and the counts of these."""
    first, size = 0, 0
    for index, payload in enumerate(payloads):
        size += len(payload)
        if size >= _BLOCK or index == len(payloads) - 1:
            last = index + 1
            yield np.concatenate(payloads[first:last]), list(counts[first:last])
            first, size = last, 0


def _leb128(content: Bytes) -> Ints:
    """Return the numbers of a LEB128 stream (DWARF 5, section 7.6)."""
    goes_on = content >= 1 << _BITS
    if goes_on[-1:].any():
        return np.zeros(0, np.int64)  # the last number is not whole: none is right
    begins = np.ones_like(goes_on)
    begins[1:] = ~goes_on[:-1]
    numbers = content[begins].astype(np.int64)
    longer, at = np.flatnonzero(numbers >= 1 << _BITS), np.flatnonzero(begins & goes_on)
    numbers &= _PART
    shift = 0
    while len(longer):
        at, shift = at + 1, shift + _BITS
        numbers[longer] |= (content[at].astype(np.int64) & _PART) << shift
        longer, at = longer[goes_on[at]], at[goes_on[at]]
    return numbers


def _summed(differences: Ints, counts: Sequence[int]) -> Ints:
    """Return running sums that begin anew with each section."""
    sums, at = np.empty_like(differences), 0
    for count in counts:
        np.cumsum(differences[at : at + count], out=sums[at : at + count])
        at += count
    return sums
