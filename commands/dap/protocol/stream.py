"""Messages on a stream: a header with Content-Length, an empty line, and JSON of that length."""

from __future__ import annotations

from typing import BinaryIO

from actiondbg.errors import ActiondbgError

_MOST_BYTES = 64 << 20  # of a message
_MOST_HEADER = 4096  # bytes of a line of the header


class BrokenMessage(ActiondbgError):
    """A message whose header or length is wrong: where the next one begins is unknown."""


def read_message(stream: BinaryIO) -> bytes | None:
    """Read the JSON of the next message; None at the end of the stream.

    Raises:
        BrokenMessage: the header is malformed, or the stream ends within the message.
    """
    length: int | None = None
    is_first = True
    while (line := stream.readline(_MOST_HEADER)).strip():
        is_first = False
        name, colon, value = line.partition(b":")
        if not colon or not line.endswith(b"\n"):
            raise BrokenMessage(f"{line[:80]!r} is not a line of a header.")
        if name.strip().lower() == b"content-length":
            length = _length(value.strip())
    if not line:
        if is_first:
            return None
        raise BrokenMessage("The stream ends within a header.")
    if length is None:
        raise BrokenMessage("The header has no Content-Length.")
    content = stream.read(length)
    if len(content) < length:
        raise BrokenMessage(f"The stream ends after {len(content)} of {length} bytes.")
    return content


def _length(value: bytes) -> int:
    if not value.isdigit() or len(value) > 10 or int(value) > _MOST_BYTES:
        raise BrokenMessage(f"The Content-Length {value[:80]!r} is not a number up to 64 MiB.")
    return int(value)


def framed(content: bytes) -> bytes:
    """Return a message for the stream."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
