"""Events and reverse requests of the server."""

from __future__ import annotations

from typing import Literal

from actiondbg.commands.dap.protocol.base import Body
from actiondbg.commands.dap.protocol.types import Breakpoint

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
