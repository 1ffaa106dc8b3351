"""An execution: one run of the tool, from its start to its end."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ProtocolError, ToolGone
from actiondbg.process.branches import Branches
from actiondbg.process.checkpoints import Automatic, Checkpoints, Frozen
from actiondbg.process.forked_tool import AdoptedFork, ForkedTool, ForkOwner, run_differs
from actiondbg.process.process_status import (
    SAMPLE_SECONDS,
    ThreadWait,
    ancestors_of,
    process_status,
    work_of,
)
from actiondbg.process.program_run import (
    Descendant,
    FollowedProcess,
    ProgramRun,
    WaitingProgram,
    awaited_files,
)
from actiondbg.process.stop import Stop, exit_of, final_crash, stop_of, with_skipping
from actiondbg.process.tool_process import (
    LaunchOptions,
    Listener,
    Streams,
    ToolProcess,
    start_process,
)
from actiondbg.protocol.capabilities import OF_ONE_THREAD, missing_text
from actiondbg.protocol.client import Client, ConnectionEnded, decode_notification, quoted
from actiondbg.support.interrupts import HeldInterrupts, wait_for_end
from actiondbg.tool.program import Program
from actiondbg.tool.seen_programs import SeenPrograms

R = TypeVar("R", bound=protocol.Message)

RunState = Literal["running", "stopped", "exited"]
State = Literal["not-running", "running", "stopped", "exited"]  # of a session


_IDLE_SAMPLES = 20  # before forks may hold up the tool
_LOST_CONNECTION = (
    "The agent has not reported the end of the tool. Where the tool has closed all descriptors, or "
    "become another program, what it did from then on was not observed; where it has ended by "
    "quick_exit, nothing is missing."
)
_LOST_THREADS = (
    "A fork took the place of the tool when it went back, and has only one of its threads: it "
    "waited for another, or missed it. run starts the tool again."
)


def _not_replayed(why: str) -> NoAnswer:
    return NoAnswer(f"This run cannot be replayed: {why[:1].lower()}{why[1:]}")


class Execution:
    """A process of the tool and the connection to its agent.

    ``wait`` starts the run step by step: the agent connects, sends hello, forks the origin, gets
    the breakpoints and is resumed. Steps are idempotent: an interrupted wait can be called again.

    The origin is a checkpoint of the beginning of the run. It outlives the tool, so that a run can
    be replayed after its end, and ends with ``kill``. From the first stop on, the tool makes
    automatic checkpoints. A fork of a checkpoint can replace the tool (``adopt``).
    """

    def __init__(self, process: ToolProcess, listener: Listener, options: LaunchOptions) -> None:
        self.hello: protocol.Hello | None = None
        self.stop: Stop | None = None
        self.last: Stop | None = None  # the newest stop before the end, or None
        self.hits: list[protocol.Hits] = []
        self.branches = Branches()  # the timelines of the run
        self.directory = listener.path.parent
        self._process = process
        # The program whose process this is; None for a tool that was started itself.
        self.program = process if isinstance(process, ProgramRun) else None
        self._listener = listener
        self._options = options
        self._held = HeldInterrupts()
        self._forks = ForkOwner(self.directory, self._held)
        # The user's, and the automatic ones.
        self.checkpoints = Checkpoints(self._forks, self.directory)
        self._origin: ForkedTool | None = None
        self._no_origin: str | None = None
        self._unrepeatable: str | None = None  # why another run may differ
        self._client: Client | None = None
        self._record: FollowedProcess | None = None  # while another process has its turn
        self._sent: list[protocol.WireBreakpoint] = []  # to the agent, before that
        self._thread_wait = ThreadWait()
        self._samples = 0  # without a message, while it runs
        self._lost_threads = False  # whether a fork has replaced a process with several threads
        self._running = True
        self._resumed: int | None = None
        self._interrupt_wanted = False
        self._interrupted = False
        self._freezes = False  # whether the tool makes automatic checkpoints
        self._muted: protocol.Shown | None = None
        self._exited: protocol.Exited | None = None
        self._crashed: protocol.Crashed | None = None
        self._retraced: tuple[int, list[int]] | None = None  # the timeline that it went back on
        self._difference: protocol.Difference | None = None  # reported
        self._messages: list[str] = []  # for the next stop

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def state(self) -> RunState:
        if self._running:
            return "running"
        return "exited" if self.stop and self.stop.when == "exit" else "stopped"

    @property
    def has_begun(self) -> bool:
        """Whether the tool was resumed after its hello."""
        return self._resumed is not None

    @property
    def has_origin(self) -> bool:
        """Whether the run can be replayed."""
        return self._origin is not None and not self._origin.is_closed

    @property
    def origin(self) -> ForkedTool:
        """The frozen beginning of the run; raises NoAnswer with the reason if there is none."""
        if self._origin is not None and not self._origin.is_closed:
            return self._origin
        gone = "The frozen beginning has ended." if self.hello else "It made no MLIR context."
        raise _not_replayed(self._no_origin or gone)

    @property
    def is_repeatable(self) -> bool:
        """Whether the same command runs the same actions in the same order."""
        return self._unrepeatable is None

    def check_repeatable(self) -> None:
        """Raise NoAnswer if the same command may run the actions in another order."""
        if self._unrepeatable is not None:
            raise _not_replayed(self._unrepeatable)

    def request(self, message: protocol.Request[R], seconds: float | None = None) -> R:
        """Send a request to the stopped agent, and wait for the reply; see ``Client.request``.

        Raises:
            NotStopped: the tool runs, or has ended.
            ToolGone: the tool ended before it replied.
            AgentError: the agent refused.
        """
        with self._held.alone():
            client = self._stopped_client()
            try:
                return client.request(message, seconds)
            except ConnectionEnded as ended:
                stop = self._end(ended.rest)
                raise ToolGone(stop.message or "The tool has ended.") from ended
            except ProtocolError:
                self.kill()
                raise

    def send_skips(self) -> None:
        """Have the stopped tool skip, and edit, what its timeline does."""
        self.stop = with_skipping(self.stop, self.request(self.branches.request()))

    def resume(self, message: protocol.Resume) -> Stop:
        """Resume the tool, and wait for the next stop; an AgentError leaves it at this one."""
        with self._held.alone():
            client = self._stopped_client()
            self._resumed = client.send(message)
            self._running, self._interrupted = True, False
            return self.wait()

    # --- forks and checkpoints ---

    def fork(self, message: protocol.Fork) -> ForkedTool:
        """Fork the stopped tool; raises NotStopped or an AgentError."""
        return self._forks.make(self.request, self.stop, message)

    def freeze(self, milliseconds: int, megabytes: int) -> None:
        """Have the tool make automatic checkpoints, from the first stop on."""
        self._options.milliseconds, self._options.megabytes = milliseconds, megabytes
        if self.state != "stopped" or not self.has_origin:
            return
        self.request(self.checkpoint_options(self.branches))
        self._freezes = True
        with self._held.alone():
            self.checkpoints.accept(self.branches)
            self.checkpoints.settle()

    def checkpoint_options(self, branches: Branches) -> protocol.SetOptions:
        """Return the settings for automatic checkpoints of a process on a timeline."""
        spacing, limit = self._options.milliseconds, self._options.megabytes
        return protocol.SetOptions(checkpoints=self.checkpoints.listen(branches, spacing, limit))

    def frozen(self) -> list[Frozen]:
        """Return the checkpoints on the current timeline, the newest first, the origin last."""
        with self._held.alone():
            self.checkpoints.accept(self.branches)
        found = self.checkpoints.on(self.branches)
        return [*found, Frozen(self.origin, 1)] if self.has_origin else found

    def automatic(self) -> Automatic:
        """Return the number and the memory of automatic checkpoints."""
        with self._held.alone():
            return self.checkpoints.automatic(self.branches)

    def shown(self) -> protocol.Shown | None:
        """Return the output to stdout and stderr on this timeline; None if unknown.

        This process may be silent up to output that other processes have written.
        """
        now = self._written()
        if now is None or self._muted is None:
            return now or self._muted
        stdout, stderr, event = map(max, now, self._muted)
        return stdout, stderr, event

    def _written(self) -> protocol.Shown | None:
        """Return the output up to the stop or the end of this process, None if unknown."""
        if self.state == "stopped":
            with contextlib.suppress(ToolGone):  # the tool was killed meanwhile
                status = self.request(protocol.GetStatus())
                return *status.written, status.event
        last = self._exited or self._crashed
        # After its end the output that follows the last event has been written, too.
        return (*last.written, last.event + 1) if last else None

    def adopt(
        self, fork: ForkedTool, stop: Stop, branches: Branches, muted: protocol.Shown | None
    ) -> Stop:
        """Replace the tool by a fork, and end it; Ctrl-C has no effect meanwhile.

        Args:
            fork: stopped, of the role "tool".
            stop: of the fork; returned with a message about output files that cannot be made again.
            branches: the timelines; the fork is on the current one.
            muted: the output that the fork does not write again; None if it writes all.

        Raises:
            ToolGone: the fork ended.
        """
        with self._held.alone(), self._held.blocked():
            status = process_status(self.pid)
            self._lost_threads |= status is not None and status.threads > 1
            pid, hello = fork.pid, fork.hello
            client, pidfd = fork.hand_over()
            if self._process.give_way(self._client):
                self._client = None
            self._close()
            if self.program is not None:
                self.program.note_fork(pid)
            self._process, self._client, self.hello = AdoptedFork(pid, pidfd), client, hello
            self.stop = self.last = stop
            self.branches = branches
            self._running, self._muted = False, muted
            self._exited = self._crashed = None
            self._retraced = self._timeline()
            settled = self.request(protocol.Settle())
            self.checkpoints.accept(branches)
            self.checkpoints.settle()
            if settled.remade:
                self._forks.follow(settled.remade)
            if settled.lost:
                message = "\n".join(filter(None, [stop.message, *settled.lost]))
                self.stop = self.last = msgspec.structs.replace(stop, message=message)
            return self.stop

    @property
    def is_muted(self) -> bool:
        """Whether the tool is silent up to the output of the process that it replaced."""
        return self._muted is not None

    def interrupt(self) -> None:
        """Stop the tool before its next action; a second call stops it at once. Does not wait."""
        if self._running and self._resumed is not None and self._client is not None:
            with self._held:
                self._client.notify(protocol.Interrupt(force=self._interrupted))
                self._interrupted = True
        elif self._running:
            self._interrupt_wanted = True

    def wait(self) -> Stop:
        """Wait for the next stop; return the current one if the tool is stopped.

        Raises:
            ProtocolError: the agent broke the protocol; the tool is killed.
            AgentError: the agent refused the breakpoints, which ends the tool, or the control.
        """
        with self._held.alone():
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
        """End the tool, its children, its forks and the connections."""
        with self._held, self._held.blocked():
            status = self._process.end(kill=True)
            if self.program is not None:
                self.program.end(kill=True)
            with self._held.alone(wait=True):  # a thread that waits for the tool sees its end
                self.release()
                self._close()
                if self._running or self.stop is None or self.stop.when != "exit":
                    self._set_exit(status)

    def release(self) -> None:
        """End the forks of an ended run."""
        self.checkpoints.close()
        self._forks.close()

    @property
    def has_died(self) -> bool:
        """Whether the stopped process has ended: it was killed by others."""
        return wait_for_end(self._process.pidfd, 0)

    # --- programs ---

    @property
    def goes_on(self) -> bool:
        """Whether the tool has ended, and the end of the program that started it is not reported.

        The program may have ended meanwhile, with a status of its own.
        """
        return self.state == "exited" and self.program is not None and self.program.is_open

    @property
    def awaits_tool(self) -> bool:
        """Whether no tool of the program runs yet."""
        return self._running and self._client is None and self.program is not None

    def expect_tool(self, options: LaunchOptions) -> None:
        """Change the settings for the first tool of the program, while none runs."""
        if self.awaits_tool:
            self._options = options

    @property
    def way_on(self) -> str | None:
        """How to wait for the program's next tool, in a clause; None if one runs, or none will."""
        if self.program is None or not (self.goes_on or self.awaits_tool):
            return None
        which = "first" if self.awaits_tool else "next"
        return f"continue waits for the {which} tool of process {self.program.pid}"

    @property
    def has_been_seen_to_end(self) -> bool:
        """Whether the tool has ended, and the program that started it knows, and goes on."""
        return self.goes_on and self.program is not None and not self.program.is_waiting

    def holds_up(self) -> bool:
        """Whether the program may wait for checkpoints of the ended tool.

        They have files open whose closing it waits for, such as a pipe or a lock; or they have
        become its children, as of a subreaper, or are traced by it, as by strace.
        """
        ours = awaited_files(os.getpid())
        pids = [one.tool.pid for one in self.frozen()]
        return any(awaited_files(pid) - ours or self._is_of_program(pid) for pid in pids)

    def _is_of_program(self, pid: int) -> bool:
        """Whether the program, or a process of it, is the parent or the tracer of a process."""
        if self.program is None:
            return False
        status = process_status(pid)
        tracer = status.tracer if status is not None else 0
        around = {*ancestors_of(pid), tracer, *ancestors_of(tracer)}
        return self.program.pid in around

    def wait_for_tool(self) -> bool:
        """Wait for a process of the program to connect; return False if the program ends first."""
        with self._held:
            try:
                while self.hello is None and self._running:
                    self._advance()
            except ConnectionEnded as ended:
                self._end(ended.rest)
        return self.hello is not None

    def _advance(self) -> None:
        """Carry out the next step towards a stop; see ``Execution``."""
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
        if self.program is None:
            connection = self._listener.accept(self._process.pidfd, self._held)
            self._listener.close()
        else:
            connection = self.program.accept(self._held)
        if connection is None:
            raise ConnectionEnded
        if self.program is not None:
            self._process = self.program.follow(connection)
        self._client = Client(connection, self._process.pidfd, self._held)

    def _make_origin(self, client: Client, hello: protocol.Hello) -> None:
        """Freeze the beginning of the run; without it only replays are unavailable."""
        if "fork" not in hello.capabilities:
            self._no_origin = missing_text(hello, "fork")
            return
        try:
            self._origin = self._forks.make(client.request, None, protocol.Fork(role="checkpoint"))
        except AgentError as error:
            self._no_origin = str(error)

    def _begin(self, client: Client) -> None:
        begin = self._options
        try:
            client.request(protocol.SetBreakpoints(breakpoints=begin.breakpoints))
            client.request(begin.options)
            if begin.skips is not None:
                client.request(begin.skips)
        except AgentError:
            self.kill()
            raise
        self._resumed = client.send(begin.resume)
        if self._interrupt_wanted:
            client.notify(protocol.Interrupt())
            self._interrupted = True

    def _take(self, client: Client, resumed: int) -> None:
        """Receive a message after a resume."""
        try:
            incoming = client.receive(None if self.program is None else SAMPLE_SECONDS)
        except TimeoutError:
            self._look_at_others()
            return
        if incoming.method is None:
            try:
                client.is_response(incoming, resumed)
            except AgentError:
                self._running = False
                raise
            return
        self._samples = 0
        message = decode_notification(incoming)
        if isinstance(message, protocol.Stopped):
            self._crashed = None  # the tool has recovered
            stop = stop_of(message)
            if self.program is not None:
                stop = self.program.named(stop)
            self.stop = self.last = self._compared(stop, message.difference)
            self._running = False
            self._close_past(message.unforkable)
            if message.missing is not msgspec.UNSET:
                self.hello = client.update(message)
            self._update_checkpoints(client)
        elif not self._record_end(message):
            raise ProtocolError(f"The agent sent {incoming.method!r} while the tool ran.")

    def _look_at_others(self) -> None:
        """Let other processes of the program run on, if the tool may wait for them.

        A fork that waits for a thread which it does not have is ended.
        """
        if self._lost_threads and self._thread_wait.has_lasted(self.pid):
            self.kill()
            return
        self._samples += 1
        if self._samples % _IDLE_SAMPLES == 0:
            self._free_files(awaited_files(self.pid))
        released = self.program.look() if self.program is not None else None
        if released is not None:
            self._messages.append(released)

    # --- turns ---

    @property
    def has_news(self) -> bool:
        """Whether the agent has sent something, or the process has ended; see ``Suspended``."""
        return self._client is not None and self._client.has_news

    def suspend(self, breakpoints: list[protocol.WireBreakpoint]) -> None:
        """Run on, with these breakpoints, while another process of the program has its turn."""
        if self.program is None or self.program.current is None:
            return
        self._record, self._sent = self.program.current, breakpoints
        if (child := self.program.next_waiting) is not None:
            # The process may close the others meanwhile.
            self._free_files(awaited_files(self.pid, standard=True), awaited_files(child))
        self.program.suspended.append(self)

    def take_turn(self, breakpoints: list[protocol.WireBreakpoint]) -> None:
        """Be the current process of the program again, while it runs, with these breakpoints."""
        if self.program is None or self._record is None:
            return
        self.program.suspended.remove(self)
        self.program.turn_to(self._record)
        self.take_breakpoints(breakpoints)

    def take_breakpoints(self, breakpoints: list[protocol.WireBreakpoint]) -> None:
        """Change the breakpoints while it runs; see ``Suspended``."""
        if self._client is not None and breakpoints != self._sent:
            with contextlib.suppress(ConnectionEnded):
                self._client.send(protocol.SetBreakpoints(breakpoints=breakpoints))
            self._sent = breakpoints

    @property
    def is_changed(self) -> bool:
        """Whether actions were skipped, or the IR edited: a replay of its parent does not."""
        asked = self.branches.request()
        return bool(asked.ordinals or asked.rules or asked.edits)

    def keep_child(self, child: str) -> None:
        """Lose the past, in which the parent would start a child again that was changed."""
        self._close_past(f"{child}, which it started, ran with changes and would run without them")

    def leave(self) -> None:
        """Let the process run on unobserved; see ``Suspended``."""
        self.release()
        if not isinstance(self._process, ProgramRun):
            os.close(self._process.pidfd)
        self._close()

    def check_childless(self) -> None:
        """Raise NoAnswer while a child that is debugged runs: it may wait for this process."""
        child = self.program.child_of_current() if self.program is not None else None
        if child is not None and self.program is not None and self.program.current is not None:
            raise NoAnswer(
                f"{self.program.current.name} cannot go back while {child.name} runs, which it "
                f"has started: continue to the end of {child.name} first."
            )

    def _free_files(
        self, own: set[tuple[int, int]], awaited: set[tuple[int, int]] | None = None
    ) -> None:
        """End forks with files open, other than our ``own``, for whose end others may wait."""
        work = work_of(self.pid, with_children=False)
        if not self.has_origin or work is None or work.is_running:
            return
        own = own | awaited_files(os.getpid())
        for one in self.frozen():
            files = awaited_files(one.tool.pid) - own
            if not (files if awaited is None else files & awaited):
                continue
            if one.tool is self._origin:
                self._close_past("its beginning had a file open for whose end a process waited")
            else:
                self.checkpoints.drop(one)

    def _timeline(self) -> tuple[int, list[int]]:
        return self.branches.current.number, self.branches.ordinals()

    def _compared(self, stop: Stop, difference: protocol.Difference | None) -> Stop:
        """Return a stop that reports what happened since the last one.

        That may be a difference from what the run did before it went back; on another branch, or
        with other skips, the run differs as the user wants it.
        """
        unobserved = self.program.report_unobserved() if self.program is not None else None
        messages, self._messages = [*self._messages, unobserved, stop.message], []
        is_same_timeline = self._retraced == self._timeline()
        if difference is not None and difference != self._difference and is_same_timeline:
            self._difference = difference
            messages.append(run_differs(difference))
        text = "\n".join(filter(None, messages))
        return stop if text == (stop.message or "") else msgspec.structs.replace(stop, message=text)

    def _update_checkpoints(self, client: Client) -> None:
        """Accept automatic checkpoints; at the first stop, have the tool make them."""
        if self._freezes:
            self.checkpoints.accept(self.branches)
        elif self._origin is not None and self._options.milliseconds:
            with contextlib.suppress(AgentError):
                client.request(self.checkpoint_options(self.branches))
            self._freezes = True

    def _close_past(self, why: str | None) -> None:
        """End what replays begin with, if the run can no longer be replayed."""
        if why is None or self._unrepeatable is not None:
            return
        if self._client is not None:
            self.hello = self._client.lose(dict.fromkeys(OF_ONE_THREAD, why))
        self._unrepeatable = self._no_origin = f"{why[:1].upper()}{why[1:]}."
        if self._origin is not None:
            self._origin.close()
        self.checkpoints.close()

    def _record_end(self, message: protocol.Message) -> bool:
        """Store the agent's announcement of the tool's end."""
        if isinstance(message, protocol.Exited):
            self._exited = message
            self._crashed = final_crash(self._crashed, message)
        elif isinstance(message, protocol.Crashed):
            self._crashed = message
        else:
            return False
        self._close_past(message.unforkable)
        self.hits = message.hits
        return True

    def _stopped_client(self) -> Client:
        if self.awaits_tool:
            raise NotStopped(f"No tool runs yet: {self.way_on}.")
        if self._running:
            raise NotStopped("The tool is running: interrupt it first.")
        if self._client is None or self.stop is None or self.stop.when == "exit":
            ways = ["run starts it again"]
            if self.way_on is not None:
                ways.insert(0, self.way_on)
            stop = self.stop
            if self.has_origin and stop is not None and stop.actions != 0:
                ways.append("reverse-step and goto go back" if stop.event else "goto goes back")
            raise NotStopped(f"{self._end_text()}; {', '.join(ways)}.")
        return self._client

    def _end_text(self) -> str:
        if self.stop is None or self.stop.status is None:
            return "The tool has ended"
        return (self.stop.message or "The tool has ended").rstrip(".")

    def _end(self, rest: bytes) -> Stop:
        """End the tool after its connection was closed, and return the last stop."""
        self._read_remaining()
        became = self._becomes_another()
        status = 0 if became else self._process.end(kill=False)
        self._close()
        stop = self._set_exit(status, became=became)
        if rest and (stop.status or 0) >= 0:
            raise ProtocolError(
                f"The connection to the agent ended in the middle of a message, {quoted(rest)}."
            )
        return stop

    def _becomes_another(self) -> bool:
        """Let go of the tool if it has become another program by exec; return whether it goes on.

        What a fork in the place of the tool becomes is not followed: wait for its end.
        """
        has_ended = self._exited is not None or self._crashed is not None
        if self.program is None or has_ended or not self.program.has_become_another():
            return False
        if self._process is self.program:
            return not wait_for_end(self._process.pidfd, 0)
        if isinstance(self._process, Descendant):
            if wait_for_end(self._process.pidfd, 0):
                return False
            self._process.leave()
            return True
        try:
            self._held.open()
            wait_for_end(self._process.pidfd, None)
        finally:
            self._held.shut()
        return False

    def _read_remaining(self) -> None:
        """Read the notifications that arrived before the end of the connection."""
        try:
            while self._client is not None:
                incoming = self._client.receive()
                if incoming.method is not None:
                    self._record_end(decode_notification(incoming))
        except (ConnectionEnded, ProtocolError):
            return

    def _set_exit(self, status: int | None, *, became: bool = False) -> Stop:
        if status is None:
            status = self._reported_status()
        if self.program is not None and self.hello is not None:
            actions = self._exited.actions if self._exited else None
            self.program.note_end(None if became else status, actions)
        stop = exit_of(status, self.hello is not None, self._exited, self._crashed)
        if became:
            stop = msgspec.structs.replace(stop, message="The tool became another program.")
        if self._lost_threads and stop.reason != "exited":
            self._messages.append(_LOST_THREADS)
        has_reported = became or self._exited is not None or self._crashed is not None
        if self.hello is not None and status >= 0 and not has_reported:
            self._messages.append(_LOST_CONNECTION)
        if self.program is not None:
            stop = self.program.named_end(stop)
        last = self._crashed or self._exited
        self.stop = self._compared(stop, last.difference if last else None)
        self._running = False
        return self.stop

    def _reported_status(self) -> int:
        """Return the exit status that the agent reported; SIGKILL's without a report.

        A program that ended without an MLIR context reported nothing, and was not killed.
        """
        if self._exited is not None:
            return self._exited.status
        if self._crashed is not None and self._crashed.signal:
            return -self._crashed.signal
        return 0 if self.hello is None else -signal.SIGKILL

    def _close(self) -> None:
        if self.program is None:
            self._listener.close()
        if self._client is not None:
            self._client.close()
            self._client = None


def start_execution(
    program: Program, directory: Path, streams: Streams, options: LaunchOptions
) -> Execution:
    """Start a program's tool with the agent in it; raises LaunchError if that is impossible."""
    listener = Listener(directory / "sock")
    try:
        if isinstance(program, WaitingProgram):
            process: ToolProcess = program.begin(listener)
        else:
            seen = SeenPrograms(directory) if program.is_followed else None
            process = start_process(program, listener, streams, directory, seen)
            if seen is not None:
                process = ProgramRun(process, listener, seen, program.follow)
    except BaseException:
        listener.close()
        raise
    return Execution(process, listener, options)
