"""A writer of recordings: passes with IR in the format .adbrec."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

import numpy as np

from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.format.layout import (
    CHANGE_KINDS,
    CHANGED,
    LAYOUTS,
    OUTCOMES,
    PACKED,
    UNKNOWN_CHANGE,
)
from actiondbg.recording.format.packed import varint, zigzag
from actiondbg.recording.format.structs import (
    CHUNK_HEADER,
    CHUNK_MAGIC,
    FILE_HEADER,
    MAGIC,
    RAW,
    SECTION_HEADER,
    STRING,
    TEXT,
    VERSION,
    WORD,
    ZLIB,
    Kind,
    Space,
)
from actiondbg.recording.imported.last_texts import ImportedOperation
from actiondbg.recording.imported.passes import ImportedPass, NestedPass

_TICKS = 1  # in a unit of time
_BUFFER = 4_000_000  # bytes of texts in a chunk
_SHORT = 64  # bytes of a text that is not compressed
_LEVEL = 1  # of the compression: passes change little, and a log is imported once
_THREAD = 0


class RecordingWriter:
    """Writes the recording of an import.

    Its times are the order of the passes: an import has no others, as its header shows.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hashes: set[int] = set()
        self._texts: list[bytes] = []
        self._size = 0
        self._now = 0
        file.write(FILE_HEADER.pack(MAGIC, VERSION, _TICKS))

    def begin(self, header: Mapping[str, object]) -> None:
        """Write the header."""
        self._write([(Kind.HEADER, 0, 1, json.dumps(header).encode())])

    def store(self, text: str) -> int:
        """Write a text, once, and return its hash."""
        plain = text.encode(errors="replace")
        hash = int.from_bytes(hashlib.blake2b(plain, digest_size=8).digest(), "little") | 1
        if hash not in self._hashes:
            self._hashes.add(hash)
            stored = zlib.compress(plain, _LEVEL) if len(plain) > _SHORT else plain
            codec = RAW if stored is plain else ZLIB
            item = TEXT.pack(hash, len(plain), len(stored), codec, 0) + _padded(stored)
            self._texts.append(item)
            self._size += len(item)
            if self._size > _BUFFER:
                self._flush()
        return hash

    def finish(self, passes: Iterable[NestedPass], operations: Iterable[ImportedOperation]) -> None:
        """Write the passes, which are in order, and the end."""
        self._flush()
        rows = _Rows()
        for one in operations:
            rows.define(one)
        for one, depth in passes:
            rows.add(one, depth)
        self._write([*rows.sections(), (Kind.END, 0, 1, json.dumps({"ended": "unknown"}).encode())])

    def _flush(self) -> None:
        if self._texts:
            self._write([(Kind.TEXTS, 0, len(self._texts), b"".join(self._texts))])
            self._texts, self._size = [], 0

    def _write(self, sections: Sequence[tuple[int, int, int, bytes]]) -> None:
        """Write a chunk of sections: kind, bytes of an item, number of items, payload."""
        body = b"".join(
            SECTION_HEADER.pack(kind, item, count, len(payload), 0) + _padded(payload)
            for kind, item, count, payload in sections
        )
        size = CHUNK_HEADER.size + len(body)

        def header(checksum: int) -> bytes:
            rest = (0, self._now, self._now, 0, 0)  # the first row, clocks
            return CHUNK_HEADER.pack(CHUNK_MAGIC, _THREAD, size, len(sections), checksum, *rest)

        words = np.frombuffer(header(0) + body, "<u8")
        weights = np.arange(1, 2 * len(words), 2, dtype=np.uint64)
        self._file.write(header(int(np.dot(words, weights))))
        self._file.write(body)
        self._now += 1


class _Rows:
    """The sections of passes and operations."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, bytes], int] = {}
        self._counts: dict[int, int] = {}
        self._strings: list[bytes] = []
        self._rows: dict[Kind, list[tuple[int, ...]]] = {}

    def define(self, one: ImportedOperation) -> None:
        """Add the definition of an operation."""
        place = 0
        if one.location is not None:
            file, line, column = one.location
            place = len(self._rows.get(Kind.LOCATIONS, ())) + 1
            self._add(Kind.LOCATIONS, place, self._string(Space.FILE, file), line, column, 0)
        function = self._string(Space.FUNCTION, one.symbol) if one.is_function else 0
        name = self._string(Space.OPERATION, one.name)
        self._add(Kind.OPERATIONS, 0, one.id, place, function, name)

    def add(self, one: ImportedPass, depth: int) -> None:
        """Add a pass."""
        row = len(self._rows.get(Kind.ACTIONS, ()))
        words = "\0".join((PASS_TAG, one.header.name, one.header.full_name, ""))
        name = self._string(Space.ACTION, words)
        flags = UNKNOWN_CHANGE if one.changed is None else CHANGED * one.changed
        outcome = OUTCOMES.index(one.outcome)
        operation = one.operation.id
        self._add(Kind.ACTIONS, row, 0, operation, name, depth, outcome, flags)
        for change in one.changes:
            code = CHANGE_KINDS.index(change.kind)
            by = 1 + zigzag(change.by - change.operation) if change.by else 0
            self._add(Kind.CHANGES, row, change.operation, code, by, 0)
        for reason in one.reasons:
            self._add(Kind.REASONS, row, self._string(Space.REASON, reason))
        if one.before or one.after:
            self._add(Kind.IR, row, one.printed.id, one.before, one.after)

    def sections(self) -> list[tuple[int, int, int, bytes]]:
        """Return the sections."""
        found = [(int(Kind.STRINGS), 0, len(self._strings), b"".join(self._strings))]
        for kind, rows in self._rows.items():
            if kind in PACKED:
                found.append((kind, 0, len(rows), _packed(rows, PACKED[kind][1])))
            else:
                items = np.array(rows, LAYOUTS[kind])
                found.append((kind, items.itemsize, len(rows), items.tobytes()))
        return found

    def _string(self, space: Space, text: str) -> int:
        content = text.encode(errors="replace")
        key = (space, content)
        if key not in self._ids:
            number = self._ids[key] = self._counts[space] = self._counts.get(space, 0) + 1
            self._strings.append(STRING.pack(number, space, 0, len(content)) + _padded(content, 4))
        return self._ids[key]

    def _add(self, kind: Kind, *values: int) -> None:
        self._rows.setdefault(kind, []).append(values)


def _padded(content: bytes, to: int = WORD) -> bytes:
    return content + bytes(-len(content) % to)


def _packed(rows: Sequence[Sequence[int]], differences: int) -> bytes:
    """Pack items whose first numbers are differences to the item before."""
    packed = bytearray()
    before = [0] * differences
    for row in rows:
        near = [zigzag(new - old) for new, old in zip(row, before, strict=False)]
        for number in (*near, *row[differences:]):
            packed += varint(number)
        before = list(row[:differences])
    return bytes(packed)
