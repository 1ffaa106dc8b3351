"""Parts of a recording of one thread, for bounded memory and early reading.

The actions of a part refer to strings, locations and operations of earlier chunks: these are read
again for each part. Of earlier actions only some are needed, such as the unfinished ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.format.file import Chunk, RecordingFile, count_actions
from actiondbg.recording.format.structs import Kind
from actiondbg.recording.recording import Recording

_DICTIONARIES = (Kind.HEADER, Kind.STRINGS, Kind.LOCATIONS, Kind.OPERATIONS)
_OF_ACTIONS = (Kind.PATCHES, Kind.REASONS)


def divide(chunks: Sequence[Chunk], most: int) -> Iterator[int]:
    """Yield the index after the last chunk of each part of about ``most`` actions but the last."""
    count = 0
    for index, chunk in enumerate(chunks):
        count += count_actions([chunk])
        if count >= most and index + 1 < len(chunks):
            yield index + 1
            count = 0


def part_of(
    file: RecordingFile, first: int, last: int, kept: Iterable[int], undecided: int
) -> Recording:
    """Return a part of a recording of one thread, as a recording.

    Ordinals and times are those of the whole recording.

    Args:
        file: the recording, complete or still growing.
        first: the index of the part's first chunk.
        last: the index after the part's last chunk.
        kept: the ordinals of earlier actions to include; the first action is there in any case.
        undecided: the first ordinal whose patches and reasons are needed too.
    """
    # Always include the first action: times count from it.
    rows = np.array(sorted({0, *(ordinal - 1 for ordinal in kept)}))
    chunks: list[Chunk] = []
    for chunk in file.chunks[:first]:
        needed = chunk.first_row + count_actions([chunk]) >= undecided
        kinds = (*_DICTIONARIES, *_OF_ACTIONS) if needed else _DICTIONARIES
        sections = [section for section in chunk.sections if section.kind in kinds]
        chunks.append(replace(chunk, sections=sections))
        chunks += _rows_of(chunk, rows)
    chunks += file.chunks[first:last]
    # All parts take the clock rate from the same chunks.
    chunks += [replace(chunk, sections=[]) for chunk in file.chunks[last:][-1:]]
    return Recording(replace(file, chunks=chunks))


def _rows_of(chunk: Chunk, rows: Ints) -> Iterator[Chunk]:
    """Of some rows, yield those in a chunk, as chunks of one row."""
    for section in chunk.sections:
        if section.kind != Kind.ACTIONS:
            continue
        first, last = np.searchsorted(rows, [chunk.first_row, chunk.first_row + section.count])
        for row in rows[first:last]:
            offset = section.offset + section.item * (row - chunk.first_row)
            only = replace(section, count=1, offset=int(offset), size=section.item)
            yield replace(chunk, first_row=int(row), sections=[only])
