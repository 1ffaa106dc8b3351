"""The file of a recording, mapped into memory: header, complete chunks, and how the tool ended."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from actiondbg.recording.errors import DamagedError, RecordingError
from actiondbg.recording.format.layout import LAYOUTS
from actiondbg.recording.format.structs import (
    CHECKSUM_WORD,
    CHUNK_HEADER,
    CHUNK_MAGIC,
    FILE_HEADER,
    SECTION_HEADER,
    VERSION,
    WORD,
    SectionKind,
)
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import signal_name
from actiondbg.support.recording_file import MAGIC


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
    return sum(
        each.count for c in chunks for each in c.sections if each.kind == SectionKind.ACTIONS
    )


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
        if each.kind == SectionKind.HEADER:
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


_WEIGHTS = 1 << 16  # words, initially; grows with the longest chunk


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a chunk.

    Args:
        kind: see ``structs.SectionKind``.
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
        rows = sum(section.count for section in sections if section.kind == SectionKind.ACTIONS)
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


Ended = Literal["exit", "crash", "killed", "unknown"]


@dataclass(frozen=True)
class Ending:
    """How the tool ended.

    Args:
        ended: "exit", "crash", "killed" for a recording without an ending, or "unknown" for an
            import.
        status: the exit status, negative for a signal that is no crash, such as SIGTERM; None
            unless ``ended`` is "exit".
        signal: the signal of a crash, None unless ``ended`` is "crash".
        ordinal: the action in which the tool crashed, None outside actions.
        message: what the tool wrote about its crash, such as a failed assertion, or None.
    """

    ended: Ended
    status: int | None = None
    signal: int | None = None
    ordinal: int | None = None
    message: str | None = None

    @property
    def exit_status(self) -> int | None:
        """The exit status; None for a run that a signal ended."""
        return None if self.status is None or self.status < 0 else self.status

    @property
    def deadly_signal(self) -> int | None:
        """The signal that ended the run, if the agent saw it."""
        return -self.status if self.status is not None and self.status < 0 else self.signal

    @property
    def is_forced(self) -> bool:
        """Whether somebody else ended the run: its end was not seen, or a signal is no crash."""
        return self.ended == "killed" or (self.ended == "exit" and self.exit_status is None)

    def described(self) -> str:
        """Return how the tool ended, as the end of a sentence."""
        if self.ended == "crash":
            inside = f" in action #{self.ordinal}" if self.ordinal else ""
            return f"by a crash{_named(self.signal)}{inside}"
        if self.ended != "exit":
            return "killed, or still running"
        if self.deadly_signal is not None:
            return f"killed{_named(self.deadly_signal)}"
        return f"by itself, with status {self.status or 0}"


def _named(signal: int | None) -> str:
    return "" if signal is None else f" ({signal_name(signal)})"


def read_ending(file: RecordingFile, ordinal_of: Callable[[int, int], int | None]) -> Ending:
    """Return how the tool ended; ``ordinal_of`` returns the ordinal of a row of a thread.

    Raises:
        RecordingError: the section END is damaged.
    """
    ends = list(file.sections(SectionKind.END))
    if not ends:
        return Ending("killed")
    chunk, section = ends[-1]
    try:
        fields = parse_object(file.payload(section).tobytes())
        return _parsed(fields, partial(ordinal_of, chunk.thread))
    except (ValueError, TypeError) as error:
        raise RecordingError(
            f"{file.path!r} is damaged at byte {section.offset:,} (its end: {error}): record it "
            "again."
        ) from error


def _parsed(fields: dict[str, Any], ordinal_of: Callable[[int], int | None]) -> Ending:
    if fields.get("ended") == "exit":
        return Ending("exit", status=int(fields.get("status", 0)))
    if fields.get("ended") == "unknown":
        return Ending("unknown")
    if fields.get("ended") == "recovered":  # from the crash of the end before
        return Ending("killed")
    row = fields.get("row")
    signal = int(fields.get("signal", 0)) or None
    ordinal = None if row is None else ordinal_of(int(row))
    message = plain_text(fields.get("message") or "") or None
    return Ending("crash", signal=signal, ordinal=ordinal, message=message)


@dataclass(frozen=True)
class Header:
    """The recorded run.

    Args:
        agent: the version of the agent.
        llvm: the version of the tool's LLVM.
        started: the start time, in ns of Unix time.
        ir: the recorded IR: "none", "output", "changed", "function" or "pass", as all imports.
        events: the names of the counters read at each action.
        threads: whether the tool's own threading was on.
        lineage: whether the lineage of operations was recorded.
        checks: whether it was checked that patterns keep the rules of rewriting.
        imported: the log or folder from which the recording was imported; empty if a tool was
            recorded. Then there is no command line, no time, and nothing but passes.
    """

    argv: tuple[str, ...] = ()
    cwd: str = ""
    agent: str = ""
    llvm: str = ""
    pid: int = 0
    started: int = 0
    ir: str = "none"
    events: tuple[str, ...] = ()
    threads: bool = False
    lineage: bool = False
    checks: bool = False
    imported: str = ""

    @property
    def has_ir(self) -> bool:
        """Whether the IR before and after actions was recorded."""
        return self.ir not in ("none", "output")

    @property
    def has_texts(self) -> bool:
        """Whether the IR is that of functions or modules, as MLIR prints it."""
        return self.ir in ("function", "pass")


def parse_header(payload: bytes) -> Header:
    """Parse the HEADER section; missing fields get the defaults of ``Header``.

    Raises:
        ValueError: the payload is not a JSON object.
    """
    found = parse_object(payload)
    known = [field for field in fields(Header) if field.name in found]
    return Header(**{field.name: _READERS[str(field.type)](found[field.name]) for field in known})


def parse_object(payload: bytes) -> dict[str, Any]:
    """Parse a section of JSON; raises ValueError if it is no object."""
    fields: Any = json.loads(payload.decode(errors="replace"))
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return {str(key): value for key, value in fields.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _words(value: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(map(plain_text, value or ()))


def plain_text(value: object) -> str:
    """Return text that can be encoded as UTF-8: JSON may hold lone surrogates."""
    return str(value).encode(errors="replace").decode()


# By the annotation of a field of ``Header``.
_READERS: dict[str, Callable[[Any], Any]] = {
    "tuple[str, ...]": _words,
    "str": plain_text,
    "int": int,
    "bool": bool,
}
