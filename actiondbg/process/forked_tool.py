"""A fork of the tool: replays the run up to an action, or continues; and the owner of all forks."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ProtocolError, ToolGone
from actiondbg.process.process_status import (
    SAMPLE_SECONDS,
    ThreadWait,
    processor_seconds,
)
from actiondbg.process.stop import Stop, exit_of, final_crash, stop_of
from actiondbg.process.tool_process import Listener, OtherProcess, peer_of
from actiondbg.protocol.client import Client, ConnectionEnded, decode_notification
from actiondbg.support.closeable import Closeable
from actiondbg.support.counts import counted
from actiondbg.support.interrupts import HeldInterrupts, wait_for_end
from actiondbg.support.processes import open_pidfd

_KILL_SECONDS = 5.0  # from SIGKILL, or the end of the connection, to the end of the process


class ForkProcess:
    """The process of a fork, which is not our child, and the connection to it.

    One thread at a time uses the connection. Another may end the process meanwhile: the wait of
    the first one then fails, and the last of them closes client and pidfd.

    Args:
        client: the connection; owned by this object, until ``release``.
        pidfd: a file descriptor of the process, as of ``os.pidfd_open``; owned likewise.
        pid: the number of the process.
    """

    def __init__(self, client: Client, pidfd: int, pid: int) -> None:
        self.pid = pid
        self._client = client
        self._pidfd = pidfd
        self._connection_lock = threading.RLock()
        self._lock = threading.Lock()  # of the attributes below
        self._users = 0
        self.is_ended = False  # whether it was ended or released
        self._released = False

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended, for any reason."""
        with self._kept() as kept:
            return not kept or wait_for_end(self._pidfd, 0)

    @contextlib.contextmanager
    def talk(self) -> Generator[Client]:
        """Use the connection in the block; raises NotStopped when the process was ended."""
        with self._connection_lock, self._kept() as kept:
            if not kept or self.is_ended:
                raise NotStopped("The fork is closed: make another.")
            yield self._client

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process; return whether it has ended."""
        with self._kept() as kept:
            return not kept or wait_for_end(self._pidfd, seconds)

    def end(self) -> None:
        """Kill the process, and wait for its end."""
        with self._kept() as kept:
            self.is_ended = True
            if kept:
                # First kill, then close the connection: a tool that loses its controller runs its
                # cleanup, which may remove files of the user's.
                kill_group(self.pid, self._pidfd)

    def release(self) -> tuple[Client, int]:
        """Return the connection and the pidfd; the caller owns them from now on."""
        with self.talk(), self._lock:
            self.is_ended = self._released = True
            return self._client, self._pidfd

    @contextlib.contextmanager
    def _kept(self) -> Generator[bool]:
        """Keep the descriptors open in the block; yield whether they are open."""
        with self._lock:
            self._users += 1
            kept = not self._released
        try:
            yield kept
        finally:
            with self._lock:
                self._users -= 1
                last = self.is_ended and not self._users and not self._released
                self._released = self._released or last
            if last:
                self._client.close()
                os.close(self._pidfd)


def kill(pidfd: int) -> None:
    """Kill a process that is not our child, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    wait_for_end(pidfd, _KILL_SECONDS)


def kill_group(pid: int, pidfd: int) -> None:
    """Kill a fork and its children, a process group; see ``kill``."""
    with contextlib.suppress(ProcessLookupError):
        if not wait_for_end(pidfd, 0):  # otherwise the pid may have been reused
            os.killpg(pid, signal.SIGKILL)
    kill(pidfd)


class AdoptedFork(OtherProcess):
    """The process of a fork that replaced the tool; only its agent reports its exit status.

    It leads a process group.
    """

    def _wait(self, kill: bool) -> None:
        if not wait_for_end(self.pidfd, 0 if kill else _KILL_SECONDS):
            kill_group(self.pid, self.pidfd)


R = TypeVar("R", bound=protocol.Message)

_END_SECONDS = 5.0  # from the end of the connection to the end of the process
_HELLO_SECONDS = 10.0  # from the fork of the tool to the hello of the child
_PENDING_SECONDS = 1.0  # for the hello of one that has connected
_SOCKETS = 1 << 12  # names have three digits, as the path of a socket is limited
_REPLICA = protocol.Fork(role="replica")
NONDETERMINISTIC = "The tool may be nondeterministic."
_LOST_THREAD = (
    "The run cannot be replayed: the fork of the tool waits for another thread of the tool, which "
    "a fork does not have."
)


class RunLimit:
    """The limit of a run that begins now, in seconds of wall time and of processor time.

    Processor time, of the process and its ended children, does not depend on the load.
    """

    def __init__(self, pid: int, seconds: float | None, processor: float | None) -> None:
        self._pid = pid
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._processor = None if processor is None else processor_seconds(pid) + processor

    def left(self) -> float | None:
        """Return the seconds until the limit can be exceeded, 0 if it is; None for no limit."""
        left: list[float] = []
        if self._deadline is not None:
            left.append(self._deadline - time.monotonic())
        if self._processor is not None:
            left.append(self._processor - processor_seconds(self._pid))
        return max(0.0, min(left)) if left else None


class ForkedTool(Closeable):
    """A fork of the tool; close it. Another thread may close it during a wait.

    Its ``role`` decides about its output: a "replica" writes nothing, a "checkpoint" keeps the
    tool's files, a "trial" has files of its own, and the "tool" replaces the tool.
    """

    def __init__(
        self, forks: ForkOwner, process: ForkProcess, hello: protocol.Hello, stop: Stop | None
    ) -> None:
        self.hello = hello
        # The current stop, or the end; None before the first action, and in an automatic
        # checkpoint, which is stopped just before the event after ``event``.
        self.stop = stop
        # Its agent's notification before a normal end, or None.
        self.exited: protocol.Exited | None = None
        # Its agent's notification before a crash, or None.
        self.crashed: protocol.Crashed | None = None
        # The first action that differed from the run, in a replay up to here, or None.
        self.difference: protocol.Difference | None = None
        self._forks = forks
        self._process = process

    @property
    def role(self) -> protocol.Role:
        return self.hello.role

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def event(self) -> int:
        """The newest event, from 1; 0 at the beginning."""
        return self.hello.event if self.stop is None else self.stop.event

    @property
    def is_closed(self) -> bool:
        """Whether it was closed or handed over, or is known to have ended."""
        return self._process.is_ended

    @property
    def is_gone(self) -> bool:
        """Whether its process has ended; the tool itself ends superfluous checkpoints."""
        return self._process.is_gone

    def close(self) -> None:
        """Kill the fork; a pending request of another thread raises ToolGone."""
        with self._forks.held:
            self._process.end()
            self._forks.forget(self)

    def hand_over(self) -> tuple[Client, int]:
        """Return the connection and the pidfd to a new owner; this object is closed."""
        with self._forks.held:
            released = self._process.release()
            self._forks.forget(self)
            return released

    def request(self, message: protocol.Request[R], seconds: float | None = None) -> R:
        """Send a request to the fork's agent, and wait for the reply; see ``Client.request``.

        Raises:
            NotStopped: the fork is closed.
            ToolGone: the fork ended before it replied.
            AgentError: the agent refused.
            TimeoutError: there was no reply in time; the fork is closed.
        """
        with self._forks.held, self._process.talk() as client:
            try:
                return client.request(message, seconds)
            except TimeoutError:
                self.close()
                raise
            except ConnectionEnded as ended:
                raise self._gone("The fork of the tool ended before it replied.") from ended
            except ProtocolError:
                self.close()
                raise

    ask = request  # as ``AgentAccess`` has it

    def check_same(self) -> None:
        """Raise NoAnswer if an action of this replay differed from the run."""
        if self.difference is not None:
            raise NoAnswer(f"{replay_differs(self.difference)} {NONDETERMINISTIC}")

    def fork(
        self,
        role: protocol.Role = "replica",
        *,
        stdout: str | None = None,
        stderr: str | None = None,
        output: str | None = None,
        muted: protocol.Shown | None = None,
        shared: list[int] | None = None,
    ) -> ForkedTool:
        """Fork the fork, at the same stop.

        Args:
            role: of the new fork.
            stdout: the file for its standard output, which begins with the output so far; None
                for an unchanged redirection.
            stderr: as ``stdout``.
            output: as ``stdout``, for every other file that the tool writes.
            muted: of a "tool", the output to stdout and stderr that was written already.
            shared: of a "tool", the descriptors of files that others write too.

        Raises:
            AgentError, NoAnswer: the fork failed.
        """
        message = protocol.Fork(
            role=role,
            stdout=stdout,
            stderr=stderr,
            output=output,
            muted=muted,
            shared=shared or [],
        )
        return self._forks.make(self.request, self.stop, message)

    def advance(self, ordinal: int, when: Literal["before", "after"] = "before") -> Stop:
        """Replay the run up to an action, or a breakpoint on the way.

        Raises:
            ToolGone: the fork ended before the action.
        """
        stop = self.stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, when):
            return stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, "before"):
            return self.resume("next")
        return self.resume("continue", until=protocol.until_action(ordinal, when == "after"))

    def go(self, event: int, keep: int = 0) -> Stop:
        """Replay the run up to an event, without stops on the way.

        Args:
            event: the current event, or one ahead.
            keep: how many of the newest hits on the way are kept in ``passed`` of the status.

        Raises:
            NotStopped, AgentError: see ``request``.
            ToolGone: the fork ended before the event.
        """
        stop = self.stop
        if stop is not None and stop.event == event and stop.when in ("before", "after"):
            return stop
        return self._resume(protocol.Resume(control="continue", event=event, keep=keep))

    def complete(
        self,
        seconds: float | None = None,
        until: protocol.Until | None = None,
        control: protocol.Control = "continue",
        processor: float | None = None,
    ) -> Stop:
        """Run to the end, or to the next stop, such as one of a catch.

        Args:
            seconds: the limit for the whole run; None for no limit.
            until: where to stop before the end; None for nowhere.
            control: continue, apply or skip.
            processor: the limit for the processor time of the run, in seconds.

        Returns:
            The stop. At an exit, ``status`` is the exit status, negative for a signal, and -9 if
            it is unknown; the fork is closed then.

        Raises:
            NotStopped, AgentError: see ``request``.
            TimeoutError: the run exceeded a limit; the fork is closed.
            ToolGone: another thread closed the fork.
        """
        limit = RunLimit(self._process.pid, seconds, processor)
        return self._resume(protocol.Resume(control=control, until=until), limit)

    def resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Resume the fork, and wait for its next stop; see ``go``. A KeyboardInterrupt ends it."""
        return self._resume(protocol.Resume(control=control, count=count, until=until))

    def resume_unattended(self) -> None:
        """Let the fork run to its end, without waiting; only close it afterwards."""
        with self._forks.held, self._process.talk() as client:
            client.send(protocol.Resume(control="continue"))

    def _resume(self, message: protocol.Resume, limit: RunLimit | None = None) -> Stop:
        """Resume the fork, and wait for its stop; with a limit, its end is a stop, too."""
        with self._forks.held, self._process.talk() as client:
            number = client.send(message)
            try:
                stop = self._receive_stop(client, number, limit)
                if stop is None and limit is None:
                    raise self._ended_early()
                self.stop = stop or self._wait_for_exit()
            except AgentError:
                raise  # still at the same stop
            except BaseException:
                self.close()
                raise
            return self.stop

    def _receive_stop(self, client: Client, number: int, limit: RunLimit | None) -> Stop | None:
        """Receive messages after a resume, up to the stop.

        Returns:
            The stop; None when the connection ends or, without a limit, the tool is at its end.
        """
        try:
            while True:
                incoming = self._receive(client, limit)
                if incoming.method is None:
                    client.is_response(incoming, number)
                    continue
                message = decode_notification(incoming)
                if isinstance(message, protocol.Stopped):
                    self.difference = message.difference
                    self.crashed = None  # the tool has recovered
                    return stop_of(message)
                self._record_end(message)
                if self.exited is not None and limit is None:
                    return None
        except ConnectionEnded:
            return None

    def _receive(self, client: Client, limit: RunLimit | None) -> protocol.Incoming:
        """Wait for the next message within a limit; without one, not for a missing thread."""
        wait = ThreadWait()
        while True:
            left = None if limit is None else limit.left()
            try:
                return client.receive(SAMPLE_SECONDS if left is None else left)
            except TimeoutError:
                if left == 0:
                    raise
                if left is None and wait.has_lasted(self.pid):
                    raise ToolGone(_LOST_THREAD) from None

    def _record_end(self, message: protocol.Message) -> None:
        if isinstance(message, protocol.Exited):
            self.exited = message
            self.crashed = final_crash(self.crashed, message)
        elif isinstance(message, protocol.Crashed):
            self.crashed = message
        else:
            raise ProtocolError("The agent of a fork sent hello twice.")
        self.difference = message.difference

    def _wait_for_exit(self) -> Stop:
        """Wait for the end of the process, when its files are complete; return the stop."""
        if self.is_closed:
            raise ToolGone("The fork of the tool was closed while it ran.")
        has_ended = self._process.wait(_END_SECONDS)
        self.close()
        status = -signal.SIGKILL
        if self.crashed is not None:
            status = -(self.crashed.signal or signal.SIGKILL)
        elif self.exited is not None and has_ended:
            status = self.exited.status
        return exit_of(status, True, self.exited, self.crashed)

    def _ended_early(self) -> ToolGone:
        how = "ended"
        if self.crashed is not None:
            how = f"crashed in #{self.crashed.ordinal}"
        elif self.exited is not None:
            count = self.exited.actions
            how = f"ended after {counted(count, 'action')}"
        text = f"Replay diverged: the fork of the tool {how}, before it reached the same event."
        if self.difference is not None:
            text += f" {replay_differs(self.difference)}"
        return self._gone(f"{text} {NONDETERMINISTIC}")

    def _gone(self, message: str) -> ToolGone:
        """Close the ended fork, and return the error."""
        was_closed = self.is_closed
        self.close()
        return ToolGone("The fork of the tool was closed." if was_closed else message)


class ForkOwner:
    """The forks of one run; threads may share it."""

    def __init__(self, directory: Path, held: HeldInterrupts) -> None:
        self.held = held
        self._directory = directory
        self._numbers = itertools.count()
        self._lock = threading.Lock()  # of the attributes below
        self._alive: set[ForkedTool] = set()
        self._closed = False
        self._accepted: list[ForkedTool] = []  # not returned by accept_all yet

    def make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None = None,
        message: protocol.Fork = _REPLICA,
    ) -> ForkedTool:
        """Make a fork of a process at a stop, None before the first action, which ``ask`` asks.

        Raises:
            AgentError: the agent refused.
            NoAnswer: the fork ended, or sent no hello in time.
            ProtocolError: the fork broke the protocol.
            ToolGone: the run was ended meanwhile.
        """
        made: list[ForkedTool] = []
        try:
            with self.held:
                made.append(self._make(ask, stop, message))
            return made[0]
        except BaseException:
            for one in made:
                one.close()
            raise

    def accept_all(self, listener: Listener) -> list[ForkedTool]:
        """Accept the automatic checkpoints that have connected, in that order, without waiting.

        Those that have ended, sent no hello, or belong to another user are left out.
        """
        with self.held:
            while True:
                try:
                    connection = listener.accept_pending()
                except ProtocolError:
                    continue
                if connection is None:
                    break
                fork = self._greet_pending(connection)
                if fork is not None:
                    self._accepted.append(self.keep(fork))
            accepted, self._accepted = self._accepted, []
            for one in accepted:
                if one.is_gone:
                    one.close()
            return [one for one in accepted if not one.is_closed]

    def forget(self, fork: ForkedTool) -> None:
        """Disown a fork that has ended or was handed over."""
        with self._lock:
            self._alive.discard(fork)

    def follow(self, files: list[str]) -> None:
        """Have the frozen forks use output files, absolute paths, that the tool has made again."""
        with self._lock:
            frozen = [one for one in self._alive if one.role == "checkpoint"]
        for one in frozen:
            with contextlib.suppress(AgentError, ToolGone):
                one.request(protocol.Follow(files=files))

    def close(self) -> None:
        """End all forks, also those that are being made."""
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        for one in alive:
            one.close()

    def keep(self, fork: ForkedTool) -> ForkedTool:
        """Own a fork; raises ToolGone, and closes it, if the run was ended meanwhile."""
        with self._lock:
            if not self._closed:
                self._alive.add(fork)
                return fork
        fork.close()
        raise ToolGone("The run was ended while the tool was forked.")

    def _make(
        self,
        ask: Callable[[protocol.Fork], protocol.Forked],
        stop: Stop | None,
        message: protocol.Fork,
    ) -> ForkedTool:
        listener = Listener(self._directory / f"f{next(self._numbers) % _SOCKETS:x}")
        try:
            forked = ask(msgspec.structs.replace(message, socket=str(listener.path)))
            fork = self._greet(listener, forked.pid, stop)
        finally:
            listener.close()
        return self.keep(fork)

    def _greet(self, listener: Listener, pid: int, stop: Stop | None) -> ForkedTool:
        """Wait for a fork's hello; on an error, kill the fork."""
        try:
            pidfd = open_pidfd(pid)
        except ProcessLookupError as error:
            raise NoAnswer(f"The fork of the tool, process {pid}, ended at once.") from error
        with contextlib.ExitStack() as undo:
            undo.callback(os.close, pidfd)
            undo.callback(kill_group, pid, pidfd)
            try:
                connection = listener.accept(pidfd, self.held, _HELLO_SECONDS)
                if connection is None:
                    raise ConnectionEnded
                client = Client(connection, pidfd, self.held)
                undo.callback(client.close)
                hello = client.receive_hello(_HELLO_SECONDS)
            except (ConnectionEnded, TimeoutError) as error:
                how = "ended" if isinstance(error, ConnectionEnded) else "hung"
                raise NoAnswer(
                    f"The fork of the tool, process {pid}, {how} before it sent hello: check that "
                    "memory and disk space are left."
                ) from error
            undo.pop_all()
        return ForkedTool(self, ForkProcess(client, pidfd, pid), hello, stop)

    def _greet_pending(self, connection: socket.socket) -> ForkedTool | None:
        """Read the hello of a connected checkpoint; without one, close the connection."""
        pid, _ = peer_of(connection)
        with contextlib.ExitStack() as undo:
            undo.callback(connection.close)
            try:
                pidfd = open_pidfd(pid)
                undo.callback(os.close, pidfd)
                client = Client(connection, pidfd, self.held)
                hello = client.receive_hello(_PENDING_SECONDS)
            except (ProcessLookupError, ConnectionEnded, TimeoutError, ProtocolError):
                return None
            # While the connection is open, the pid cannot have been reused.
            if _has_ended(connection):
                return None
            undo.pop_all()
        return ForkedTool(self, ForkProcess(client, pidfd, pid), hello, None)


def _has_ended(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


@contextlib.contextmanager
def closed_on_error(fork: ForkedTool) -> Generator[None]:
    """Close a fork if the block raises."""
    try:
        yield
    except BaseException:
        fork.close()
        raise


def replay_differs(first: protocol.Difference) -> str:
    """Return the sentence about the first action of a replay that differs from the run."""
    return (
        f"The replay differs from the run at #{first.ordinal}: "
        f"run {first.run}, replay {first.replay}."
    )


def run_differs(first: protocol.Difference) -> str:
    """Return the sentence about the first action that differs from the one before going back."""
    return (
        f"The run differs from before it went back at #{first.ordinal}: "
        f"before {first.run}, now {first.replay}. {NONDETERMINISTIC}"
    )
