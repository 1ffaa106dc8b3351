"""Protobuf's wire format: single values, and columns of them.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from actiondbg.recording.format.arrow import pa
from actiondbg.recording.trace.byte_columns import Pieces, joined, lengths, pieces_of
from actiondbg.recording.trace.text_columns import Numbers

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_BITS = 7  # of a number per byte of a varint
_FEW = 1 << 14  # smaller numbers are encoded once each, in long columns


def varint(number: int) -> bytes:
    """Encode a number from 0 to 2**64 - 1."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= _BITS
    encoded.append(number)
    return bytes(encoded)


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


def bytes_fields(field: int, contents: Pieces) -> Pieces:
    """Encode a string, bytes or message field in each row."""
    return joined(*message_columns(field, [contents]))


def messages(field: int, *columns: Pieces | bytes) -> Pieces:
    """Encode a message field in each row, from columns."""
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
