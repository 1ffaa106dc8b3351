"""The scan of a recording for chunks, which verifies them and finds damage."""

from __future__ import annotations

import mmap
from dataclasses import dataclass

import numpy as np

from actiondbg.recording.format.layout import LAYOUTS
from actiondbg.recording.format.structs import (
    CHECKSUM_WORD,
    CHUNK_HEADER,
    CHUNK_MAGIC,
    FILE_HEADER,
    SECTION_HEADER,
    WORD,
    Kind,
)

_WEIGHTS = 1 << 16  # words, initially; grows with the longest chunk


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a chunk.

    Args:
        kind: see ``structs.Kind``.
        item: bytes per item.
        count: the number of items.
        offset: the position of the payload in the file, in bytes.
        size: bytes of payload.
    """

    kind: int
    item: int
    count: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A complete chunk.

    Args:
        offset: position in the file, in bytes.
        size: in bytes.
        thread: the number of the thread that wrote it.
        first_row: the row of its first action in the thread.
        flushed: time of writing, in ticks and in ns.
        base: time of its start, in ticks.
        sections: in order.
    """

    offset: int
    size: int
    thread: int
    first_row: int
    flushed: tuple[int, int]
    base: int
    sections: list[Section]


@dataclass(frozen=True)
class Damage:
    """Where the damage of a recording begins, in bytes from 0, and why."""

    offset: int
    why: str


@dataclass(frozen=True)
class Scan:
    """The complete chunks, then damage, if any; ``cut``: the file ends within a chunk."""

    chunks: list[Chunk]
    damage: Damage | None
    cut: bool


class _Bad(Exception):
    """A chunk violates the format."""


def scan_chunks(content: mmap.mmap | bytes, offset: int = FILE_HEADER.size) -> Scan:
    """Find and verify all chunks.

    Args:
        content: the bytes of the file.
        offset: the first chunk, in bytes from 0.
    """
    return _Scanner(content).scan(offset)


class _Scanner:
    def __init__(self, content: mmap.mmap | bytes) -> None:
        self._content = content
        self._words = np.frombuffer(content, "<u8", len(content) // WORD)
        self._weights = np.zeros(0, np.uint64)
        self._rows: dict[int, int] = {}  # the row after the last one, by thread

    def scan(self, offset: int) -> Scan:
        chunks: list[Chunk] = []
        end = len(self._content)
        while offset < end:
            try:
                size = self._complete_size(offset)
                if size is None:
                    return Scan(chunks, None, cut=True)
                chunks.append(self._chunk(offset, size))
            except _Bad as why:
                return Scan(chunks, Damage(offset, str(why)), cut=False)
            offset += size
        return Scan(chunks, None, cut=False)

    def _complete_size(self, offset: int) -> int | None:
        """Return the size of a chunk; None for a chunk that is cut off by the end of the file."""
        left = len(self._content) - offset
        if left < CHUNK_HEADER.size:
            return None
        magic, _, size, *_ = CHUNK_HEADER.unpack_from(self._content, offset)
        if magic == CHUNK_MAGIC and size > left and not self._has_later_chunk(offset):
            return None
        if magic == CHUNK_MAGIC and size == left and not self._is_intact(offset, size):
            return None  # the last chunk did not reach the disk completely
        if magic != CHUNK_MAGIC:
            if not any(self._content[offset:]):
                return None  # zeros: only the length of the file reached the disk
            raise _Bad("no chunk begins there")
        if size > left or size < CHUNK_HEADER.size or size % WORD:
            raise _Bad(f"a chunk of {size:,} bytes cannot be there")
        return size

    def _has_later_chunk(self, offset: int) -> bool:
        """Whether an intact chunk follows somewhere: then this one's size field is damaged."""
        content = self._content[offset:]
        at = content.find(CHUNK_MAGIC, 1)
        while at >= 0 and len(content) - at >= CHUNK_HEADER.size:
            size = CHUNK_HEADER.unpack_from(content, at)[2]
            fits = CHUNK_HEADER.size <= size <= len(content) - at
            if not (at % WORD or size % WORD) and fits and self._is_intact(offset + at, size):
                return True
            at = content.find(CHUNK_MAGIC, at + 1)
        return False

    def _is_intact(self, offset: int, size: int) -> bool:
        count, first = size // WORD, offset // WORD
        if count > len(self._weights):
            self._weights = np.arange(1, 2 * max(count, _WEIGHTS), 2, dtype=np.uint64)
        words = self._words[first : first + count]
        given = int(words[CHECKSUM_WORD])
        total = int(np.dot(words, self._weights[:count]))
        return (total - given * (2 * CHECKSUM_WORD + 1)) % 2**64 == given

    def _chunk(self, offset: int, size: int) -> Chunk:
        if not self._is_intact(offset, size):
            raise _Bad("the checksum of a chunk is wrong")
        header = CHUNK_HEADER.unpack_from(self._content, offset)
        _, thread, _, count, _, first_row, ticks, ns, base, _ = header
        sections: list[Section] = []
        at, end = offset + CHUNK_HEADER.size, offset + size
        for _ in range(count):
            if at + SECTION_HEADER.size > end:
                raise _Bad("a section is longer than its chunk")
            kind, item, items, payload, _ = SECTION_HEADER.unpack_from(self._content, at)
            at += SECTION_HEADER.size
            section = Section(kind, item, items, at, payload)
            _check(section, end)
            sections.append(section)
            at += payload + -payload % WORD
        rows = sum(section.count for section in sections if section.kind == Kind.ACTIONS)
        if rows and first_row < self._rows.get(thread, 0):
            raise _Bad("its actions come twice, as where two recordings have one file")
        self._rows[thread] = max(first_row + rows, self._rows.get(thread, 0))
        return Chunk(offset, size, thread, first_row, (ticks, ns), base, sections)


def _check(section: Section, end: int) -> None:
    if section.offset + section.size > end:
        raise _Bad("a section is longer than its chunk")
    layout = LAYOUTS.get(section.kind)
    known = layout is None or section.item == layout.itemsize
    if not known or (section.item and section.item * section.count != section.size):
        raise _Bad(f"a section of kind {section.kind} has items of {section.item} bytes")
