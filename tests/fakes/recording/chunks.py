"""The chunks of a recording, written in Python; see recorded.py."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

OUTCOMES = ("unfinished", "succeeded", "unchanged", "failed", "skipped")
FOLDS = ("in-place", "constants", "values", "constants and values")
KINDS = ("inserted", "erased", "replaced", "modified", "moved")
ACTION_NAME, OPERATION_NAME, FILE, FUNCTION, REASON, LOCATION = range(1, 7)  # spaces
HEADER, STRINGS, LOCATIONS, OPERATIONS, ACTIONS, PATCHES = range(1, 7)  # kinds of sections
CHANGES, REASONS, TEXTS, IR, SAMPLES, END = range(7, 13)

_LAYOUTS: dict[int, np.dtype[Any]] = {
    kind: np.dtype([(name, form) for name, form in zip(names.split(), forms.split(), strict=True)])
    for kind, names, forms in (
        (LOCATIONS, "id file line column text", "<u4 <u4 <u4 <u4 <u4"),
        (OPERATIONS, "row operation name location function", "<u4 <u4 <u4 <u4 <u4"),
        (ACTIONS, "start duration operation name depth outcome flags", "<u4 <u4 <u4 <u4 <u2 u1 u1"),
        (PATCHES, "row outcome flags pad duration", "<u4 u1 u1 <u2 <u8"),
        (CHANGES, "row operation by kind flags result", "<u4 <u4 <u4 u1 u1 <u2"),
        (REASONS, "row reason", "<u4 <u4"),
        (IR, "row operation before after", "<u4 <u4 <u8 <u8"),
    )
}


def text_hash(text: str) -> int:
    """Return the hash by which a text is stored; it is never 0."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") | 1


def checksum(chunk: bytes) -> int:
    """Return the checksum of a chunk; its own word counts as 0."""
    words = np.frombuffer(chunk, "<u8").copy()
    words[2] = 0
    odd = np.arange(1, 2 * len(words), 2, dtype=np.uint64)
    return int((words * odd).sum(dtype=np.uint64))


def padded(content: bytes, to: int = 8) -> bytes:
    return content + b"\0" * (-len(content) % to)


def chunk_bytes(
    thread: int,
    sections: Sequence[tuple[int, int, int, bytes]],
    *,
    first_row: int = 0,
    ticks: int = 0,
    ns: int = 0,
    base: int = 0,
) -> bytes:
    """Return a chunk; ``sections`` are (kind, bytes of an item or 0, count, payload)."""
    body = b"".join(
        struct.pack("<HHIII", kind, item, count, len(payload), 0) + padded(payload)
        for kind, item, count, payload in sections
    )
    rest = struct.pack("<QQQQQ", first_row, ticks, ns, base, 0)
    start = struct.pack("<4sIII", b"ADBC", thread, 64 + len(body), len(sections))
    whole = start + bytes(8) + rest + body
    return start + struct.pack("<Q", checksum(whole)) + rest + body


def layout(kind: int, events: int) -> np.dtype[Any]:
    """Return the layout of the items of a section; those of SAMPLES depend on the events."""
    if kind == SAMPLES:
        values = [(f"event{i}", "<u8") for i in range(events)]
        return np.dtype([("row", "<u4"), ("pad", "<u4"), *values])
    return _LAYOUTS[kind]


class Thread:
    """What a thread has written: its strings, locations and operations have numbers."""

    def __init__(self, number: int, events: int = 0) -> None:
        self.number = number
        self.row = 0
        self.defined: set[int] = set()
        self.patches: list[tuple[Any, ...]] = []  # for the last chunk
        self._events = events
        self._ids: dict[tuple[int, Any], int] = {}
        self._last: dict[int, int] = {}
        self._strings: list[bytes] = []
        self._rows: dict[int, list[tuple[Any, ...]]] = {}

    def string(self, space: int, text: str) -> int:
        """Return the number of a string, which is written with the next chunk if it is new."""
        number, new = self._number(space, text)
        if new:
            content = text.encode(errors="surrogateescape")
            item = struct.pack("<IHHI", number, space, 0, len(content))
            self._strings.append(item + padded(content, 4))
        return number

    def place(self, file: int, line: int, column: int, text: int) -> int:
        """Return the number of a location, which is written with the next chunk if it is new."""
        number, new = self._number(0, (file, line, column, text))
        if new:
            self.add(LOCATIONS, number, file, line, column, text)
        return number

    def add(self, kind: int, *values: Any) -> None:
        self._rows.setdefault(kind, []).append(values)

    def take_rows(self) -> dict[int, np.ndarray[Any, Any]]:
        """Return what was added since the last time, by kind of section."""
        rows, self._rows = self._rows, {}
        return {kind: np.array(rows[kind], layout(kind, self._events)) for kind in sorted(rows)}

    def take_strings(self) -> list[tuple[int, int, int, bytes]]:
        """Return the section of the new strings, if there are any."""
        strings, self._strings = self._strings, []
        return [(STRINGS, 0, len(strings), b"".join(strings))] if strings else []

    def _number(self, space: int, key: Any) -> tuple[int, bool]:
        if (space, key) in self._ids:
            return self._ids[space, key], False
        self._last[space] = self._ids[space, key] = self._last.get(space, 0) + 1
        return self._last[space], True


class Writer:
    """Writes a recording chunk by chunk; ``how`` holds unit, ticks_per_ns and version."""

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any], **how: int) -> None:
        self.path = Path(path)
        self.now = 0  # ns
        self._unit, self._ticks_per_ns = how.get("unit", 1), how.get("ticks_per_ns", 1)
        self._texts: set[int] = set()
        self._file = self.path.open("wb")
        self._file.write(struct.pack("<8sII", b"ADBREC\r\n", how.get("version", 1), self._unit))
        self._write_json(HEADER, header)

    def close(self, ending: Mapping[str, Any] | None) -> None:
        if ending is not None:
            self._write_json(END, ending)
        self._file.close()

    def units(self, ns: int) -> int:
        return ns * self._ticks_per_ns // self._unit

    def write(self, thread: int, sections: Sequence[Any], first: int = 0, base: int = 0) -> None:
        """Write a chunk; ``base`` in ns."""
        content = chunk_bytes(
            thread,
            sections,
            first_row=first,
            ticks=self.now * self._ticks_per_ns,
            ns=self.now + 5_000_000_000,
            base=base * self._ticks_per_ns,
        )
        self._file.write(content)

    def texts(self, texts: Iterable[str | None]) -> list[tuple[int, int, int, bytes]]:
        """Return the section of the texts that are not written yet; long ones are compressed."""
        items: list[bytes] = []
        for text in texts:
            if text is None or text_hash(text) in self._texts:
                continue
            self._texts.add(text_hash(text))
            plain = text.encode()
            stored = zlib.compress(plain) if len(plain) > 64 else plain
            numbers = (text_hash(text), len(plain), len(stored), int(stored is not plain), 0)
            items.append(struct.pack("<QIIII", *numbers) + padded(stored))
        return [(TEXTS, 0, len(items), b"".join(items))] if items else []

    def _write_json(self, kind: int, value: Mapping[str, Any]) -> None:
        self.write(0, [(kind, 0, 1, json.dumps(value).encode())])


def array_sections(rows: Mapping[int, np.ndarray[Any, Any]]) -> list[tuple[int, int, int, bytes]]:
    """Return sections; of operations and changes packed ones."""
    return [
        (kind, 0, len(each), _packed(kind, each))
        if kind in (OPERATIONS, CHANGES)
        else (kind, each.itemsize, len(each), each.tobytes())
        for kind, each in rows.items()
        if len(each)
    ]


def _packed(kind: int, rows: np.ndarray[Any, Any]) -> bytes:
    columns = {name: rows[name].astype(np.int64) for name in rows.dtype.names or ()}

    def difference(name: str) -> np.ndarray[Any, Any]:
        return _zigzag(np.diff(columns[name], prepend=0))

    if kind == OPERATIONS:
        numbers = [difference(name) for name in ("row", "operation", "location", "function")]
        return _leb128(np.stack([*numbers, columns["name"]], axis=1).ravel())
    by, operation = columns["by"], columns["operation"]
    replacement = np.where(by > 0, 1 + _zigzag(by - operation), 0)
    code = columns["kind"] | columns["flags"] << 3
    numbers = [difference("row"), difference("operation"), code, replacement, columns["result"]]
    return _leb128(np.stack(numbers, axis=1).ravel())


def _zigzag(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return numbers << 1 ^ numbers >> 63


def _leb128(numbers: np.ndarray[Any, Any]) -> bytes:
    lengths = np.ones(numbers.shape, np.int64)
    for k in range(1, 9):
        lengths += numbers >= 1 << 7 * k
    starts = np.cumsum(lengths) - lengths
    content = np.zeros(int(np.sum(lengths)), np.uint8)
    for k in range(int(np.max(lengths))):
        has = lengths > k
        more = (lengths[has] > k + 1).astype(np.int64) << 7
        content[starts[has] + k] = numbers[has] >> 7 * k & 0x7F | more
    return content.tobytes()
