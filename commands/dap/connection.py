"""The connection to a client: one thread reads, one writes, so that neither waits for a request."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from actiondbg.commands.dap.protocol import IncomingMessage, OutgoingMessage
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import ActiondbgError
from actiondbg.support.decoders import decoder_of

_MOST_UNSENT = 1000  # messages
_RETRY_SECONDS = 0.2
_END_SECONDS = 2.0  # for the client to read what is unsent
_encoding = threading.Lock()  # of all connections: see support/decoders.py
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
            value = value.strip()
            if not value.isdigit() or len(value) > 10 or int(value) > _MOST_BYTES:
                raise BrokenMessage(
                    f"The Content-Length {value[:80]!r} is not a number up to 64 MiB."
                )
            length = int(value)
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


def framed(content: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(content), content)


class Connection:
    """A connection to a client.

    Args:
        reader: the messages of the client.
        writer: for the messages to it.
        receive: called with each message, in the thread that reads; with None at the end.
    """

    def __init__(
        self,
        reader: BinaryIO,
        writer: BinaryIO,
        receive: Callable[[IncomingMessage | None], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._receive = receive
        self._unsent: queue.Queue[bytes | None] = queue.Queue(_MOST_UNSENT)
        self._lock = threading.Lock()
        self._encoder = msgspec.json.Encoder(enc_hook=str)
        self._number = 0
        self._is_closed = False
        self._threads = [
            threading.Thread(target=work, daemon=True, name=f"dap-{work.__name__.strip('_')}")
            for work in (self._read, self._write)
        ]

    def start(self) -> None:
        for each in self._threads:
            each.start()

    def respond(
        self, to: IncomingMessage, body: object = None, *, error: str | None = None
    ) -> None:
        """Send the response to a request; with an error, one without success."""
        self._send(
            OutgoingMessage(
                type="response",
                request_seq=to.seq,
                success=error is None,
                command=to.command,
                message=error,
                body=body,
            )
        )

    def send_event(self, name: str, body: object) -> None:
        self._send(OutgoingMessage(type="event", event=name, body=body))

    def send_request(self, command: str, arguments: object) -> None:
        """Send a reverse request; the response is a message like others."""
        self._send(OutgoingMessage(type="request", command=command, arguments=arguments))

    def close(self) -> None:
        """Send what is unsent, and close the connection."""
        with self._lock:
            self._add(None)
        self._threads[1].join(_END_SECONDS)
        self._is_closed = True
        # The reader is in use by its thread, which a closed stream would not wake.
        with contextlib.suppress(OSError, ValueError):
            self._writer.close()

    def _send(self, message: OutgoingMessage) -> None:
        with self._lock:
            self._number += 1
            message.seq = self._number
            with _encoding:
                content = self._encoder.encode(message)
            self._add(framed(content))

    def _add(self, content: bytes | None) -> None:
        while not self._is_closed:
            with contextlib.suppress(queue.Full):
                self._unsent.put(content, timeout=_RETRY_SECONDS)
                return

    def _read(self) -> None:
        try:
            while (content := read_message(self._reader)) is not None:
                try:
                    message = decoder_of(IncomingMessage).decode(content)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    print_notice(f"A message is no request, and has no answer: {error}.")
                    continue
                self._receive(message)
        except BrokenMessage as error:
            print_notice(f"{error} The connection is closed.")
        except (OSError, ValueError):
            pass
        finally:
            self._receive(None)

    def _write(self) -> None:
        try:
            while (content := self._unsent.get()) is not None:
                self._writer.write(content)
                if self._unsent.empty():
                    self._writer.flush()
            self._writer.flush()
        except (OSError, ValueError):
            self._is_closed = True
