"""Structs of the format .adbrec, version 2, which docs/recordings.md describes.

Everything is little endian. layout.py makes arrays of the items.
Imports no third-party package.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Literal

from actiondbg.support.recording_file import MAGIC

VERSION = 2
WORD = 8  # bytes; chunks and sections begin at a multiple of it
FILE_HEADER = struct.Struct(f"<{len(MAGIC)}sII")  # magic, version, ticks of a unit
CHUNK_MAGIC = b"ADBC"
# magic, thread, bytes, sections, checksum, first row, ticks and ns at the flush, base ticks, 0
CHUNK_HEADER = struct.Struct("<4sIIIQQQQQQ")
CHECKSUM_WORD = 2  # index among the 64-bit words of a chunk
SECTION_HEADER = struct.Struct("<HHIII")  # kind, bytes of an item, count, bytes of payload, 0
STRING = struct.Struct("<IHHI")  # id, space, 0, bytes; the bytes are padded to 4
TEXT = struct.Struct("<QIIII")  # hash, bytes, stored bytes, codec, 0; the bytes are padded to 8
RAW, ZLIB = 0, 1  # codecs

IRDetail = Literal["changed", "function", "pass", "output", "none"]  # what a recording has of IR


class SectionKind(IntEnum):
    """The content of a section."""

    HEADER = 1
    STRINGS = 2
    LOCATIONS = 3
    OPERATIONS = 4
    ACTIONS = 5
    PATCHES = 6
    CHANGES = 7
    REASONS = 8
    TEXTS = 9
    IR = 10
    SAMPLES = 11  # a row, and a value of each event that the header names
    END = 12
    LINKS = 13
    STAGES = 14
    STAGE_OPERATIONS = 15
    CONTEXTS = 16
    FINDINGS = 17
    PATTERN_SETS = 18
    REGIONS = 19


# The fields of an item that is a struct, and their forms, such as u4 for four bytes.
STRUCTS = {
    SectionKind.LOCATIONS: "id:u4 file:u4 line:u4 col:u4 text:u4",
    SectionKind.ACTIONS: "start:u4 duration:u4 operation:u4 name:u4 depth:u2 outcome:u1 flags:u1",
    SectionKind.PATCHES: "row:u4 outcome:u1 flags:u1 pad:u2 duration:u8",
    SectionKind.REASONS: "row:u4 reason:u4",
    SectionKind.CONTEXTS: "row:u4 context:u4",
    SectionKind.FINDINGS: "row:u4 operation:u4 rule:u4 text:u4",
    SectionKind.IR: "row:u4 operation:u4 before:u8 after:u8",
    SectionKind.STAGES: "thread:u4 row:u4 kind:u4 generic:u4 text:u8",
}
# The fields of a packed item, and how many of them (the first) are differences to the item before.
PACKED: dict[int, tuple[tuple[str, ...], int]] = {
    SectionKind.OPERATIONS: (("row", "operation", "location", "function", "name"), 4),
    SectionKind.CHANGES: (("row", "operation", "code", "by", "by_result"), 2),
    SectionKind.LINKS: (("row", "operation", "kind", "source"), 2),
    SectionKind.STAGE_OPERATIONS: (("operation", "parent", "line", "location", "name"), 4),
    SectionKind.REGIONS: (("operation", "regions"), 1),
}
# A packed item that is an operation and a number is a fact of that operation as long as it exists.
# Tables with operations have a column of it, null where it is not recorded.
OPERATION_FACTS = {
    names[1]: SectionKind(kind)
    for kind, (names, _) in PACKED.items()
    if names[0] == "operation" and len(names) == 2
}
# A part of a recording keeps two kinds of sections of the chunks before the part. To the first kind
# later chunks refer, or its items hold until the next item; the second is about single actions, and
# is kept if one of them has not ended.
DICTIONARIES = (
    SectionKind.HEADER,
    SectionKind.STRINGS,
    SectionKind.LOCATIONS,
    SectionKind.OPERATIONS,
    SectionKind.CONTEXTS,
    *OPERATION_FACTS.values(),
)
OF_ACTIONS = (SectionKind.PATCHES, SectionKind.REASONS, SectionKind.SAMPLES)


class Space(IntEnum):
    """The use of a string; each space counts its own ids."""

    ACTION = 1
    OPERATION = 2
    FILE = 3
    FUNCTION = 4
    REASON = 5
    LOCATION = 6
    CONTEXT = 7
    VALUES = 8
