"""The types that arguments and bodies have in common."""

from __future__ import annotations

from typing import Literal

from actiondbg.commands.dap.protocol.base import Arguments, Body


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
