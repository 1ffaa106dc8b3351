"""The items of one kind in all chunks, thread by thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.layout import PACKED, layout_of
from actiondbg.recording.format.packed import unpack
from actiondbg.recording.format.scan import Chunk, Section


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
