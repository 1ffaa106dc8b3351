"""The server: it runs requests one by one in the main thread, over streams or a port."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from actiondbg.commands.dap import protocol
from actiondbg.commands.dap.breakpoint_groups import BreakpointGroups
from actiondbg.commands.dap.debuggee import (
    Debuggee,
    Executed,
    RequestProgress,
    stopped_event,
    thread_number,
)
from actiondbg.commands.dap.handlers import NO_HANDLER, PREFIX, Handler, InFlight, Waiting
from actiondbg.commands.dap.protocol import Arguments, Connection
from actiondbg.commands.interpreter.error_text import as_reported, message_of
from actiondbg.errors import ActiondbgError, NotStopped, ToolGone, UsageError
from actiondbg.support.decoders import decoder_of
from actiondbg.support.interrupts import exit_code
from actiondbg.support.loopback import HOST, listen

if TYPE_CHECKING:
    from types import FrameType

    from actiondbg.commands.interpreter.declaration import CommandTable
    from actiondbg.process.program_run import FollowedProcess
    from actiondbg.process.stop import Stop

_ENDING = (signal.SIGTERM, signal.SIGHUP)
_PATIENCE_SECONDS = 15.0  # for an editor to start a child session
# Of a client that is gone, or of its child session.
_GONE = protocol.IncomingMessage(seq=0, type="response", success=False)


class InitializeRequestArguments(Arguments, frozen=True):
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    supports_progress_reporting: bool = False
    supports_invalidated_event: bool = False
    supports_start_debugging_request: bool = False


class Client:
    """A client of the server.

    Args:
        is_child: whether the client is for one process of the program only.

    Attributes:
        info: what the client is, and can do.
        process: the process of a child session; None in the first client.
    """

    def __init__(self, server: Server, connection: Connection, *, is_child: bool = False) -> None:
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

    def send(self, body: protocol.EventBody) -> None:
        self.connection.send_event(body.event, body)

    def show(self, category: protocol.Category, text: str) -> None:
        if text:
            self.send(protocol.OutputEvent(category=category, output=text))

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


class ChildSessions:
    """The clients of the processes of a program, beside the client that has started it.

    The first client has the first process, and each process for which the editor starts no child
    session.

    Args:
        accept: begins to serve a connection of a child.
        give_up: called in a thread, if an editor starts no session for a process.
    """

    def __init__(
        self, accept: Callable[[socket.socket], None], give_up: Callable[[str], None]
    ) -> None:
        self._accept = accept
        self._give_up = give_up
        self._listener: socket.socket | None = None
        self._token = secrets.token_hex(16)
        self._clients: dict[str, Client] = {}
        self._first: str | None = None
        self._offered: dict[str, threading.Timer] = {}
        self._without = set[str]()  # processes of the first client

    def owner(self, root: Client, process: FollowedProcess) -> Client | None:
        """Return the client of a process; None if an editor is asked to start one."""
        name = process.name
        self._first = self._first or name
        if name in self._clients:
            return self._clients[name]
        can_start = root.info.supports_start_debugging_request
        if name == self._first or name in self._without or not can_start:
            return root
        if name not in self._offered:
            self._offer(root, process)
        return None

    def adopt(self, client: Client, process: str, token: str | None) -> None:
        """Assign a process to a client.

        Raises:
            UsageError: the token is wrong, or the editor was not asked to start a session for the
                process.
        """
        if token is None or not secrets.compare_digest(token, self._token):
            raise UsageError("The token of the child session is wrong.")
        timer = self._offered.get(process)
        if timer is None or process in self._clients:
            raise UsageError(f"There is no process {process!r} without a session.")
        timer.cancel()
        self._clients[process] = client
        client.process = process

    def is_offered(self, process: str) -> bool:
        """Whether an editor was asked to start a session for a process."""
        return process in self._offered

    def leave(self, process: str) -> None:
        """Give a process to the first client."""
        self._without.add(process)
        if process in self._offered:
            self._offered[process].cancel()
        self._clients.pop(process, None)

    def ended(self, processes: list[FollowedProcess]) -> list[tuple[Client, int]]:
        """Return the clients of processes that have ended, with the statuses; once."""
        found: list[tuple[Client, int]] = []
        for each in processes:
            if each.state == "exited" and each.name in self._clients:
                found.append((self._clients.pop(each.name), each.status or 0))
                self._without.add(each.name)
        return found

    def close(self) -> None:
        """Accept no more clients."""
        for each in self._offered.values():
            each.cancel()
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _offer(self, root: Client, process: FollowedProcess) -> None:
        name = process.name
        self._offered[name] = threading.Timer(_PATIENCE_SECONDS, self._give_up, (name,))
        self._offered[name].daemon = True
        self._offered[name].start()
        configuration: dict[str, object] = {
            "type": "actiondbg",
            "request": "attach",
            "name": f"{name}: {shlex.join(process.command)}",
            "process": name,
            "token": self._token,
            "debugServer": self._listen(),
        }
        arguments = protocol.StartDebuggingRequestArguments(
            configuration=configuration, request="attach"
        )
        root.connection.send_request("startDebugging", arguments)

    def _listen(self) -> int:
        if self._listener is None:
            self._listener, _ = listen()
            threading.Thread(target=self._serve, args=(self._listener,), daemon=True).start()
        port: int = self._listener.getsockname()[1]
        return port

    def _serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self._accept(connection)


class Request(Waiting, eq=False, kw_only=True):
    client: Client


class Server:
    """The server of one debug session.

    Attributes:
        breakpoints: what clients have set.
        is_over: whether the debug session ends.
        has_begun: whether the tool has been started.
        is_terminated: whether the end of the debug session was announced.
    """

    def __init__(self, handlers: Mapping[str, Handler], commands: CommandTable) -> None:
        self._handlers = handlers
        self.commands = commands
        self.debuggee: Debuggee | None = None
        self.breakpoints = BreakpointGroups()
        self.is_over = False
        self.in_flight = InFlight[Request]()
        self._clients: list[Client] = []
        self._announced: Stop | None = None
        self.children = ChildSessions(self._add_child, self._give_up_child)
        self._cursor: int | None = None
        self._process: str | None = None
        self._signal: int | None = None
        self.is_terminated = False
        self.has_begun = False

    def add_client(self, reader: BinaryIO, writer: BinaryIO, *, is_child: bool = False) -> None:
        """Begin to serve a client, or the client of a child session."""

        def receive(message: protocol.IncomingMessage | None) -> None:
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
            self.children.close()
            if self.debuggee is not None:
                self.debuggee.close()
            for client in self._clients:
                client.connection.close()
        if self._signal is not None:
            sys.exit(128 + self._signal)

    def _end_on_signal(self, number: int, _: FrameType | None) -> None:
        """End, but not by an exception, which an import would swallow."""
        self._signal = number
        self._give_up_waits()
        self.in_flight.end()

    # --- messages, in the thread that reads -------------------------------------

    def _receive(self, client: Client, message: protocol.IncomingMessage | None) -> None:
        if message is None and client.is_child:
            self.in_flight.add(Request(_GONE, NO_HANDLER, client=client))
        elif message is None:
            self._give_up_waits()
            self.in_flight.end()
        elif message.type == "response" and not message.success:
            self.in_flight.add(Request(message, NO_HANDLER, client=client))  # to startDebugging
        elif message.type == "request":
            handler = self._handlers.get(message.command, NO_HANDLER)
            request = Request(message, handler, client=client)
            if handler.at_once:
                self._respond(request)
                return
            if handler.ends_run and not client.is_child:
                self._give_up_waits()
            self.in_flight.add(request)

    def _give_up_child(self, process: str) -> None:
        """Let the first client have a process; called in a thread."""
        message = msgspec.structs.replace(_GONE, message=process)
        self.in_flight.add(Request(message, NO_HANDLER, client=self._root))

    def _give_up_waits(self) -> None:
        """Let the interruption of a wait for the tool leave the tool running."""
        if self.debuggee is not None:
            self.debuggee.console.interactive = False

    # --- requests, in the main thread -------------------------------------------

    def _handle(self, request: Request) -> None:
        if request.message.type == "response":
            process = request.message.message if request.client is self._root else None
            self.leave(request.client, process)
            return
        if request.handler is NO_HANDLER:
            self._refuse(request, f"There is no request {request.message.command!r}.")
        else:
            self._respond(request)

    def _respond(self, request: Request) -> None:
        client, handler = request.client, request.handler
        if request.is_cancelled:
            client.connection.respond(request.message, error="cancelled")
            return
        is_quick = handler.at_once or handler.ends_run or handler.resumes
        allowed = contextlib.nullcontext() if is_quick else self.in_flight.interruptible()
        try:
            with allowed:
                result = self._run(request)
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

    def _run(self, request: Request) -> object:
        client, handler = request.client, request.handler
        try:
            raw = bytes(request.message.arguments)
            decoder: msgspec.json.Decoder[Arguments] = decoder_of(handler.arguments)
            arguments = decoder.decode(raw if raw not in (b"", b"null") else b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"The arguments of {handler.name!r} are wrong: {error}.") from error
        if handler.needs_session:
            _ = client.debuggee
        if handler.ends_run and self.debuggee is not None:
            self.debuggee.console.interactive = True
        if handler.resumes and not handler.begins and not self.has_begun:
            raise NotStopped("The tool is not running: send 'configurationDone'.")
        if not handler.is_long or not client.info.supports_progress_reporting:
            return handler.run(client, arguments)
        title = handler.name.removeprefix(PREFIX)
        with client.debuggee.showing(RequestProgress(client.send, request.message.seq, title)):
            return handler.run(client, arguments)

    def _message_of(self, doing: str, error: Exception) -> str:
        if self.debuggee is not None:
            return message_of(self.debuggee.interpreter.reported(doing, error))
        return message_of(as_reported(error, doing))

    def _refuse(self, request: Request, text: str, error: Exception | None = None) -> None:
        # A word that clients know, and the sentence for the user.
        word = "notStopped" if isinstance(error, NotStopped) else text
        body = protocol.ErrorResponse(
            error=protocol.Message(id=1, format=text.replace("{", "(").replace("}", ")"))
        )
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
        if done is None and debuggee.console.interactive and debuggee.stop is None:
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
            client.send(protocol.BreakpointEvent(reason="changed", breakpoint=changed.reported))
        if stop.when == "exit" and (debuggee.live is None or debuggee.live.way_on is None):
            self._announce_end(client, debuggee, stop)
            return
        owner = self._owner(debuggee, stop)
        if owner is None:
            return  # the stop is announced to the child session, once it has begun
        self._cursor = stop.cursor_id
        self._announce_process(owner, debuggee, stop)
        owner.send(stopped_event(stop, by))

    def _owner(self, debuggee: Debuggee, stop: Stop) -> Client | None:
        """Return the client of the process of a stop; end the child sessions of ended processes."""
        if debuggee.live is None or stop.process is None:
            return self._root
        processes = debuggee.live.processes
        for child, status in self.children.ended(processes):
            child.send(protocol.ExitedEvent(exit_code=exit_code(status)))
            child.send(protocol.TerminatedEvent())
        found = [each for each in processes if each.name == stop.process]
        return self.children.owner(self._root, found[0]) if found else self._root

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
                client.send(protocol.ProcessEvent(name=name, system_process_id=each.pid))

    def _announce_end(self, client: Client, debuggee: Debuggee, stop: Stop) -> None:
        self._owner(debuggee, stop)
        client = self._root
        status = stop.status or 0
        client.send(protocol.ExitedEvent(exit_code=exit_code(status)))
        if debuggee.configuration.stop_at_end:
            client.send(
                protocol.StoppedEvent(
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
        if not self.is_terminated:
            self.is_terminated = True
            client.send(protocol.TerminatedEvent())

    def _announce_cursor(self, client: Client, debuggee: Debuggee) -> None:
        if debuggee.session.state != "stopped":
            return
        cursor = self._cursor_of(debuggee)
        if cursor == self._cursor:
            return
        self._cursor = cursor
        client.send(protocol.CursorMovedEvent(operation=cursor))
        if client.info.supports_invalidated_event:
            client.send(protocol.InvalidatedEvent(areas=["variables"]))

    def _cursor_of(self, debuggee: Debuggee) -> int | None:
        try:
            return debuggee.session.cursor.get().unit.id
        except ActiondbgError:
            return None

    def leave(self, client: Client, process: str | None = None) -> None:
        """Give the process of a client that is gone, or a given process, to the first client."""
        stop = None if self.debuggee is None else self.debuggee.stop
        if client is not self._root:
            process = client.process
        elif process is None or not self.children.is_offered(process):
            process = None if stop is None else stop.process
        if process is None:
            return
        self.children.leave(process)
        if stop is not None and stop.process == process and stop.when != "exit":
            self.announce(self._root, is_new=True)


def serve_streams(
    reader: int, writer: int, handlers: Mapping[str, Handler], commands: CommandTable
) -> None:
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
    server = Server(handlers, commands)
    server.add_client(os.fdopen(reader, "rb"), os.fdopen(writer, "wb"))
    server.serve()


def serve_port(
    port: int,
    handlers: Mapping[str, Handler],
    commands: CommandTable,
    announce: Callable[[str], None],
) -> int:
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
            with connection:
                server = Server(handlers, commands)
                server.add_socket(connection)
                server.serve()
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
