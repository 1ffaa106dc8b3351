"""The messages of the Debug Adapter Protocol, named and spelt as in its specification, and their
transport: one thread reads, one writes, so that neither waits for a request.

May import: errors, support, the notices of render.terminal.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import BinaryIO, Literal

import msgspec

from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.errors import ActiondbgError
from actiondbg.support.decoders import decoder_of


class Arguments(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """The arguments of a request; a client may send more fields than are declared."""


class NoArguments(Arguments, frozen=True):
    """The arguments of a request that needs none."""


class Body(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A part of what the server sends; fields with their default are left out."""


class IncomingMessage(msgspec.Struct, kw_only=True):
    """A message of the client: a request, or the response to a reverse request."""

    seq: int
    type: str
    command: str = ""
    arguments: msgspec.Raw = msgspec.Raw()
    success: bool = True
    message: str | None = None


class OutgoingMessage(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A response, an event or a reverse request; the fields that it lacks are left out."""

    seq: int = 0
    type: str
    request_seq: int | None = None
    success: bool | None = None
    command: str | None = None
    message: str | None = None
    event: str | None = None
    body: object = None
    arguments: object = None


class Source(Body):
    """A file, or a virtual document that the request ``source`` returns."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None
    origin: str | None = None


class Message(Body):
    id: int
    format: str


class ErrorResponse(Body):
    error: Message | None = None


class ExceptionBreakpointsFilter(Body):
    """A kind of event that can be caught."""

    filter: str
    label: str
    default: bool | None = None
    supports_condition: bool | None = None
    condition_description: str | None = None


class BreakpointMode(Body):
    """A way in which a breakpoint of a line stops."""

    mode: str
    label: str
    applies_to: list[str]


class Thread(Body):
    id: int
    name: str


class StackFrame(Body):
    """An action on the stack of actions."""

    id: int
    name: str
    line: int
    column: int
    source: Source | None = None
    can_restart: bool | None = None
    presentation_hint: Literal["normal", "label", "subtle"] | None = None


class Scope(Body):
    name: str
    variables_reference: int
    expensive: bool


class Variable(Body):
    name: str
    value: str
    variables_reference: int
    type: str | None = None
    evaluate_name: str | None = None


class Breakpoint(Body):
    """What became of a requested breakpoint."""

    verified: bool
    id: int | None = None
    message: str | None = None
    source: Source | None = None
    line: int | None = None
    reason: Literal["pending", "failed"] | None = None


class GotoTarget(Body):
    id: int
    label: str
    line: int


class CompletionItem(Body):
    label: str
    start: int | None = None
    length: int | None = None


class ExceptionDetails(Body):
    """What is known of a caught event."""

    message: str | None = None
    type_name: str | None = None
    stack_trace: str | None = None
    inner_exception: list[ExceptionDetails] | None = None


class SourceArgument(Arguments, frozen=True):
    """A ``Source`` that the client sends."""

    name: str | None = None
    path: str | None = None
    source_reference: int | None = None


class SourceBreakpoint(Arguments, frozen=True):
    line: int
    column: int | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    mode: str | None = None


class FunctionBreakpoint(Arguments, frozen=True):
    """A breakpoint by its name, which is a SPEC; ``logMessage`` is not of the specification."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class DataBreakpoint(Arguments, frozen=True):
    """A watch; ``logMessage`` is not of the specification."""

    data_id: str
    access_type: Literal["read", "write", "readWrite"] | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


class ExceptionFilterOptions(Arguments, frozen=True):
    """A kind of event to catch, and a condition on it."""

    filter_id: str
    condition: str | None = None


Category = Literal["console", "important", "stdout", "stderr"]


class EventBody(Body):
    """The body of an event, which is named by its class: ``StoppedEvent`` is ``stopped``."""

    @property
    def event(self) -> str:
        name = type(self).__name__.removesuffix("Event")
        return f"{name[0].lower()}{name[1:]}"


class InitializedEvent(EventBody):
    """The server is ready for breakpoints."""


class StoppedEvent(EventBody):
    reason: str
    description: str | None = None
    text: str | None = None
    thread_id: int | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: list[int] | None = None


class ExitedEvent(EventBody):
    exit_code: int


class TerminatedEvent(EventBody):
    """The debug session is over."""


class ProcessEvent(EventBody):
    name: str
    system_process_id: int | None = None
    is_local_process: bool | None = None
    start_method: Literal["launch", "attach"] | None = None


class OutputEvent(EventBody):
    category: Category
    output: str


class BreakpointEvent(EventBody):
    reason: Literal["changed", "new", "removed"]
    breakpoint: Breakpoint


class InvalidatedEvent(EventBody):
    """The client has to ask again."""

    areas: list[str] | None = None


class ProgressStartEvent(EventBody):
    progress_id: str
    title: str
    request_id: int | None = None
    cancellable: bool | None = None


class ProgressUpdateEvent(EventBody):
    progress_id: str
    message: str | None = None
    percentage: float | None = None


class ProgressEndEvent(EventBody):
    progress_id: str


class CursorMovedEvent(EventBody):
    """The cursor is elsewhere: the document of ``actiondbg/ir`` has to be read again."""

    operation: int | None = None

    @property
    def event(self) -> str:
        return "actiondbg/cursorMoved"


class StartDebuggingRequestArguments(Body):
    configuration: dict[str, object]
    request: Literal["launch", "attach"]


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
