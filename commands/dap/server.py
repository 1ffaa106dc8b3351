"""The server: it runs one request after another, in the main thread, and announces stops."""

from __future__ import annotations

import queue
import signal
import threading
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from actiondbg.commands.dap import requests as _requests  # which declares the handlers
from actiondbg.commands.dap.breakpoint_groups import BreakpointGroups
from actiondbg.commands.dap.client import Client
from actiondbg.commands.dap.connection import Connection
from actiondbg.commands.dap.debuggee import Debuggee
from actiondbg.commands.dap.declaration import HANDLERS, PREFIX, Handler
from actiondbg.commands.dap.progress import RequestProgress
from actiondbg.commands.dap.protocol.base import Arguments, IncomingMessage
from actiondbg.commands.dap.protocol.events import (
    BreakpointEvent,
    CursorMovedEvent,
    ExitedEvent,
    InvalidatedEvent,
    StoppedEvent,
    TerminatedEvent,
)
from actiondbg.commands.dap.protocol.types import ErrorResponse, Message
from actiondbg.commands.dap.requests.breakpoints import breakpoint_of
from actiondbg.commands.dap.stops import stopped_event, thread_number
from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.interpreter.internal_error import as_reported
from actiondbg.errors import ActiondbgError, NotStopped, UsageError
from actiondbg.support.decoders import decoder_of
from actiondbg.support.interrupts import raise_interrupt

if TYPE_CHECKING:
    from types import FrameType

    from actiondbg.commands.interpreter.declaration import CommandTable
    from actiondbg.process.stop import Stop

_SIGNALLED = 128

_ = _requests


class Interruption:
    """Interrupts the request that the main thread runs, from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: int | None = None  # the number of the request
        self._wanted: int | None = None  # that of the request to interrupt

    def install(self) -> None:
        """Handle SIGINT, by which a request is interrupted."""
        signal.signal(signal.SIGINT, self._handle)

    def begin(self, number: int) -> None:
        """Note the request that begins."""
        with self._lock:
            self._running = number

    def end(self) -> None:
        """Note that the request is over."""
        with self._lock:
            self._running = self._wanted = None

    def interrupt(self, number: int | None = None) -> bool:
        """Raise KeyboardInterrupt in the request that runs, or in a certain one, if it runs."""
        with self._lock:
            if self._running is None or number not in (None, self._running):
                return False
            self._wanted = self._running
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        # Not under the lock, which this thread may hold: a request that has ended is not wanted.
        if self._running is not None and self._wanted == self._running:
            raise_interrupt(number, frame)


class Server:
    """The server of one debug session.

    Args:
        commands: the commands of the debug console.

    Attributes:
        debuggee: the session, or None.
        breakpoints: what clients have set.
    """

    def __init__(self, commands: CommandTable) -> None:
        self.commands = commands
        self.debuggee: Debuggee | None = None
        self.breakpoints = BreakpointGroups()
        self.is_over = False
        self._inbox: queue.Queue[tuple[Client, IncomingMessage | None]] = queue.Queue()
        self._clients: list[Client] = []
        self._interruption = Interruption()
        self._cancelled: set[int] = set()
        self._queued: list[IncomingMessage] = []
        self._paused = False
        self._announced: Stop | None = None
        self._cursor: int | None = None
        self._is_terminated = False
        self._has_begun = False

    def add_client(self, reader: BinaryIO, writer: BinaryIO) -> None:
        """Begin to serve a client."""

        def receive(message: IncomingMessage | None) -> None:
            self._receive(client, message)

        connection = Connection(reader, writer, receive)
        client = Client(self, connection)
        self._clients.append(client)
        connection.start()

    def serve(self) -> None:
        """Handle requests until the client disconnects or vanishes."""
        self._interruption.install()
        try:
            while not self.is_over:
                client, message = self._inbox.get()
                if message is None:
                    return
                self._handle(client, message)
        finally:
            if self.debuggee is not None:
                self.debuggee.close()
            for client in self._clients:
                client.connection.close()

    # --- messages, in the thread that reads -------------------------------------

    def _receive(self, client: Client, message: IncomingMessage | None) -> None:
        if message is None:
            self.abandon()
            self._inbox.put((client, None))
        elif message.type == "request":
            handler = HANDLERS.get(message.command)
            if handler is not None and handler.at_once:
                self._respond(client, message, handler)
                return
            self._queued.append(message)
            self._inbox.put((client, message))

    def abandon(self) -> None:
        """Interrupt the request that runs, as the session will end."""
        if self.debuggee is not None:
            self.debuggee.abandon_waits()
        self._interruption.interrupt()

    def pause(self) -> None:
        """Stop the tool: now, or when a request that has been received has resumed it."""
        self._paused = True
        self._interruption.interrupt()

    def cancel(self, number: int) -> bool:
        """Cancel a request that waits or runs; return whether there is one."""
        if self._interruption.interrupt(number):
            return True
        if any(each.seq == number for each in list(self._queued)):
            self._cancelled.add(number)
            return True
        return False

    # --- requests, in the main thread -------------------------------------------

    def _handle(self, client: Client, message: IncomingMessage) -> None:
        self._queued.remove(message)
        if message.seq in self._cancelled:
            self._cancelled.discard(message.seq)
            client.connection.respond(message, error="cancelled")
            return
        handler = HANDLERS.get(message.command)
        if handler is None:
            self._refuse(client, message, f"There is no request {message.command!r}.")
            return
        try:
            try:
                self._interruption.begin(message.seq)
                self._respond(client, message, handler)
            finally:
                self._interruption.end()
        except KeyboardInterrupt:  # it came too late
            return

    def _respond(self, client: Client, message: IncomingMessage, handler: Handler) -> None:
        try:
            result = self._run(client, message, handler)
        except KeyboardInterrupt:
            client.connection.respond(message, error="cancelled")
            return
        except Exception as error:
            self._refuse(client, message, self._message_of(message.command, error), error)
            return
        if not handler.resumes:
            client.connection.respond(message, result)
            if not handler.at_once:
                self.announce(client)
            return
        client.connection.respond(message)
        self.resume(client, str(result), message.seq)

    def _run(self, client: Client, message: IncomingMessage, handler: Handler) -> object:
        try:
            raw = bytes(message.arguments)
            decoder: msgspec.json.Decoder[Arguments] = decoder_of(handler.arguments)
            arguments = decoder.decode(raw if raw not in (b"", b"null") else b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"The arguments of {handler.name!r} are wrong: {error}.") from error
        if handler.needs_session:
            _ = client.debuggee
        if handler.resumes and not handler.name.startswith(("configurationDone", "restart")):
            self._check_stopped()
        if not handler.is_long or not client.info.supports_progress_reporting:
            return handler.run(client, arguments)
        title = handler.name.removeprefix(PREFIX)
        with client.debuggee.showing(RequestProgress(client.send, message.seq, title)):
            return handler.run(client, arguments)

    def _check_stopped(self) -> None:
        if not self._has_begun:
            raise NotStopped("The tool is not running: send 'configurationDone', or 'restart'.")

    def _message_of(self, doing: str, error: Exception) -> str:
        if self.debuggee is not None:
            return self.debuggee.message_of(doing, error)
        return message_of(as_reported(error, doing))

    def _refuse(
        self,
        client: Client,
        message: IncomingMessage,
        text: str,
        error: Exception | None = None,
    ) -> None:
        # A word that clients know, and the sentence for the user.
        word = "notStopped" if isinstance(error, NotStopped) else text
        body = ErrorResponse(error=Message(id=1, format=text.replace("{", "(").replace("}", ")")))
        client.connection.respond(message, body, error=word)

    # --- stops ------------------------------------------------------------------

    def resume(self, client: Client, line: str, number: int) -> None:
        """Execute a command line that resumes the tool, and announce the stop."""
        debuggee = client.debuggee
        debuggee.handles.clear()
        self._has_begun = True
        try:
            if self._paused:
                raise KeyboardInterrupt
            done = debuggee.execute([line])
        except KeyboardInterrupt:
            done = None
        finally:
            self._paused = False
        if self.is_over:
            return
        if done is not None:
            self._print(client, done.text if debuggee.configuration.print_stops else "", done.notes)
        self.announce(client, by=line, is_new=True)

    def _print(self, client: Client, text: str, notes: str) -> None:
        client.show("important" if not text and notes else "console", notes)
        client.show("console", text)

    def announce(self, client: Client, *, by: str = "", is_new: bool = False) -> None:
        """Send events about a stop, or the end, that the client does not know yet."""
        debuggee = self.debuggee
        if debuggee is None or self.is_over or not self._has_begun:
            return
        stop = debuggee.stop
        if stop is self._announced and not is_new:
            self._announce_cursor(client, debuggee)
            return
        debuggee.flush()
        self._announced = stop
        if stop is None:
            if is_new:
                self.terminate(client)
            return
        debuggee.handles.clear()
        for changed in self.breakpoints.changed(debuggee):
            client.send(BreakpointEvent(reason="changed", breakpoint=breakpoint_of(changed)))
        if stop.when == "exit" and (debuggee.live is None or debuggee.live.way_on is None):
            self._announce_end(client, debuggee, stop)
            return
        self._cursor = self._cursor_of(debuggee)
        client.send(stopped_event(debuggee, stop, by))

    def _announce_end(self, client: Client, debuggee: Debuggee, stop: Stop) -> None:
        status = stop.status or 0
        client.send(ExitedEvent(exit_code=status if status >= 0 else _SIGNALLED - status))
        if debuggee.configuration.stop_at_end:
            client.send(
                StoppedEvent(
                    reason="exit",
                    description=stop.message,
                    thread_id=thread_number(stop),
                    all_threads_stopped=True,
                )
            )
            return
        self.terminate(client)

    def terminate(self, client: Client) -> None:
        """Announce the end of the debug session, once."""
        if not self._is_terminated:
            self._is_terminated = True
            client.send(TerminatedEvent())

    def _announce_cursor(self, client: Client, debuggee: Debuggee) -> None:
        if debuggee.session.state != "stopped":
            return
        cursor = self._cursor_of(debuggee)
        if cursor == self._cursor:
            return
        self._cursor = cursor
        client.send(CursorMovedEvent(operation=cursor))
        if client.info.supports_invalidated_event:
            client.send(InvalidatedEvent(areas=["variables"]))

    def _cursor_of(self, debuggee: Debuggee) -> int | None:
        try:
            return debuggee.session.cursor.get().unit.id
        except ActiondbgError:
            return None

    def restarted(self) -> None:
        """Note that the debug session begins again."""
        self._is_terminated = False
