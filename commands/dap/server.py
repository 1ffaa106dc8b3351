"""The server: it runs requests one by one in the main thread, over streams or a port."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from actiondbg.commands.dap import requests as _requests  # which declares the handlers
from actiondbg.commands.dap.breakpoint_groups import BreakpointGroups
from actiondbg.commands.dap.children import ChildSessions
from actiondbg.commands.dap.client import Client
from actiondbg.commands.dap.connection import Connection
from actiondbg.commands.dap.debuggee import Debuggee, Executed
from actiondbg.commands.dap.declaration import HANDLERS, PREFIX, Handler
from actiondbg.commands.dap.in_flight import InFlight, Waiting
from actiondbg.commands.dap.progress import RequestProgress
from actiondbg.commands.dap.protocol.base import Arguments, IncomingMessage
from actiondbg.commands.dap.protocol.events import (
    BreakpointEvent,
    CursorMovedEvent,
    ExitedEvent,
    InvalidatedEvent,
    ProcessEvent,
    StoppedEvent,
    TerminatedEvent,
)
from actiondbg.commands.dap.protocol.types import ErrorResponse, Message
from actiondbg.commands.dap.stops import stopped_event, thread_number
from actiondbg.commands.interpreter.error_text import message_of
from actiondbg.commands.interpreter.internal_error import as_reported
from actiondbg.errors import ActiondbgError, NotStopped, ToolGone, UsageError
from actiondbg.support.decoders import decoder_of
from actiondbg.support.loopback import HOST, listen

if TYPE_CHECKING:
    from types import FrameType

    from actiondbg.commands.interpreter.declaration import CommandTable
    from actiondbg.process.stop import Stop

_SIGNALLED = 128
_ENDING = (signal.SIGTERM, signal.SIGHUP)

_ = _requests
_GONE = IncomingMessage(seq=0, type="response", success=False)  # a client, or its child session


class Server:
    """The server of one debug session.

    Attributes:
        breakpoints: what clients have set.
        is_over: whether the debug session ends.
        has_begun: whether the tool has been started.
    """

    def __init__(self, commands: CommandTable) -> None:
        self.commands = commands
        self.debuggee: Debuggee | None = None
        self.breakpoints = BreakpointGroups()
        self.is_over = False
        self.in_flight = InFlight()
        self._clients: list[Client] = []
        self._announced: Stop | None = None
        self._children = ChildSessions(self._add_child, self._give_up_child)
        self._cursor: int | None = None
        self._process: str | None = None
        self._signal: int | None = None
        self._is_terminated = False
        self.has_begun = False

    def add_client(self, reader: BinaryIO, writer: BinaryIO, *, is_child: bool = False) -> None:
        """Begin to serve a client, or the client of a child session."""

        def receive(message: IncomingMessage | None) -> None:
            self._receive(client, message)

        connection = Connection(reader, writer, receive)
        client = Client(self, connection, is_child=is_child)
        self._clients.append(client)
        connection.start()

    def add_socket(self, connection: socket.socket, *, is_child: bool = False) -> None:
        """Begin to serve the client at a connection; see ``add_client``."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.add_client(connection.makefile("rb"), connection.makefile("wb"), is_child=is_child)

    def _add_child(self, connection: socket.socket) -> None:
        self.add_socket(connection, is_child=True)
        connection.close()  # when the streams of the client are closed

    @property
    def _root(self) -> Client:
        return self._clients[0]

    def serve(self) -> None:
        """Handle requests until the client disconnects or vanishes."""
        self.in_flight.install()
        handlers = {each: signal.signal(each, self._end_on_signal) for each in _ENDING}
        try:
            while not self.is_over and (request := self.in_flight.next()) is not None:
                self._handle(request)
                self.in_flight.finished()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            self._children.close()
            if self.debuggee is not None:
                self.debuggee.close()
            for client in self._clients:
                client.connection.close()
        if self._signal is not None:
            sys.exit(_SIGNALLED + self._signal)

    def _end_on_signal(self, number: int, _: FrameType | None) -> None:
        """End, but not by an exception, which an import would swallow."""
        self._signal = number
        self._give_up_waits()
        self.in_flight.end()

    # --- messages, in the thread that reads -------------------------------------

    def _receive(self, client: Client, message: IncomingMessage | None) -> None:
        if message is None and client.is_child:
            self.in_flight.add(Waiting(client, _GONE, None))
        elif message is None:
            self._give_up_waits()
            self.in_flight.end()
        elif message.type == "response" and not message.success:
            self.in_flight.add(Waiting(client, message, None))  # to startDebugging
        elif message.type == "request":
            handler = HANDLERS.get(message.command)
            request = Waiting(client, message, handler)
            if handler is not None and handler.at_once:
                self._respond(request, handler)
                return
            if handler is not None and handler.ends_run and not client.is_child:
                self._give_up_waits()
            self.in_flight.add(request)

    def _give_up_child(self, process: str) -> None:
        """Let the first client have a process; called in a thread."""
        message = msgspec.structs.replace(_GONE, message=process)
        self.in_flight.add(Waiting(self._root, message, None))

    def _give_up_waits(self) -> None:
        """Let the interruption of a wait for the tool leave the tool running."""
        if self.debuggee is not None:
            self.debuggee.stops_when_interrupted = False

    # --- requests, in the main thread -------------------------------------------

    def _handle(self, request: Waiting) -> None:
        if request.message.type == "response":
            process = request.message.message if request.client is self._root else None
            self.leave(request.client, process)
            return
        if request.handler is None:
            self._refuse(request, f"There is no request {request.message.command!r}.")
        else:
            self._respond(request, request.handler)

    def _respond(self, request: Waiting, handler: Handler) -> None:
        client = request.client
        if request.is_cancelled:
            client.connection.respond(request.message, error="cancelled")
            return
        is_quick = handler.at_once or handler.ends_run or handler.resumes
        allowed = contextlib.nullcontext() if is_quick else self.in_flight.interruptible()
        try:
            with allowed:
                result = self._run(request, handler)
        except KeyboardInterrupt:
            client.connection.respond(request.message, error="cancelled")
            return
        except Exception as error:
            self._refuse(request, self._message_of(request.message.command, error), error)
            if isinstance(error, ToolGone):
                self.announce(client)
            return
        if not handler.resumes:
            client.connection.respond(request.message, result)
            if handler.is_command:
                self._quit_if_told(client.debuggee)
                self.announce(client)
            return
        client.connection.respond(request.message)
        self._resume(client, str(result))

    def _run(self, request: Waiting, handler: Handler) -> object:
        client = request.client
        try:
            raw = bytes(request.message.arguments)
            decoder: msgspec.json.Decoder[Arguments] = decoder_of(handler.arguments)
            arguments = decoder.decode(raw if raw not in (b"", b"null") else b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"The arguments of {handler.name!r} are wrong: {error}.") from error
        if handler.needs_session:
            _ = client.debuggee
        if handler.ends_run and self.debuggee is not None:
            self.debuggee.stops_when_interrupted = True
        if handler.resumes and not handler.begins and not self.has_begun:
            raise NotStopped("The tool is not running: send 'configurationDone'.")
        if not handler.is_long or not client.info.supports_progress_reporting:
            return handler.run(client, arguments)
        title = handler.name.removeprefix(PREFIX)
        with client.debuggee.showing(RequestProgress(client.send, request.message.seq, title)):
            return handler.run(client, arguments)

    def _message_of(self, doing: str, error: Exception) -> str:
        if self.debuggee is not None:
            return self.debuggee.message_of(doing, error)
        return message_of(as_reported(error, doing))

    def _refuse(self, request: Waiting, text: str, error: Exception | None = None) -> None:
        # A word that clients know, and the sentence for the user.
        word = "notStopped" if isinstance(error, NotStopped) else text
        body = ErrorResponse(error=Message(id=1, format=text.replace("{", "(").replace("}", ")")))
        request.client.connection.respond(request.message, body, error=word)

    # --- stops ------------------------------------------------------------------

    def _resume(self, client: Client, line: str) -> None:
        """Execute a command line that resumes the tool, and announce the stop."""
        debuggee = client.debuggee
        if not line:  # a child session has begun, at this stop
            self.announce(client, is_new=True)
            return
        debuggee.handles.clear()
        self.has_begun = True
        if debuggee.session.state == "not-running" and self.in_flight.was_interrupted():
            line = "start"
        done = self._execute(debuggee, line)
        while changes := self.in_flight.changes():
            for request in changes:
                self._handle(request)
            # It was interrupted only for these requests: before it ran, or while it ran.
            if done is None:
                done = self._execute(debuggee, line)
            elif debuggee.stop is not None and debuggee.stop.reason == "interrupt":
                done = self._execute(debuggee, "continue")
        if done is None and debuggee.stops_when_interrupted and debuggee.stop is None:
            done = self._execute(debuggee, "start")  # it was interrupted before it ran
        if debuggee.session.state == "running":
            return  # the wait was given up, for a request that ends the run
        if done is not None:
            text = done.text if debuggee.configuration.print_stops else ""
            client.show("important" if not text and done.notes else "console", done.notes)
            client.show("console", text)
        self.announce(client, by="pause" if done is None else line, is_new=True)

    def _execute(self, debuggee: Debuggee, line: str) -> Executed | None:
        """Execute a command line that resumes the tool; return None if it was interrupted."""
        try:
            with self.in_flight.interruptible():
                return debuggee.execute([line])
        except KeyboardInterrupt:
            return None

    def announce(self, client: Client, *, by: str = "", is_new: bool = False) -> None:
        """Send events about a stop, or the end, that the client does not know yet."""
        debuggee = self.debuggee
        if debuggee is None or self.is_over or not self.has_begun:
            return
        stop = debuggee.stop
        if stop is self._announced and not is_new:
            self._announce_cursor(client, debuggee)
            return
        debuggee.flush()
        self._announced = stop
        if stop is None:
            self.terminate(client)  # it was killed
            return
        debuggee.handles.clear()
        for changed in self.breakpoints.changed(debuggee):
            client.send(BreakpointEvent(reason="changed", breakpoint=changed.reported))
        if stop.when == "exit" and (debuggee.live is None or debuggee.live.way_on is None):
            self._announce_end(client, debuggee, stop)
            return
        owner = self._owner(debuggee, stop)
        if owner is None:
            return  # the stop is announced to the child session, once it has begun
        self._cursor = stop.cursor_id
        self._announce_process(owner, debuggee, stop)
        owner.send(stopped_event(debuggee, stop, by))

    def _owner(self, debuggee: Debuggee, stop: Stop) -> Client | None:
        """Return the client of the process of a stop; end the child sessions of ended processes."""
        if debuggee.live is None or stop.process is None:
            return self._root
        processes = debuggee.live.processes
        for child, status in self._children.ended(processes):
            child.send(ExitedEvent(exit_code=status if status >= 0 else _SIGNALLED - status))
            child.send(TerminatedEvent())
        found = [each for each in processes if each.name == stop.process]
        return self._children.owner(self._root, found[0]) if found else self._root

    def _quit_if_told(self, debuggee: Debuggee) -> None:
        """End the tool and the debug session after the command ``quit``."""
        if debuggee.console.quitting:
            debuggee.console.quitting = False  # 'restart' begins anew
            if debuggee.live is not None:
                debuggee.live.kill()
            self.terminate(self._root)

    def _announce_process(self, client: Client, debuggee: Debuggee, stop: Stop) -> None:
        """Announce the process of a program in which the tool is stopped now."""
        if stop.process is None or stop.process == self._process or debuggee.live is None:
            return
        self._process = stop.process
        for each in debuggee.live.processes:
            if each.name == stop.process:
                name = f"{each.name}: {shlex.join(each.command)}"
                client.send(ProcessEvent(name=name, system_process_id=each.pid))

    def _announce_end(self, client: Client, debuggee: Debuggee, stop: Stop) -> None:
        self._owner(debuggee, stop)
        client = self._root
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

    def adopt(self, client: Client, process: str, token: str | None) -> None:
        """Assign a process of the program to a client; see ``ChildSessions``."""
        self._children.adopt(client, process, token)

    def leave(self, client: Client, process: str | None = None) -> None:
        """Give the process of a client that is gone, or a given process, to the first client."""
        stop = None if self.debuggee is None else self.debuggee.stop
        if client is not self._root:
            process = client.process
        elif process is None or not self._children.is_offered(process):
            process = None if stop is None else stop.process
        if process is None:
            return
        self._children.leave(process)
        if stop is not None and stop.process == process and stop.when != "exit":
            self.announce(self._root, is_new=True)

    def restarted(self) -> None:
        """Note that the debug session begins again."""
        self._is_terminated = False


def serve_streams(reader: int, writer: int, commands: CommandTable) -> None:
    """Serve one client.

    Args:
        reader: the file descriptor of its messages; owned by this function.
        writer: that for messages to it; likewise.
    """
    for number in (reader, writer):
        os.set_inheritable(number, False)
    # What else reads or writes the standard streams would break the protocol.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    server = Server(commands)
    server.add_client(os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))
    server.serve()


def serve_port(port: int, commands: CommandTable, announce: Callable[[str], None]) -> int:
    """Serve one client after the other, until Ctrl-C.

    Args:
        port: of the loopback; 0 for a free one.
        announce: takes a line with the port.

    Raises:
        UsageError: the port cannot be used.
    """
    listener, port = listen(port)
    with listener:
        announce(f"Listening on {HOST}:{port}.")
        while True:
            connection, _ = listener.accept()
            _serve_socket(connection, commands)


def _serve_socket(connection: socket.socket, commands: CommandTable) -> None:
    with connection:
        server = Server(commands)
        server.add_socket(connection)
        server.serve()
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
