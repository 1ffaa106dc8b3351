"""The file of a recording, mapped into memory: header and complete chunks."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from actiondbg.recording.errors import DamagedError, RecordingError
from actiondbg.recording.format.header import Header, parse_header
from actiondbg.recording.format.magic import MAGIC
from actiondbg.recording.format.scan import Chunk, Scan, Section, scan_chunks
from actiondbg.recording.format.structs import FILE_HEADER, VERSION, Kind
from actiondbg.support.counts import counted


@dataclass(frozen=True)
class RecordingFile:
    """The verified content of a recording.

    Args:
        path: as given.
        unit: ticks per unit of time.
        header: describes the run.
        chunks: all complete chunks, up to the damage.
        cut: why the recording may be incomplete, in a sentence; or None.
        mapped: the content.
    """

    path: str
    unit: int
    header: Header
    chunks: list[Chunk]
    cut: str | None
    mapped: mmap.mmap | bytes

    def sections(self, kind: int) -> Iterator[tuple[Chunk, Section]]:
        """Yield the sections of a kind, each with its chunk."""
        for chunk in self.chunks:
            for section in chunk.sections:
                if section.kind == kind:
                    yield chunk, section

    def payload(self, section: Section) -> npt.NDArray[np.uint8]:
        """Return the bytes of a section without copying them."""
        return np.frombuffer(self.mapped, np.uint8, section.size, section.offset)

    def check_entry(self, section: Section, end: int) -> None:
        """Raise RecordingError unless an entry ends, at a byte of the file, in its section."""
        if end > section.offset + section.size:
            raise RecordingError(
                f"{self.path!r} is damaged in the section at byte {section.offset:,} (an entry is "
                "longer than the section): record it again."
            )

    def items(self, section: Section, layout: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return the items of a section without copying them; raises RecordingError."""
        if section.item != layout.itemsize:
            raise RecordingError(
                f"{self.path!r} has items of {section.item} bytes at byte {section.offset:,} where "
                f"{layout.itemsize} are expected: record it again."
            )
        return np.frombuffer(self.mapped, layout, section.count, section.offset)


def read_file(path: str | os.PathLike[str], partial: bool = False) -> RecordingFile:
    """Read a recording's chunks and verify them.

    Args:
        path: the recording.
        partial: read a damaged recording up to the damage.

    Raises:
        RecordingError: the file cannot be read, is not a recording, or has a newer version.
        DamagedError: the recording is damaged and ``partial`` is false.
    """
    name = os.fspath(path)
    mapped = _map(name)
    unit = _check_start(name, mapped[: FILE_HEADER.size])
    scan = scan_chunks(mapped)
    header = _header(name, scan, mapped)
    if scan.damage is not None and not partial:
        readable = count_actions(scan.chunks)
        raise DamagedError(name, scan.damage.offset, scan.damage.why, readable)
    return RecordingFile(name, unit, header, scan.chunks, _cut(scan), mapped)


def count_actions(chunks: list[Chunk]) -> int:
    """Count the actions in chunks."""
    return sum(each.count for c in chunks for each in c.sections if each.kind == Kind.ACTIONS)


def _map(name: str) -> mmap.mmap:
    try:
        with open(name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise RecordingError(
                    f"{name!r} is empty: the recorded tool has not started, or the disk was full; "
                    "record it again."
                )
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RecordingError(
            f"{name!r} cannot be read ({why}): give the path of a recording."
        ) from error


def _check_start(name: str, start: bytes) -> int:
    """Return the unit of time; raise RecordingError for a file without a readable start."""
    if not start.startswith(MAGIC):
        raise RecordingError(
            f"{name!r} is not a recording (it begins with {start[: len(MAGIC)]!r}): make one with "
            "'actiondbg record -o FILE -- TOOL ARGS...'."
        )
    if len(start) < FILE_HEADER.size:
        raise RecordingError(f"{name!r} was cut within its first bytes: record it again.")
    _, version, unit = FILE_HEADER.unpack(start)
    if version > VERSION:
        raise RecordingError(
            f"{name!r} has version {version} of the format, and this actiondbg reads up to version "
            f"{VERSION}: use a newer actiondbg."
        )
    # No checksum covers these bytes: a power of two differs from all others in two bits or more.
    if not version or unit.bit_count() != 1:
        raise RecordingError(f"{name!r} is damaged at byte {len(MAGIC)}: record it again.")
    return unit


def _header(name: str, scan: Scan, mapped: mmap.mmap) -> Header:
    """Return the header from the first chunk."""
    sections = scan.chunks[0].sections if scan.chunks else []
    for each in sections:
        if each.kind == Kind.HEADER:
            try:
                return parse_header(mapped[each.offset : each.offset + each.size])
            except (ValueError, TypeError) as error:
                raise DamagedError(name, each.offset, f"its header: {error}", 0) from error
    if scan.damage is not None:
        raise DamagedError(name, scan.damage.offset, scan.damage.why, 0)
    if scan.chunks:
        raise DamagedError(name, FILE_HEADER.size, "its header is missing", 0)
    raise RecordingError(
        f"{name!r} was cut within its header, before the first action: record it again."
    )


def _cut(scan: Scan) -> str | None:
    """Explain why the recording may be incomplete, apart from a missing end."""
    count = counted(count_actions(scan.chunks), "action")
    if scan.damage is not None:
        return (
            f"The recording is damaged at byte {scan.damage.offset:,} ({scan.damage.why}): "
            f"it is read up to there ({count})."
        )
    if scan.cut:
        return (
            "The recording is cut off in the middle of a block, as by a full disk: it is read up "
            f"to the block before ({count})."
        )
    return None
