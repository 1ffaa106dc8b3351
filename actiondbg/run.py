"""One run of the tool, from its start to its end."""

from __future__ import annotations

from typing import Literal, TypeVar

from actiondbg import protocol
from actiondbg.client import Client, ConnectionEnded, decode_notification, quoted
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ProtocolError, ToolGone
from actiondbg.process import Listener, Process
from actiondbg.replica import Forks, Replica
from actiondbg.stop import Stop, exit_of, stop_of
from actiondbg.waiting import HeldInterrupts

R = TypeVar("R", bound=protocol.Message)

RunState = Literal["running", "stopped", "exited"]


class Run:
    """A process of the tool and the connection to its agent.

    ``wait`` first takes it to where it runs: the agent connects, says hello, forks the origin,
    gets the breakpoints, is resumed. Each of these steps is done once, or can be done twice, so
    that an interrupted ``wait`` is gone on with by the next.

    The origin is a replica that stays where the run began. It outlives the tool's end, so that the
    run can be repeated then too, and goes with ``kill``.

    Args:
        process: the tool, just started.
        listener: what its agent connects to.
        control: how it is resumed after its hello.
        breakpoints: to set before.

    Attributes:
        options: what the agent is told before the first action.
        last: the newest stop before the end, or None.
        skipped: the ordinals of the actions that were skipped.
    """

    def __init__(
        self,
        process: Process,
        listener: Listener,
        control: protocol.Control,
        breakpoints: list[protocol.WireBreakpoint],
    ) -> None:
        self.hello: protocol.Hello | None = None
        self.stop: Stop | None = None
        self.last: Stop | None = None
        self.hits: list[protocol.Hits] = []
        self.skipped: list[int] = []
        self.options = protocol.SetOptions()
        self._process = process
        self._listener = listener
        self._control: protocol.Control = control
        self._breakpoints = breakpoints
        self._held = HeldInterrupts()
        self._forks = Forks(listener.path.parent, self._held)
        self._origin: Replica | None = None
        self._no_origin: str | None = None
        self._client: Client | None = None
        self._running = True
        self._resumed: int | None = None
        self._interrupt_wanted = False
        self._interrupted = False
        self._exited: protocol.Exited | None = None
        self._crashed: protocol.Crashed | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def state(self) -> RunState:
        if self._running:
            return "running"
        return "exited" if self.stop and self.stop.when == "exit" else "stopped"

    @property
    def has_origin(self) -> bool:
        """Whether the run can be repeated."""
        return self._origin is not None and not self._origin.is_closed

    @property
    def origin(self) -> Replica:
        """The frozen beginning of the run; raises NoAnswer when there is none, saying why."""
        if self._origin is not None and not self._origin.is_closed:
            return self._origin
        gone = "Its frozen beginning has ended." if self.hello else "It made no MLIR context."
        why = self._no_origin or gone
        raise NoAnswer(f"The past of this run cannot be looked at: {why[:1].lower()}{why[1:]}")

    def request(self, message: protocol.Request[R], seconds: float | None = None) -> R:
        """Ask the stopped agent.

        Args:
            message: the request.
            seconds: to wait at most; None for as long as it takes.

        Raises:
            NotStopped: the tool runs, or has ended.
            AgentError: the agent refused.
            ToolGone: the tool ended instead of answering.
            TimeoutError: nothing came back in time.
        """
        with self._held:
            client = self._stopped_client()
            try:
                return client.request(message, seconds)
            except ConnectionEnded as ended:
                stop = self._end(ended.rest)
                raise ToolGone(stop.message or "The tool has ended.") from ended
            except ProtocolError:
                self.kill()
                raise

    def resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Let the tool go on to the next stop.

        Raises:
            NotStopped, AgentError, ProtocolError: see ``request``; after an AgentError the tool
                stands where it stood.
        """
        with self._held:
            client = self._stopped_client()
            skips = control == "skip" and self.stop is not None and self.stop.when == "before"
            if skips and self.stop is not None:
                self.skipped.append(self.stop.ordinal)
            self._resumed = client.send(protocol.Resume(control=control, count=count, until=until))
            self._running, self._interrupted = True, False
            try:
                return self.wait()
            except AgentError:
                if skips:
                    self.skipped.pop()
                raise

    def interrupt(self) -> None:
        """Have the tool stop before its next action, or at once if it was asked before; return."""
        if self._running and self._resumed is not None and self._client is not None:
            with self._held:
                self._client.notify(protocol.Interrupt(force=self._interrupted))
                self._interrupted = True
        elif self._running:
            self._interrupt_wanted = True

    def wait(self) -> Stop:
        """Wait for the next stop, or return that at which the tool stands.

        Raises:
            ProtocolError: the agent sent what it must not; the tool is killed.
            AgentError: the agent refused the breakpoints, which ends the tool, or the control.
        """
        with self._held:
            try:
                while self._running:
                    self._advance()
            except ConnectionEnded as ended:
                return self._end(ended.rest)
            except ProtocolError:
                self.kill()
                raise
        if self.stop is None:
            raise NotStopped("The tool is not stopped.")
        return self.stop

    def kill(self) -> None:
        """End the tool, its children, its replicas and the connections."""
        with self._held:
            status = self._process.end(kill=True)
            self._forks.close()
            self._close()
            if self._running or self.stop is None or self.stop.when != "exit":
                self._set_exit(status)

    def _advance(self) -> None:
        """Take the next step towards a stop."""
        if self._client is None:
            self._connect()
        elif self.hello is None:
            self.hello = self._client.receive_hello()
        elif self._origin is None and self._no_origin is None:
            self._make_origin(self._client, self.hello)
        elif self._resumed is None:
            self._begin(self._client)
        else:
            self._take(self._client, self._resumed)

    def _connect(self) -> None:
        connection = self._listener.accept(self._process.pidfd, self._held)
        if connection is None:
            raise ConnectionEnded
        self._listener.close()
        self._client = Client(connection, self._process.pidfd, self._held)

    def _make_origin(self, client: Client, hello: protocol.Hello) -> None:
        """Keep the beginning of the run; without it all goes on but the questions of the past."""
        if "fork" not in hello.capabilities:
            self._no_origin = "The agent in this tool cannot fork it."
            return
        try:
            self._origin = self._forks.make(client.request)
        except AgentError as error:
            self._no_origin = str(error)

    def _begin(self, client: Client) -> None:
        try:
            client.request(protocol.SetBreakpoints(breakpoints=self._breakpoints))
            client.request(self.options)
        except AgentError:
            self.kill()
            raise
        self._resumed = client.send(protocol.Resume(control=self._control))
        if self._interrupt_wanted:
            client.notify(protocol.Interrupt())
            self._interrupted = True

    def _take(self, client: Client, resumed: int) -> None:
        """Take a message that comes in after a resume."""
        incoming = client.receive()
        if incoming.method is None:
            try:
                client.is_response(incoming, resumed)
            except AgentError:
                self._running = False
                raise
            return
        message = decode_notification(incoming)
        if isinstance(message, protocol.Stopped):
            self.stop = self.last = stop_of(message)
            self._running = False
        elif not self._note_end(message):
            raise ProtocolError(f"The agent sent {incoming.method!r} while the tool ran.")

    def _note_end(self, message: protocol.Message) -> bool:
        """Remember what the agent says of the tool's end, which is still to come."""
        if isinstance(message, protocol.Exited):
            self._exited = message
        elif isinstance(message, protocol.Crashed):
            self._crashed = message
        else:
            return False
        self.hits = message.hits
        return True

    def _stopped_client(self) -> Client:
        if self._running:
            raise NotStopped("The tool is running: interrupt it first.")
        if self._client is None or self.stop is None or self.stop.when == "exit":
            raise NotStopped(f"{self._ended()}; run starts it again.")
        return self._client

    def _ended(self) -> str:
        if self.stop is None or self.stop.status is None:
            return "The tool has ended"
        return (self.stop.message or "The tool has ended").rstrip(".")

    def _end(self, rest: bytes) -> Stop:
        """The connection is closed: have the tool end, and make the stop of it."""
        self._read_last_words()
        status = self._process.end(kill=False)
        self._close()
        stop = self._set_exit(status)
        if rest and status >= 0:
            raise ProtocolError(
                f"The connection to the agent ended in the middle of a message, {quoted(rest)}."
            )
        return stop

    def _read_last_words(self) -> None:
        """Take what came in while a response was waited for."""
        try:
            while self._client is not None:
                incoming = self._client.receive()
                if incoming.method is not None:
                    self._note_end(decode_notification(incoming))
        except (ConnectionEnded, ProtocolError):
            return

    def _set_exit(self, status: int) -> Stop:
        self.stop = exit_of(status, self.hello is not None, self._exited, self._crashed)
        self._running = False
        return self.stop

    def _close(self) -> None:
        self._listener.close()
        if self._client is not None:
            self._client.close()
            self._client = None
