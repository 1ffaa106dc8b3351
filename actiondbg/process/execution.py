"""One run of the tool, from its start to its end."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path
from typing import Literal, TypeVar

from actiondbg import protocol
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ProtocolError, ToolGone
from actiondbg.process.checkpoints import Automatic, Checkpoints, Frozen
from actiondbg.process.fork_owner import ForkOwner
from actiondbg.process.fork_process import AdoptedFork
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.launch_options import LaunchOptions
from actiondbg.process.stop import Stop, exit_of, stop_of
from actiondbg.process.streams import Streams
from actiondbg.process.timeline import Branches
from actiondbg.process.tool_process import Listener, ToolBody, start_process
from actiondbg.protocol.client import Client, ConnectionEnded, decode_notification, quoted
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.tool.program import Program

R = TypeVar("R", bound=protocol.Message)

RunState = Literal["running", "stopped", "exited"]
State = Literal["not-running", "running", "stopped", "exited"]  # of a session


class Execution:
    """A process of the tool and the connection to its agent.

    ``wait`` first takes it to where it runs: the agent connects, says hello, forks the origin,
    gets the breakpoints, is resumed. Each of these steps is done once, or can be done twice, so
    that an interrupted ``wait`` is gone on with by the next.

    The origin is a checkpoint of where the run began. It outlives the tool's end, so that the
    run can be repeated then too, and goes with ``kill``. From the first stop on, the tool makes
    checkpoints of itself. A fork of one of them can take the tool's place (``adopt``).

    Args:
        process: the tool, just started.
        listener: what its agent connects to.
        beginning: how it goes on after its hello.

    Attributes:
        last: the newest stop before the end, or None.
        branches: its timelines.
        checkpoints: of the user's, and those that the tool made of itself.
    """

    def __init__(self, process: ToolBody, listener: Listener, beginning: LaunchOptions) -> None:
        self.hello: protocol.Hello | None = None
        self.stop: Stop | None = None
        self.last: Stop | None = None
        self.hits: list[protocol.Hits] = []
        self.branches = Branches()
        self.directory = listener.path.parent
        self._body = process
        self._listener = listener
        self._beginning = beginning
        self._held = HeldInterrupts()
        self._forks = ForkOwner(self.directory, self._held)
        self.checkpoints = Checkpoints(self._forks, self.directory)
        self._origin: ForkedTool | None = None
        self._no_origin: str | None = None
        self._client: Client | None = None
        self._running = True
        self._resumed: int | None = None
        self._interrupt_wanted = False
        self._interrupted = False
        self._freezes = False  # whether the tool makes checkpoints of itself
        self._muted = False
        self._exited: protocol.Exited | None = None
        self._crashed: protocol.Crashed | None = None

    @property
    def pid(self) -> int:
        return self._body.pid

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
    def origin(self) -> ForkedTool:
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

    def resume(self, message: protocol.Resume) -> Stop:
        """Let the tool go on to the next stop.

        Raises:
            NotStopped, AgentError, ProtocolError: see ``request``; after an AgentError the tool
                stands where it stood.
        """
        with self._held:
            client = self._stopped_client()
            self._resumed = client.send(message)
            self._running, self._interrupted = True, False
            return self.wait()

    # --- forks, and going back ---

    def fork(self, fork: protocol.Fork) -> ForkedTool:
        """Fork the stopped tool; raises NotStopped or an AgentError."""
        return self._forks.make(self.request, self.stop, fork)

    def freeze(self, milliseconds: int, megabytes: int) -> None:
        """Have the tool make checkpoints of itself, from the first stop on.

        Args:
            milliseconds: that it runs between two; 0 for none.
            megabytes: that they may hold.
        """
        self._beginning.milliseconds, self._beginning.megabytes = milliseconds, megabytes
        if self.state != "stopped" or not self.has_origin:
            return
        self.request(self.freezing(self.branches))
        self._freezes = True
        with self._held:
            self.checkpoints.accept(self.branches)
            self.checkpoints.settle()

    def freezing(self, branches: Branches) -> protocol.SetOptions:
        """Return what has a process on a timeline make checkpoints of itself."""
        spacing, limit = self._beginning.milliseconds, self._beginning.megabytes
        return protocol.SetOptions(checkpoints=self.checkpoints.listen(branches, spacing, limit))

    def frozen(self) -> list[Frozen]:
        """Return all that stands on the current timeline, the newest first, the origin last."""
        with self._held:
            self.checkpoints.accept(self.branches)
        found = self.checkpoints.on(self.branches)
        return [*found, Frozen(self.origin, 1)] if self.has_origin else found

    def automatic(self) -> Automatic:
        """Return how many checkpoints the tool has made of itself, and what they hold."""
        with self._held:
            return self.checkpoints.automatic(self.branches)

    def written(self) -> protocol.Written | None:
        """Return how many bytes the tool wrote to stdout and stderr, if that is known."""
        if self.state == "stopped":
            with contextlib.suppress(ToolGone):  # it was killed since
                return self.request(protocol.GetStatus()).written
        last = self._exited or self._crashed
        return last.written if last else None

    def adopt(self, replica: ForkedTool, stop: Stop, branches: Branches, muted: bool) -> None:
        """Have a fork take the tool's place, which ends; Ctrl-C has no effect meanwhile.

        Args:
            replica: of the role "tool"; it stands.
            stop: where.
            branches: the timelines from now on.
            muted: whether it is silent up to what has been written before.

        Raises:
            ToolGone: the fork ended.
        """
        with self._held, self._held.deaf():
            pid, hello = replica.pid, replica.hello
            client, pidfd = replica.hand_over()
            self._body.end(kill=True)
            self._close()
            self._body, self._client, self.hello = AdoptedFork(pid, pidfd), client, hello
            self.stop = self.last = stop
            self.branches = branches
            self._running, self._muted = False, muted
            self._exited = self._crashed = None
            self.request(protocol.Settle())
            self.checkpoints.accept(branches)
            self.checkpoints.settle()

    @property
    def is_muted(self) -> bool:
        """Whether the tool is silent up to what a process before it wrote."""
        return self._muted

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
        with self._held, self._held.deaf():
            status = self._body.end(kill=True)
            self.checkpoints.close()
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
        connection = self._listener.accept(self._body.pidfd, self._held)
        if connection is None:
            raise ConnectionEnded
        self._listener.close()
        self._client = Client(connection, self._body.pidfd, self._held)

    def _make_origin(self, client: Client, hello: protocol.Hello) -> None:
        """Keep the beginning of the run; without it all goes on but the questions of the past."""
        if "fork" not in hello.capabilities:
            self._no_origin = "The agent in this tool cannot fork it."
            return
        try:
            self._origin = self._forks.make(client.request, None, protocol.Fork(role="checkpoint"))
        except AgentError as error:
            self._no_origin = str(error)

    def _begin(self, client: Client) -> None:
        begin = self._beginning
        try:
            client.request(protocol.SetBreakpoints(breakpoints=begin.breakpoints))
            client.request(begin.options)
            if begin.skips:
                client.request(protocol.SetSkips(ordinals=begin.skips))
        except AgentError:
            self.kill()
            raise
        self._resumed = client.send(begin.resume)
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
            self._stopped(client)
        elif not self._note_end(message):
            raise ProtocolError(f"The agent sent {incoming.method!r} while the tool ran.")

    def _stopped(self, client: Client) -> None:
        """Take up the checkpoints that the tool has made of itself, or have it make them."""
        if self._freezes:
            self.checkpoints.accept(self.branches)
        elif self._origin is not None and self._beginning.milliseconds:
            with contextlib.suppress(AgentError):
                client.request(self.freezing(self.branches))
            self._freezes = True

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
        status = self._body.end(kill=False)
        self._close()
        stop = self._set_exit(status)
        if rest and (stop.status or 0) >= 0:
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

    def _set_exit(self, status: int | None) -> Stop:
        if status is None:
            status = self._told_status()
        self.stop = exit_of(status, self.hello is not None, self._exited, self._crashed)
        self._running = False
        return self.stop

    def _told_status(self) -> int:
        """Return the exit status that the agent told, or that of a process that was killed."""
        if self._exited is not None:
            return self._exited.status
        if self._crashed is not None and self._crashed.signal:
            return -self._crashed.signal
        return -signal.SIGKILL

    def _close(self) -> None:
        self._listener.close()
        if self._client is not None:
            self._client.close()
            self._client = None


def start_execution(
    program: Program, agent: Path, directory: Path, streams: Streams, options: LaunchOptions
) -> Execution:
    """Start a program's tool with the agent in it.

    Args:
        program: the command line and its environment.
        agent: what ``program.agent`` returned.
        directory: of the session, or in it.
        streams: where the tool's standard streams go.
        options: how it goes on after its first context.

    Raises:
        LaunchError: it cannot be started.
    """
    listener = Listener(directory / "sock")
    try:
        process = start_process(program, agent, listener, streams, directory)
    except BaseException:
        listener.close()
        raise
    return Execution(process, listener, options)
