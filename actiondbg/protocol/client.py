"""The connection to the agent: JSON lines, and the matching of responses to requests."""

from __future__ import annotations

import contextlib
import socket
from typing import TypeVar, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, ProtocolError, error_of_code
from actiondbg.protocol.capabilities import check_capabilities
from actiondbg.support.decoders import decoder_of, json_bytes
from actiondbg.support.interrupts import HeldInterrupts, SocketWatch

R = TypeVar("R", bound=protocol.Message)

_CHUNK = 1 << 18  # bytes
_SHOWN = 80  # characters of a message that is quoted in an error

_envelopes = msgspec.json.Decoder(protocol.Incoming)


class ConnectionEnded(Exception):
    """The agent's side of the socket is closed; ``rest`` begins a truncated message."""

    def __init__(self, rest: bytes = b"") -> None:
        super().__init__("the connection ended")
        self.rest = rest


def encode_request(message: protocol.Request[R], number: int | None) -> bytes:
    """Encode a request as a line; a notification if ``number`` is None."""
    head = {"jsonrpc": "2.0"} if number is None else {"jsonrpc": "2.0", "id": number}
    return json_bytes({**head, "method": message.method, "params": message}) + b"\n"


def decode_envelope(line: bytes) -> protocol.Incoming:
    """Decode the envelope of a line: a response, or a notification.

    Raises:
        ProtocolError: the line is neither; the error quotes it.
    """
    try:
        incoming = _envelopes.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(
            f"The agent sent an invalid message, {quoted(line)}: {error}."
        ) from error
    if incoming.method is None and incoming.id is None:
        raise ProtocolError(
            f"The agent sent {quoted(line)}, which is neither a response nor a notification."
        )
    return incoming


def decode_notification(incoming: protocol.Incoming) -> protocol.Message:
    """Decode the parameters of a notification.

    Raises:
        ProtocolError: there is no such notification, or a field is missing, unknown or of the
            wrong type.
    """
    kind = protocol.NOTIFICATIONS.get(incoming.method or "")
    if kind is None:
        raise ProtocolError(
            f"The agent sent an unknown notification, {quoted((incoming.method or '').encode())}."
        )
    if kind is protocol.Hello:
        check_version(incoming)
    return _decode(incoming.params, kind, kind.__name__.lower())


def check_version(hello: protocol.Incoming) -> None:
    """Refuse an agent of another protocol version, before the rest of its hello is decoded.

    Raises:
        ProtocolError: the versions differ; the error names both.
    """
    theirs = _decode(hello.params, _Version, "hello").protocol
    if theirs != protocol.VERSION:
        raise ProtocolError(
            f"The agent has version {theirs} of the protocol, and this actiondbg has version "
            f"{protocol.VERSION}: install actiondbg again, or run scripts/setup in a clone."
        )


class _Version(msgspec.Struct):
    protocol: int


_S = TypeVar("_S", bound=msgspec.Struct)


def _decode(raw: msgspec.Raw, kind: type[_S], what: str) -> _S:
    try:
        return cast("msgspec.json.Decoder[_S]", decoder_of(kind)).decode(raw)  # type: ignore[type-var]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(
            f"The agent sent an invalid {what}, {quoted(bytes(raw))}: {error}."
        ) from error


def quoted(line: bytes) -> str:
    """Return the beginning of a line in quotes, for an error."""
    text = line[: 4 * _SHOWN].decode(errors="replace")
    return repr(text[:_SHOWN]) + ("..." if len(text) > _SHOWN else "")


class Client:
    """A connection to an agent.

    Args:
        connection: a connected socket, closed with the client.
        process: the pidfd of the process at the other end, or None. Its end ends the connection,
            even if a child of it still holds the socket.
        held: admits interrupts while the client waits; see ``HeldInterrupts``.
    """

    def __init__(
        self, connection: socket.socket, process: int | None, held: HeldInterrupts
    ) -> None:
        self._socket = connection
        self._watch = SocketWatch(held, connection.fileno(), process)
        self._buffer = bytearray()
        self._scanned = 0
        self._number = 0
        self._hello: protocol.Hello | None = None
        self._lost: dict[str, str] = {}
        # Notifications that arrived during the wait for a response.
        self._notices: list[protocol.Incoming] = []

    def close(self) -> None:
        """Close the connection; the agent then ends the tool."""
        self._socket.close()

    def send(self, message: protocol.Request[R]) -> int:
        """Send a request without waiting.

        Returns:
            Its number, which the response repeats.

        Raises:
            CapabilityMissing: the agent lacks what the request needs.
        """
        if self._hello is not None:
            check_capabilities(self._hello, message)
        self._number += 1
        self._send(encode_request(message, self._number))
        return self._number

    def notify(self, message: protocol.Request[R]) -> None:
        """Send a notification, which has no response."""
        self._send(encode_request(message, None))

    def request(self, message: protocol.Request[R], seconds: float | None = None) -> R:
        """Send a request and wait for the result, at most some seconds.

        Raises:
            AgentError: the agent refused.
            ProtocolError: the agent broke the protocol.
            ConnectionEnded: the connection ended before the response.
            TimeoutError: there was no response in time.
        """
        number = self.send(message)
        while True:
            incoming = self._receive(seconds)
            if incoming.method is not None:
                self._notices.append(incoming)
            elif self.is_response(incoming, number):
                return cast("R", _decode(incoming.result, message.result, message.method))

    def is_response(self, incoming: protocol.Incoming, number: int) -> bool:
        """Return whether a message is the response to request ``number``.

        Responses to earlier requests are left over from interrupted waits.

        Raises:
            AgentError: it is the response, and the agent refused.
            ProtocolError: there was no such request.
        """
        if incoming.id is None or incoming.id > self._number:
            raise ProtocolError(f"The agent answered request {incoming.id}, which was not made.")
        if incoming.id != number:
            return False
        if incoming.error is not None:
            raise _refusal(incoming.error)
        return True

    def receive(self, seconds: float | None = None) -> protocol.Incoming:
        """Wait for the next message, at most some seconds.

        Raises:
            ProtocolError: a line is too long, or is not a message.
            ConnectionEnded: the connection ended.
            TimeoutError: there was no message in time.
        """
        return self._notices.pop(0) if self._notices else self._receive(seconds)

    @property
    def has_news(self) -> bool:
        """Whether ``receive`` would not wait: a message has arrived, or the connection ended."""
        if self._notices or b"\n" in self._buffer:
            return True
        try:
            self._watch.wait(0)
        except TimeoutError:
            return False
        return True

    def lose(self, missing: dict[str, str]) -> protocol.Hello:
        """Remove capabilities for the rest of the run, with the reasons."""
        self._lost |= missing
        return self._with_capabilities(self._known_hello.capabilities, self._known_hello.missing)

    def update(self, stop: protocol.Stopped) -> protocol.Hello:
        """Return hello with the capabilities at a stop: some were lost, or the MLIR is another one.

        Raises:
            ProtocolError: there was no hello.
        """
        missing = stop.missing or {}
        if stop.capabilities is msgspec.UNSET:
            missing = {**self._known_hello.missing, **missing}
            return self._with_capabilities(self._known_hello.capabilities, missing)
        return self._with_capabilities(stop.capabilities, missing)

    @property
    def _known_hello(self) -> protocol.Hello:
        if self._hello is None:
            raise ProtocolError("The agent stopped before its hello.")
        return self._hello

    def _with_capabilities(
        self, capabilities: frozenset[str], missing: dict[str, str]
    ) -> protocol.Hello:
        missing = {**missing, **self._lost}
        self._hello = msgspec.structs.replace(
            self._known_hello, capabilities=capabilities - missing.keys(), missing=missing
        )
        return self._hello

    def receive_hello(self, seconds: float | None = None) -> protocol.Hello:
        """Wait for the first message; see ``receive``.

        Raises:
            ProtocolError: the message is no hello, or of another version.
        """
        incoming = self.receive(seconds)
        message = decode_notification(incoming) if incoming.method else None
        if not isinstance(message, protocol.Hello):
            what = repr(incoming.method) if incoming.method else "a response"
            raise ProtocolError(f"The agent's first message is {what}: expected 'hello'.")
        self._hello = message
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
                    f"The agent sent more than {protocol.MAX_LINE >> 20} MiB without a newline, "
                    f"beginning with {quoted(bytes(self._buffer[:400]))}."
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
                f"The message has {len(line)} bytes, more than the protocol's "
                f"{protocol.MAX_LINE >> 20} MiB: use fewer breakpoints."
            )
        try:
            self._socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            # Messages that the agent sent before its end can still be read.
            return


def _refusal(error: protocol.WireError) -> AgentError:
    message = error.message[:1].upper() + error.message[1:]
    return error_of_code(error.code, message if message.endswith((".", "?")) else message + ".")
