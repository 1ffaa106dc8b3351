"""A client: its connection, what it can do, and the session that it debugs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from actiondbg.commands.dap.protocol.base import Arguments
from actiondbg.commands.dap.protocol.events import Category, EventBody, OutputEvent
from actiondbg.errors import UsageError

if TYPE_CHECKING:
    from actiondbg.commands.dap.breakpoint_groups import BreakpointGroups
    from actiondbg.commands.dap.connection import Connection
    from actiondbg.commands.dap.debuggee import Debuggee
    from actiondbg.commands.interpreter.declaration import CommandTable


class InitializeRequestArguments(Arguments, frozen=True):
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    supports_progress_reporting: bool = False
    supports_invalidated_event: bool = False
    supports_start_debugging_request: bool = False


class Interruptible(Protocol):
    """The requests that wait or run; see ``InFlight``."""

    def pause(self) -> None: ...
    def cancel(self, number: int) -> bool: ...


class Host(Protocol):
    """What requests use of the server; see ``Server``."""

    debuggee: Debuggee | None
    breakpoints: BreakpointGroups
    commands: CommandTable
    is_over: bool
    has_begun: bool

    @property
    def in_flight(self) -> Interruptible: ...
    def adopt(self, client: Client, process: str, token: str | None) -> None: ...
    def leave(self, client: Client) -> None: ...
    def restarted(self) -> None: ...
    def terminate(self, client: Client) -> None: ...


class Client:
    """A client of the server.

    Args:
        is_child: whether the client is for one process of the program only.

    Attributes:
        info: what the client is, and can do.
        process: the process of a child session; None in the first client.
    """

    def __init__(self, server: Host, connection: Connection, *, is_child: bool = False) -> None:
        self.server = server
        self.connection = connection
        self.info = InitializeRequestArguments()
        self.is_initialized = False
        self.is_child = is_child
        self.process: str | None = None

    @property
    def debuggee(self) -> Debuggee:
        """The session; raises UsageError before ``launch`` and ``attach``."""
        found = self.server.debuggee
        if found is None or (self.is_child and self.process is None):
            raise UsageError("Nothing is debugged: send 'launch' or 'attach' first.")
        return found

    def send(self, body: EventBody) -> None:
        self.connection.send_event(body.event, body)

    def show(self, category: Category, text: str) -> None:
        if text:
            self.send(OutputEvent(category=category, output=text))

    # Lines and columns count from 1 here, and as the client wants on the wire.

    def line(self, number: int) -> int:
        return number if self.info.lines_start_at1 else number - 1

    def column(self, number: int) -> int:
        return number if self.info.columns_start_at1 else number - 1

    def own_line(self, number: int) -> int:
        """Return a line of the client, from 1."""
        return number if self.info.lines_start_at1 else number + 1

    def own_column(self, number: int) -> int:
        """Return a column of the client, from 1."""
        return number if self.info.columns_start_at1 else number + 1
