"""The strings of a recording, deduplicated over the threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from actiondbg.recording.format.arrow import Array, Ints, pa
from actiondbg.recording.format.file import RecordingFile
from actiondbg.recording.format.items import places_of
from actiondbg.recording.format.structs import STRING, Kind, Space

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
    for chunk, section in file.sections(Kind.STRINGS):
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
