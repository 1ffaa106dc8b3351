"""The messages of the Debug Adapter Protocol, named and spelt as in its specification.

May import nothing of actiondbg.
"""

from __future__ import annotations

from typing import Literal

import msgspec


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
    """A breakpoint by its name, which is a SPEC."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None


class DataBreakpoint(Arguments, frozen=True):
    """A watch."""

    data_id: str
    access_type: Literal["read", "write", "readWrite"] | None = None
    condition: str | None = None
    hit_condition: str | None = None


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
