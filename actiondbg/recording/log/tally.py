"""The tally: counts the actions of a growing recording. Imports no third-party package."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from actiondbg.recording.format.structs import (
    CHUNK_HEADER,
    FILE_HEADER,
    SECTION_HEADER,
    WORD,
    SectionKind,
)


class Tally:
    """Counts the actions in a recording, which need not exist yet, by its section headers."""

    def __init__(self, path: Path) -> None:
        self.actions = 0
        self.ended = False  # it has a section END: the tool was not killed
        self.is_torn = False  # it ends within a chunk: there was no room for the rest
        self._path = path
        self._offset = FILE_HEADER.size

    @property
    def size(self) -> int:
        """The size of the complete chunks, in bytes."""
        return self._offset

    def update(self) -> None:
        """Count the sections added since the last call."""
        with contextlib.suppress(OSError), self._path.open("rb", buffering=0) as file:
            descriptor = file.fileno()
            whole = os.fstat(descriptor).st_size
            while (end := self._offset + _chunk_size(descriptor, self._offset)) <= whole:
                if end == self._offset:
                    break
                self._count(descriptor, self._offset + CHUNK_HEADER.size, end)
                self._offset = end
            self.is_torn = self._offset < whole

    def _count(self, descriptor: int, at: int, end: int) -> None:
        while at < end:
            header = os.pread(descriptor, SECTION_HEADER.size, at)
            if len(header) < SECTION_HEADER.size:
                return
            kind, _, count, size, _ = SECTION_HEADER.unpack(header)
            self.actions += count if kind == SectionKind.ACTIONS else 0
            self.ended |= kind == SectionKind.END
            at += SECTION_HEADER.size + size + -size % WORD


def _chunk_size(descriptor: int, offset: int) -> int:
    """Return the size of the chunk at an offset, in bytes; 0 for none."""
    header = os.pread(descriptor, CHUNK_HEADER.size, offset)
    return CHUNK_HEADER.unpack(header)[2] if len(header) == CHUNK_HEADER.size else 0
