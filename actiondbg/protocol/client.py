"""The connection to the agent: lines in, lines out, and which answer belongs to which request."""

from __future__ import annotations

import contextlib
import functools
import socket
from typing import TypeVar, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, ProtocolError, error_of_code
from actiondbg.support.interrupts import HeldInterrupts, Watch

R = TypeVar("R", bound=protocol.Message)

_CHUNK = 1 << 18  # bytes
_SHOWN = 80  # characters of a message that is quoted in an error

_encoder = msgspec.json.Encoder()
_envelopes = msgspec.json.Decoder(protocol.Incoming)


class ConnectionEnded(Exception):
    """The agent's side of the socket is closed.

    Args:
        rest: the beginning of a message that was cut, or empty.
    """

    def __init__(self, rest: bytes = b"") -> None:
        super().__init__("the connection ended")
        self.rest = rest


@functools.cache
def _decoder(kind: type[R]) -> msgspec.json.Decoder[R]:
    return msgspec.json.Decoder(kind)


def encode_request(message: protocol.Request[R], number: int | None) -> bytes:
    """Encode a request, or a notification when ``number`` is None, as a line."""
    head = {"jsonrpc": "2.0"} if number is None else {"jsonrpc": "2.0", "id": number}
    return _encoder.encode({**head, "method": message.method, "params": message}) + b"\n"


def decode_envelope(line: bytes) -> protocol.Incoming:
    """Decode a line's envelope: a response, or a notification.

    Raises:
        ProtocolError: it is neither; the error quotes it.
    """
    try:
        incoming = _envelopes.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(
            f"The agent sent what is no message of the protocol, {quoted(line)}: {error}."
        ) from error
    if incoming.method is None and incoming.id is None:
        raise ProtocolError(
            f"The agent sent {quoted(line)}, which is neither a response nor a notification."
        )
    return incoming


def decode_notification(incoming: protocol.Incoming) -> protocol.Message:
    """Decode what a notification says.

    Raises:
        ProtocolError: there is no such notification, or a field is missing, unknown or of the
            wrong type.
    """
    kind = protocol.NOTIFICATIONS.get(incoming.method or "")
    if kind is None:
        raise ProtocolError(
            f"The agent sent {quoted((incoming.method or '').encode())}, which is no notification "
            "of the protocol."
        )
    if kind is protocol.Hello:
        check_version(incoming)
    return _decode(incoming.params, kind, kind.__name__.lower())


def check_version(hello: protocol.Incoming) -> None:
    """Refuse an agent of another version, whatever else its hello holds.

    Raises:
        ProtocolError: with both versions.
    """
    theirs = _decode(hello.params, _Version, "hello").protocol
    if theirs != protocol.VERSION:
        raise ProtocolError(
            f"The agent speaks version {theirs} of the protocol, and this actiondbg speaks version "
            f"{protocol.VERSION}: remove the agent from the cache, and it is compiled anew."
        )


class _Version(msgspec.Struct):
    protocol: int


_S = TypeVar("_S", bound=msgspec.Struct)


def _decode(raw: msgspec.Raw, kind: type[_S], what: str) -> _S:
    try:
        return cast("msgspec.json.Decoder[_S]", _decoder(kind)).decode(raw)  # type: ignore[type-var]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(
            f"The agent sent a {what} that is not of the protocol, {quoted(bytes(raw))}: {error}."
        ) from error


def quoted(line: bytes) -> str:
    """Return the beginning of a line, in quotes, for an error."""
    text = line[: 4 * _SHOWN].decode(errors="replace")
    return repr(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")


class Client:
    """One connection.

    Args:
        connection: connected; it is closed with the client.
        process: the pidfd of the process at the other end, or None. Its end ends the connection,
            also when a child of it still holds the socket.
        held: opened while the client waits, see ``HeldInterrupts``.
    """

    def __init__(
        self, connection: socket.socket, process: int | None, held: HeldInterrupts
    ) -> None:
        self._socket = connection
        self._watch = Watch(held, connection.fileno(), process)
        self._buffer = bytearray()
        self._scanned = 0
        self._number = 0
        # Notifications that came in while a response was waited for.
        self._notices: list[protocol.Incoming] = []

    def close(self) -> None:
        """Close the connection; the agent ends the tool then."""
        self._socket.close()

    def send(self, message: protocol.Request[R]) -> int:
        """Send a request without waiting.

        Returns:
            Its number; the response has the same.
        """
        self._number += 1
        self._send(encode_request(message, self._number))
        return self._number

    def notify(self, message: protocol.Request[R]) -> None:
        """Send a notification, which is not answered."""
        self._send(encode_request(message, None))

    def request(self, message: protocol.Request[R], seconds: float | None = None) -> R:
        """Send a request and wait for the response.

        Args:
            message: the request.
            seconds: to wait at most; None for as long as it takes.

        Returns:
            The result.

        Raises:
            AgentError: the agent refused.
            ProtocolError: what came back was no answer.
            ConnectionEnded: nothing came back.
            TimeoutError: nothing came back in time.
        """
        number = self.send(message)
        while True:
            incoming = self._receive(seconds)
            if incoming.method is not None:
                self._notices.append(incoming)
            elif self.is_response(incoming, number):
                return cast("R", _decode(incoming.result, message.result, message.method))

    def is_response(self, incoming: protocol.Incoming, number: int) -> bool:
        """Tell whether this is the response to request ``number``.

        An older one is left over from a request whose wait was interrupted.

        Raises:
            AgentError: it is, and the agent refused.
            ProtocolError: it answers a request that was not made.
        """
        if incoming.id is None or incoming.id > self._number:
            raise ProtocolError(f"The agent answered request {incoming.id}, which was not made.")
        if incoming.id != number:
            return False
        if incoming.error is not None:
            raise _refusal(incoming.error)
        return True

    def receive(self, seconds: float | None = None) -> protocol.Incoming:
        """Wait for the next message.

        Args:
            seconds: to wait at most; None for as long as it takes.

        Raises:
            ProtocolError: a line is too long, or is not a message.
            ConnectionEnded: there is none any more.
            TimeoutError: nothing came in in time.
        """
        return self._notices.pop(0) if self._notices else self._receive(seconds)

    def receive_hello(self, seconds: float | None = None) -> protocol.Hello:
        """Wait for the first message; see ``receive``.

        Raises:
            ProtocolError: it is no hello, or one of another version.
        """
        incoming = self.receive(seconds)
        message = decode_notification(incoming) if incoming.method else None
        if not isinstance(message, protocol.Hello):
            what = repr(incoming.method) if incoming.method else "a response"
            raise ProtocolError(f"The agent's first message is {what}, and has to be 'hello'.")
        return message

    def _receive(self, seconds: float | None) -> protocol.Incoming:
        return decode_envelope(self._receive_line(seconds))

    def _receive_line(self, seconds: float | None) -> bytes:
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._scanned = 0
                return line
            self._scanned = len(self._buffer)
            if self._scanned > protocol.MAX_LINE:
                raise ProtocolError(
                    f"The agent sent more than {protocol.MAX_LINE >> 20} MiB without an end of "
                    f"line, beginning with {quoted(bytes(self._buffer[:400]))}."
                )
            self._fill(seconds)

    def _fill(self, seconds: float | None) -> None:
        chunk = b""
        if self._watch.wait(seconds):
            with contextlib.suppress(ConnectionResetError):
                chunk = self._socket.recv(_CHUNK)
        if not chunk:
            raise ConnectionEnded(bytes(self._buffer[:400]))
        self._buffer += chunk

    def _send(self, line: bytes) -> None:
        if len(line) > protocol.MAX_LINE:
            raise AgentError(
                f"The message would be of {len(line)} bytes, more than the protocol's "
                f"{protocol.MAX_LINE >> 20} MiB: use fewer breakpoints."
            )
        try:
            self._socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            # What the agent sent before its end is still to be read.
            return


def _refusal(error: protocol.WireError) -> AgentError:
    message = error.message[:1].upper() + error.message[1:]
    return error_of_code(error.code, message if message.endswith((".", "?")) else message + ".")
