"""Events and reverse requests of the server; each names itself in ``event`` or ``command``."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from actiondbg.commands.dap.protocol.base import Body
from actiondbg.commands.dap.protocol.types import Breakpoint, Source

Category = Literal["console", "important", "stdout", "stderr"]


class EventBody(Body):
    """The body of an event."""

    event: ClassVar[str]


class InitializedEvent(EventBody):
    """The server is ready for breakpoints."""

    event: ClassVar[str] = "initialized"


class StoppedEvent(EventBody):
    """The tool has stopped."""

    event: ClassVar[str] = "stopped"
    reason: str
    description: str | None = None
    text: str | None = None
    thread_id: int | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: list[int] | None = None


class ExitedEvent(EventBody):
    """The tool has ended."""

    event: ClassVar[str] = "exited"
    exit_code: int


class TerminatedEvent(EventBody):
    """The debug session is over."""

    event: ClassVar[str] = "terminated"


class ProcessEvent(EventBody):
    """A process is debugged."""

    event: ClassVar[str] = "process"
    name: str
    system_process_id: int | None = None
    is_local_process: bool | None = None
    start_method: Literal["launch", "attach"] | None = None


class OutputEvent(EventBody):
    """Output of the tool, or a message of the debugger."""

    event: ClassVar[str] = "output"
    category: Category
    output: str
    source: Source | None = None
    line: int | None = None


class BreakpointEvent(EventBody):
    """What is known of a breakpoint has changed."""

    event: ClassVar[str] = "breakpoint"
    reason: Literal["changed", "new", "removed"]
    breakpoint: Breakpoint


class InvalidatedEvent(EventBody):
    """The client has to ask again."""

    event: ClassVar[str] = "invalidated"
    areas: list[str] | None = None


class ProgressStartEvent(EventBody):
    """A long request has begun."""

    event: ClassVar[str] = "progressStart"
    progress_id: str
    title: str
    request_id: int | None = None
    cancellable: bool | None = None
    message: str | None = None
    percentage: float | None = None


class ProgressUpdateEvent(EventBody):
    """A long request goes on."""

    event: ClassVar[str] = "progressUpdate"
    progress_id: str
    message: str | None = None
    percentage: float | None = None


class ProgressEndEvent(EventBody):
    """A long request is over."""

    event: ClassVar[str] = "progressEnd"
    progress_id: str
    message: str | None = None


class CursorMovedEvent(EventBody):
    """The cursor is elsewhere: the document of ``actiondbg/ir`` has to be read again."""

    event: ClassVar[str] = "actiondbg/cursorMoved"
    operation: int | None = msgspec.field(default=None)


class StartDebuggingRequestArguments(Body):
    """The configuration of a child session."""

    configuration: dict[str, object]
    request: Literal["launch", "attach"]
