"""Perfetto's protobuf: TrackEvents with interned texts, one track per thread.

Source: ``protos/perfetto/trace`` of Perfetto. All events form one sequence of packets; the
texts of a batch of slices are interned before it. Packets are not in the order of time, which
Perfetto does not require: all times of a thread are distinct.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np

from actiondbg.recording.format.arrow import Array, pa
from actiondbg.recording.format.items import varint
from actiondbg.recording.recording import Recording
from actiondbg.recording.trace.byte_columns import (
    NONE,
    ByteColumn,
    Lookup,
    Mask,
    Numbers,
    Pieces,
    TextColumn,
    column_of,
    content_of,
    joined,
    lengths,
    merge,
    pieces_of,
    string_array,
)
from actiondbg.recording.trace.slices import Shown, Slices, Span, TracedProgram
from actiondbg.recording.trace.trace_rows import numbers_of

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_BITS = 7  # of a number per byte of a varint
_FEW = 1 << 14  # smaller numbers are encoded once each, in long columns
_BLOCK = 1 << 15  # slices
_INTERNED = 1 << 12  # entries per packet
_SEQUENCE = 1  # the only sequence
_PROCESS_TRACK = 1  # the tracks of threads follow
_PACKET = 1  # Trace.packet
_REALTIME, _BOOTTIME = 1, 6  # BuiltinClock
_CLEARED, _NEEDS = 1, 2  # SequenceFlags
_BEGIN, _END = 1, 2  # TrackEvent.Type
_ORDINAL = "ordinal"
_CREATED = "inserted"
_REWRITTEN = ("erased", "replaced", "modified")


def number_field(field: int, number: int) -> bytes:
    """Encode a field of type integer, bool or enum, not negative."""
    return varint(field << 3 | _VARINT) + varint(number)


def bytes_field(field: int, content: bytes | str) -> bytes:
    """Encode a field of type string, bytes or message."""
    encoded = content.encode(errors="replace") if isinstance(content, str) else content
    return varint(field << 3 | _BYTES) + varint(len(encoded)) + encoded


def message(field: int, *fields: bytes) -> bytes:
    """Encode a message field from its fields."""
    return bytes_field(field, b"".join(fields))


def varints(numbers: Numbers) -> Pieces:
    """Encode non-negative numbers."""
    most = int(numbers.max(initial=0))
    if most < _FEW <= len(numbers):
        return _few_varints().take(pa.array(numbers))
    width = max(1, -(-most.bit_length() // _BITS))
    encoded = np.empty((len(numbers), width), np.uint8)
    used = np.ones((len(numbers), width), np.bool_)
    for byte in range(width):
        encoded[:, byte] = numbers >> (_BITS * byte) & 0x7F
        if byte:
            used[:, byte] = numbers >> (_BITS * byte) != 0
    encoded[:, :-1] |= used[:, 1:] * np.uint8(0x80)
    offsets = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    return pieces_of(encoded[used], offsets)


@cache
def _few_varints() -> Pieces:
    return pa.array([varint(number) for number in range(_FEW)], type=pa.large_binary())


def number_fields(field: int, numbers: Numbers) -> Pieces:
    """Encode an integer field in each row."""
    return joined(varint(field << 3 | _VARINT), varints(numbers))


def messages(field: int, *columns: Pieces | bytes) -> Pieces:
    """Encode a string, bytes or message field in each row, from columns."""
    return joined(*message_columns(field, columns))


def message_columns(field: int, columns: Sequence[Pieces | bytes]) -> list[Pieces | bytes]:
    """Return the columns that, joined, are a message field in each row."""
    total = sum(len(each) if isinstance(each, bytes) else lengths(each) for each in columns)
    return [varint(field << 3 | _BYTES), varints(np.asarray(total)), *columns]


def fixed64_fields(field: int, numbers: Numbers, offsets: Numbers) -> Pieces:
    """Encode an unpacked repeated fixed64 field in each row.

    Args:
        field: the number of the field.
        numbers: shape (all,).
        offsets: shape (rows + 1,), ascending: the begin of each row's numbers, and the end.
    """
    tag = np.frombuffer(varint(field << 3 | _FIXED64), np.uint8)
    encoded = np.empty((len(numbers), len(tag) + 8), np.uint8)
    encoded[:, : len(tag)] = tag
    encoded[:, len(tag) :] = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return pieces_of(encoded.reshape(-1), offsets * encoded.shape[1])


class _Packet(IntEnum):
    CLOCK_SNAPSHOT = 6
    TIMESTAMP = 8
    SEQUENCE = 10
    TRACK_EVENT = 11
    INTERNED = 12
    FLAGS = 13
    TRACK_DESCRIPTOR = 60


class _Event(IntEnum):
    CATEGORY = 3
    ANNOTATION = 4
    TYPE = 9
    NAME = 10
    TRACK = 11
    SOURCE_LOCATION = 34
    FLOW = 47


class _Interned(IntEnum):
    CATEGORIES = 1
    NAMES = 2
    ANNOTATION_NAMES = 3
    SOURCE_LOCATIONS = 4
    ANNOTATION_TEXTS = 29


class _Annotation(IntEnum):
    NAME = 1
    BOOL = 2
    NUMBER = 3
    TEXT = 17


class _Descriptor(IntEnum):
    UUID = 1
    PROCESS = 3
    THREAD = 4
    PARENT = 5


class _InternedTexts:
    """The interned texts of a kind; each batch adds its own."""

    def __init__(self, field: int) -> None:
        self.field = field
        self.count = 0
        self.fresh: list[tuple[Pieces, ...]] = []

    def add(self, *fields: Pieces) -> int:
        """Intern texts; return the number of the first."""
        first = self.count + 1
        self.count += len(fields[0])
        self.fresh.append((number_fields(1, np.arange(first, self.count + 1)), *fields))
        return first

    def entries(self) -> Iterator[Pieces]:
        """Yield the texts added since the last call, as fields of InternedData."""
        fresh, self.fresh = self.fresh, []
        for fields in fresh:
            yield messages(self.field, *fields)


class _Encoder:
    """Encodes arguments."""

    def __init__(self) -> None:
        self.names = _InternedTexts(_Interned.ANNOTATION_NAMES)
        self.values = _InternedTexts(_Interned.ANNOTATION_TEXTS)
        self._numbers: dict[str, int] = {}

    def texts(self, name: str, texts: Array) -> Pieces:
        first = self.values.add(messages(2, texts))
        return self._annotations(name, _Annotation.TEXT, np.arange(first, first + len(texts)))

    def truth(self, name: str) -> bytes:
        return message(_Event.ANNOTATION, self._name(name), number_field(_Annotation.BOOL, 1))

    def numbers(self, name: str, numbers: Numbers) -> Pieces:
        return self._annotations(name, _Annotation.NUMBER, numbers)

    def intern(self, name: str) -> None:
        """Intern the name of an argument."""
        if name not in self._numbers:
            self._numbers[name] = self.names.add(messages(2, string_array([name])))

    def _annotations(self, name: str, field: int, numbers: Numbers) -> Pieces:
        return messages(_Event.ANNOTATION, self._name(name), number_fields(field, numbers))

    def _name(self, name: str) -> bytes:
        return number_field(_Annotation.NAME, self._numbers[name])


@dataclass(frozen=True)
class _Batch:
    """Some slices with their encoded columns."""

    slices: Slices
    flows: SliceFlows
    columns: Sequence[ByteColumn]


class PerfettoTrace:
    """Writes a trace as Perfetto's protobuf."""

    def __init__(self, program: TracedProgram) -> None:
        self._program = program
        self._flows = FlowTracker()
        self._threads: set[int] = set()  # already described
        self._encoder = _Encoder()
        self._categories = _InternedTexts(_Interned.CATEGORIES)
        self._names = _InternedTexts(_Interned.NAMES)
        self._locations = _InternedTexts(_Interned.SOURCE_LOCATIONS)

    def head(self) -> bytes:
        clocks = ((_BOOTTIME, 0), (_REALTIME, self._program.header.started))
        snapshot = [message(1, number_field(1, clock), number_field(2, ns)) for clock, ns in clocks]
        cleared = _packet(_in_sequence(_CLEARED | _NEEDS))
        return _packet(message(_Packet.CLOCK_SNAPSHOT, *snapshot)) + self._process() + cleared

    def batch(
        self, slices: Slices, recording: Recording
    ) -> Iterator[tuple[bytes | memoryview, int]]:
        columns = self._columns(slices)
        for part in self._interned():
            yield part, 0
        batch = _Batch(slices, self._flows.find(recording, slices), columns)
        for span in slices.spans:
            yield self._description(span.thread), 0
            for first in range(span.first, span.last, _BLOCK):
                rows = slice(first, min(first + _BLOCK, span.last))
                yield content_of(self._begins(batch, span, rows)), 0
                yield content_of(self._ends(batch, span, rows)), rows.stop - rows.start

    def tail(self, note: str) -> bytes:
        return self._process(note) if note else b""

    # --- tracks -------------------------------------------------------------------

    def _process(self, note: str = "") -> bytes:
        program = self._program
        process = [
            number_field(1, program.pid),
            *(bytes_field(2, word) for word in program.header.argv),
            bytes_field(6, program.name),
            *([bytes_field(8, note)] if note else []),
        ]
        return _track(_PROCESS_TRACK, message(_Descriptor.PROCESS, *process))

    def _description(self, thread: int) -> bytes:
        if thread in self._threads:
            return b""
        self._threads.add(thread)
        program = self._program
        fields = [
            number_field(1, program.pid),
            number_field(2, program.thread_id(thread)),
            bytes_field(5, program.thread_name(thread)),
        ]
        parent = number_field(_Descriptor.PARENT, _PROCESS_TRACK)
        return _track(_track_of(thread), parent, message(_Descriptor.THREAD, *fields))

    # --- interned texts -----------------------------------------------------------

    def _columns(self, slices: Slices) -> list[ByteColumn]:
        """Encode the columns of slices, and intern their texts."""
        places = slices.places
        files = places.files.values.take(pa.array(places.files.codes))
        location = self._locations.add(messages(2, files), number_fields(4, places.lines))
        category = self._categories.add(messages(2, slices.categories.values))
        name = self._names.add(messages(2, slices.names.values))
        for each in (_ORDINAL, *(argument.name for argument in slices.arguments)):
            self._encoder.intern(each)
        columns: list[ByteColumn] = [
            _identifiers(_Event.CATEGORY, slices.categories.codes, category),
            _identifiers(_Event.NAME, slices.names.codes, name),
            _identifiers(_Event.SOURCE_LOCATION, places.codes, location),
            *(column_of(each, self._encoder) for each in slices.arguments),
        ]
        return merge(columns)

    def _interned(self) -> Iterator[bytes]:
        """Yield packets with the texts to intern before the events that use them."""
        encoder = self._encoder
        for texts in (
            *(self._categories, self._names, encoder.names, encoder.values, self._locations),
        ):
            for entries in texts.entries():
                for first in range(0, len(entries), _INTERNED):
                    block = content_of(entries[first : first + _INTERNED])
                    yield _packet(_in_sequence(_NEEDS), bytes_field(_Packet.INTERNED, bytes(block)))

    # --- events -------------------------------------------------------------------

    def _begins(self, batch: _Batch, span: Span, rows: slice) -> Pieces:
        event = [
            _event(_BEGIN, span.thread),
            _flowing(batch.flows, rows),
            self._encoder.numbers(_ORDINAL, batch.slices.ordinals[rows]),
            *(column.block(rows) for column in batch.columns),
        ]
        columns = message_columns(_Packet.TRACK_EVENT, event)
        return _event_packets(batch.slices.start[rows], columns)

    def _ends(self, batch: _Batch, span: Span, rows: slice) -> Pieces:
        event = message(_Packet.TRACK_EVENT, _event(_END, span.thread))
        return _event_packets(batch.slices.end[rows], [event])


def _flowing(flows: SliceFlows, rows: slice) -> Pieces:
    offsets = flows.offsets(rows.start, rows.stop)
    operations = flows.operations[int(offsets[0]) : int(offsets[-1])]
    return fixed64_fields(_Event.FLOW, operations, offsets - offsets[0])


def _event(kind: int, thread: int) -> bytes:
    return number_field(_Event.TYPE, kind) + number_field(_Event.TRACK, _track_of(thread))


def _event_packets(times: Numbers, event: Sequence[Pieces | bytes]) -> Pieces:
    timestamps = number_fields(_Packet.TIMESTAMP, times)
    return messages(_PACKET, timestamps, _in_sequence(_NEEDS), *event)


def _identifiers(field: int, codes: Numbers, first: int) -> Lookup:
    numbers = np.arange(first, first + int(codes.max(initial=NONE)) + 1)
    return Lookup(codes, number_fields(field, numbers))


def _track_of(thread: int) -> int:
    return _PROCESS_TRACK + 1 + thread


def _packet(*fields: bytes) -> bytes:
    return message(_PACKET, *fields)


def _in_sequence(flags: int) -> bytes:
    return number_field(_Packet.SEQUENCE, _SEQUENCE) + number_field(_Packet.FLAGS, flags)


def _track(uuid: int, *fields: bytes) -> bytes:
    return _packet(message(_Packet.TRACK_DESCRIPTOR, number_field(_Descriptor.UUID, uuid), *fields))


# --- flows ---


@dataclass(frozen=True)
class SliceFlows:
    """Operations that flow through slices, in the order of the slices.

    ``slices`` has the slice of each flow point, ``operations`` the id of its flow.
    """

    slices: Numbers
    operations: Numbers

    def offsets(self, first: int, last: int) -> Numbers:
        """Return the offsets of the flow points of some slices, and their end."""
        return np.searchsorted(self.slices, np.arange(first, last + 1))


class FlowTracker:
    """Finds flows, part by part; remembers when each operation was created."""

    def __init__(self) -> None:
        self._created = np.empty(
            0, np.int64
        )  # by operation: the begin of the creating slice, or NONE
        self._waiting: list[tuple[Numbers, Numbers]] = []  # ordinals and operations

    def find(self, recording: Recording, slices: Slices) -> SliceFlows:
        """Find the flows through the slices of a part."""
        ordinals, operations, is_creation = _changes(recording)
        begins = _at(slices.shown, slices.shown.begins, ordinals)
        seen = begins != NONE
        ordinals, operations, begins = ordinals[seen], operations[seen], begins[seen]
        is_creation = is_creation[seen]
        self._make_room(int(operations.max(initial=0)) + 1)
        self._create(operations[is_creation], begins[is_creation])
        by = self._created[operations]
        # No arrow to an action that began before the creation: it erases what was made inside it.
        flowing = (by != NONE) & ((begins > by) | is_creation)
        return self._of_slices(slices.shown, ordinals[flowing], operations[flowing])

    def _make_room(self, size: int) -> None:
        more = size - len(self._created)
        if more > 0:
            # At least double, so that few copies are made.
            self._created = np.append(self._created, np.full(max(more, len(self._created)), NONE))

    def _create(self, operations: Numbers, begins: Numbers) -> None:
        fresh = self._created[operations] == NONE
        # The first creation counts: in reverse order it is assigned last.
        self._created[operations[fresh][::-1]] = begins[fresh][::-1]

    def _of_slices(self, shown: Shown, ordinals: Numbers, operations: Numbers) -> SliceFlows:
        """Return the flows of finished slices; the others wait for a later part."""
        parts = [*self._waiting, (ordinals, operations)]
        ordinals = np.concatenate([part[0] for part in parts])
        operations = np.concatenate([part[1] for part in parts])
        of = _at(shown, shown.slices, ordinals)
        over = of != NONE
        self._waiting = [(ordinals[~over], operations[~over])]
        order = np.lexsort((operations[over], of[over]))
        of, operations = of[over][order], operations[over][order]
        new = np.ones(len(of), np.bool_)
        new[1:] = (of[1:] != of[:-1]) | (operations[1:] != operations[:-1])
        return SliceFlows(of[new], operations[new])


def _changes(recording: Recording) -> tuple[Numbers, Numbers, Mask]:
    """Return the ordinals and operations of changes, and a mask of creations."""
    of_kinds, *columns = recording.arrays("changes", "kind", "ordinal", "operation")
    kinds = TextColumn.of(of_kinds)
    codes = [kinds.code_of(kind) for kind in (_CREATED, *_REWRITTEN)]
    which = np.isin(kinds.codes, codes)
    ordinals, operations = map(numbers_of, columns)
    which &= operations != NONE
    return ordinals[which], operations[which], kinds.codes[which] == codes[0]


def _at(shown: Shown, values: Numbers, ordinals: Numbers) -> Numbers:
    """Return the value of each ordinal; NONE for a missing one."""
    places = np.searchsorted(shown.ordinals, ordinals)
    places = np.minimum(places, max(len(values) - 1, 0))
    if not len(values):
        return np.full(len(ordinals), NONE)
    return np.where(shown.ordinals[places] == ordinals, values[places], NONE)
