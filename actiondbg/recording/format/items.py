"""The items and the strings in all chunks, thread by thread, and the numbers that they pack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from actiondbg.recording.errors import RecordingError
from actiondbg.recording.format.arrow import Array, Ints, pa
from actiondbg.recording.format.file import Chunk, RecordingFile, Section
from actiondbg.recording.format.layout import layout_of
from actiondbg.recording.format.structs import PACKED, STRING, SectionKind, Space


class Items:
    """All items of a kind: the lowest thread's in file order, then the next thread's."""

    def __init__(self, file: RecordingFile, kind: int, threads: Sequence[int]) -> None:
        self.file = file
        self.kind = kind
        self.sections: list[tuple[Chunk, Section]] = []
        self.slices: list[slice] = []  # one per thread
        self.count = 0
        self._unpacked: dict[str, Ints] | None = None
        found: dict[int, list[tuple[Chunk, Section]]] = {}
        for chunk, section in file.sections(kind):
            found.setdefault(chunk.thread, []).append((chunk, section))
        for thread in threads:
            of_thread = found.get(thread, [])
            self.sections += of_thread
            count = sum(section.count for _, section in of_thread)
            self.slices.append(slice(self.count, self.count + count))
            self.count += count

    @cached_property
    def layout(self) -> np.dtype[Any]:
        """The layout of an unpacked item."""
        return layout_of(self.kind, len(self.file.header.events))

    def field(self, name: str) -> Ints:
        """Return one field of all items."""
        if self.kind in PACKED:
            if self._unpacked is None:  # not cached_property, which holds a lock in Python 3.11
                self._unpacked = self._unpack()
            return self._unpacked[name]
        parts = [self.file.items(section, self.layout)[name] for _, section in self.sections]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def _unpack(self) -> dict[str, Ints]:
        payloads = [self.file.payload(section) for _, section in self.sections]
        counts = [section.count for _, section in self.sections]
        return unpack(payloads, counts, *PACKED[self.kind])

    def repeat(self, values: Sequence[int] | Ints) -> Ints:
        """Return for each item the value of its section; ``values`` has one per section."""
        counts = [section.count for _, section in self.sections]
        return np.repeat(np.asarray(values, np.int64), counts)

    def resolve(self, name: str, places: Sequence[Ints]) -> Ints:
        """Translate a field of per-thread numbers to indices.

        Args:
            name: the field.
            places: per thread, the index of each number; the last entry serves larger numbers.
        """
        numbers = self.field(name)
        result = np.empty(len(numbers), np.int32)
        for part, known in zip(self.slices, places, strict=True):
            np.take(known, numbers[part], out=result[part], mode="clip")
        return result


def places_of(numbers: Ints, values: Ints) -> Ints:
    """Return an array indexed by number that holds its value, or -1.

    Args:
        numbers: small numbers, such as ids that count from 1.
        values: one per number.
    """
    size = int(numbers.max()) + 2 if len(numbers) else 1
    places = np.full(size, -1, np.int32)
    places[numbers] = values
    places[-1] = -1
    return places


_ALIGNMENT = 4  # bytes
_Entry = tuple[int, int, int, int]  # thread, id, begin and end of its bytes


class Strings:
    """The strings of one space.

    Args:
        texts: the distinct strings.
        places: per thread, the index in ``texts`` of each of its ids; see ``Items.resolve``.
    """

    def __init__(self, texts: list[str], places: list[Ints]) -> None:
        self.texts = texts
        self.places = places

    @cached_property
    def words(self) -> Array:
        """The texts as an Arrow array."""
        return pa.array(self.texts, type=pa.string())


class StringTables:
    """The strings of all spaces, read on first use."""

    def __init__(self, file: RecordingFile, threads: list[int]) -> None:
        self._file = file
        self._threads = threads
        self._made: dict[Space, Strings] = {}

    def __getitem__(self, space: Space) -> Strings:
        if space not in self._made:
            self._made[space] = self._make(self._entries.get(space, []))
        return self._made[space]

    def _make(self, entries: list[_Entry]) -> Strings:
        content = self._file.mapped
        known: dict[bytes, int] = {}
        ids: dict[int, list[tuple[int, int]]] = {thread: [] for thread in self._threads}
        for thread, number, start, end in entries:
            place = known.setdefault(content[start:end], len(known))
            ids[thread].append((number, place))
        texts = [each.decode(errors="replace") for each in known]
        return Strings(texts, [_places(ids[thread]) for thread in self._threads])

    @cached_property
    def _entries(self) -> dict[int, list[_Entry]]:
        found: dict[int, list[_Entry]] = {}
        for thread, space, number, start, end in stored_strings(self._file):
            found.setdefault(space, []).append((thread, number, start, end))
        return found


def stored_strings(file: RecordingFile) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the thread, the space, the id, and the begin and end of the bytes of each string.

    Raises:
        RecordingError: a section is damaged.
    """
    for chunk, section in file.sections(SectionKind.STRINGS):
        offset = section.offset
        for _ in range(section.count):
            start = offset + STRING.size
            file.check_entry(section, start)
            number, space, _, size = STRING.unpack_from(file.mapped, offset)
            file.check_entry(section, start + size)
            yield chunk.thread, space, number, start, start + size
            offset = start + size + -size % _ALIGNMENT


def _places(pairs: list[tuple[int, int]]) -> Ints:
    numbers = np.array(pairs, np.int64).reshape(-1, 2)
    return places_of(numbers[:, 0], numbers[:, 1])


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

    def read(block: tuple[slice, slice]) -> None:
        of_sections, of_items = block
        numbers = _leb128(np.concatenate(payloads[of_sections]))
        here = columns[:, of_items]
        if len(numbers) != here.size:
            raise RecordingError(
                f"The recording holds {len(numbers):,} packed numbers where {here.size:,} are "
                "expected: record it again."
            )
        for index, column in enumerate(here):
            plain = np.ascontiguousarray(numbers[index :: len(names)])
            if index < differences:
                _sum(unzigzag(plain).view(np.int32), counts[of_sections], column)
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


def _blocks(payloads: Sequence[Bytes], counts: Sequence[int]) -> Iterator[tuple[slice, slice]]:
    """Yield the sections and the items of blocks of about _BLOCK bytes."""
    first, first_item, item, size = 0, 0, 0, 0
    for index, (payload, count) in enumerate(zip(payloads, counts, strict=True)):
        item += count
        size += len(payload)
        if size >= _BLOCK or index == len(payloads) - 1:
            yield slice(first, index + 1), slice(first_item, item)
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
