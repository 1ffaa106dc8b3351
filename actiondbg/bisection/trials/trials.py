"""Trials: runs from forks of one frozen process, each with files of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from actiondbg import protocol
from actiondbg.bisection.command_line import CommandLine
from actiondbg.bisection.command_runner import Cancelled, Runner
from actiondbg.bisection.oracles.oracle import Evidence
from actiondbg.errors import ActiondbgError, LaunchError, ToolGone
from actiondbg.process.execution import Execution, start_execution
from actiondbg.process.fork_owner import ForkOwner
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.launch_options import LaunchOptions
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Streams
from actiondbg.support.closeable import Closeable
from actiondbg.support.interrupts import HeldInterrupts
from actiondbg.tool.program import Program

_KEPT = 3  # frozen good prefixes, besides the beginning


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A trial to make.

    Attributes:
        plan: what is skipped.
        place: the ordinal of an action up to which nothing is skipped; 0 for the first.
        seconds: how long it may take; None for as long as it does.
    """

    plan: protocol.SetPlan
    place: int = 0
    seconds: float | None = None


class Scope:
    """What one trial has in hand; another thread may end it.

    Args:
        directory: of the trial, which is made.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.directory = directory
        self.runner = Runner(directory)
        self.ahead: ForkedTool | None = None  # stands at the place of the trial
        self._lock = threading.Lock()
        self._replicas: list[ForkedTool] = []
        self._cancelled = False

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled

    def own(self, replica: ForkedTool) -> ForkedTool:
        """Have a replica end with the trial; raises Cancelled when that is over."""
        with self._lock:
            if not self._cancelled:
                self._replicas.append(replica)
                return replica
        replica.close()
        raise Cancelled

    def release(self, replica: ForkedTool) -> None:
        """Let a replica live on; raises Cancelled when the trial is over."""
        with self._lock:
            if self._cancelled:
                raise Cancelled
            self._replicas.remove(replica)

    def close(self) -> None:
        """End its processes."""
        with self._lock:
            replicas, self._replicas = self._replicas, []
        for one in replicas:
            one.close()

    def cancel(self) -> None:
        """End the trial, from another thread: what it waits for is cut short."""
        with self._lock:
            self._cancelled = True
        self.runner.cancel()
        self.close()


@dataclass
class _Base:
    """A frozen process that stands before the action ``place``."""

    place: int
    replica: ForkedTool
    users: int = 0
    retired: bool = False


@dataclass
class _Bases:
    """The frozen processes that trials are forked from; the first stays."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    bases: list[_Base] = field(default_factory=list[_Base])

    @contextlib.contextmanager
    def near(self, place: int) -> Generator[_Base]:
        """Have the one that is nearest before an action."""
        with self.lock:
            base = max(
                (one for one in self.bases if one.place <= place or one is self.bases[0]),
                key=lambda one: one.place,
            )
            base.users += 1
        try:
            yield base
        finally:
            with self.lock:
                base.users -= 1
                unused = base.retired and not base.users
            if unused:
                base.replica.close()

    def add(self, place: int, replica: ForkedTool) -> None:
        """Keep one more, and let the oldest go."""
        unused: list[_Base] = []
        with self.lock:
            self.bases.append(_Base(place, replica))
            while len(self.bases) > _KEPT + 1:
                oldest = self.bases.pop(1)
                oldest.retired = True
                if not oldest.users:
                    unused.append(oldest)
        for one in unused:
            one.replica.close()


class Trials(Closeable):
    """The tool, stopped before its first action, and its forks. Threads may share it.

    Args:
        program: the tool; its -o is not the user's file.
        line: its command line.
        directory: for its files; short enough for sockets.
        stdin: the file on its standard input, or None for nothing.
        catches: at which a trial is over.
        keys: whether actions are told apart by keys, which has to be known from the beginning.

    Attributes:
        stop: where the tool stands: before #1, or at its end if it has no actions.
    """

    def __init__(
        self,
        program: Program,
        line: CommandLine,
        directory: Path,
        stdin: Path | None,
        catches: tuple[protocol.Catch, ...] = (),
        keys: bool = False,
    ) -> None:
        self._line = line
        self.directory = directory
        self._breakpoints = [_breakpoint(id, catch) for id, catch in enumerate(catches, 1)]
        self._held = HeldInterrupts()
        self._forks = ForkOwner(directory, self._held)
        self._numbers = itertools.count()
        self._bases = _Bases()
        self._run: Execution | None = None
        agent = program.agent()
        with self._held:
            beginning = LaunchOptions(resume=protocol.Resume(control="step"))
            self._run = run = start_execution(
                program, agent, directory, self._streams(stdin), beginning
            )
        try:
            self.stop = run.wait()
            if self.stop.when != "exit":
                self._bases.bases.append(_Base(0, self._first(run, keys)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all of its processes."""
        self._forks.close()
        if self._run is not None:
            self._run.kill()

    @property
    def hello(self) -> protocol.Hello | None:
        """What the agent said of itself and the tool."""
        return self._run.hello if self._run else None

    def alone(self) -> Evidence:
        """Return what the tool left that ended before its first action."""
        return self._evidence(self.directory / "first", self.stop)

    def scope(self) -> Scope:
        """Make room for one trial."""
        return Scope(self.directory / f"t{next(self._numbers)}")

    def make(self, task: Task, scope: Scope) -> Evidence:
        """Make a trial and wait for its end.

        Raises:
            Cancelled: its scope was, by another thread.
            ToolGone: the tool does not do the same in every run.
        """
        try:
            return self._make(task, scope)
        except ActiondbgError:
            if scope.is_cancelled:
                raise Cancelled from None
            raise

    def keep(self, task: Task, scope: Scope) -> None:
        """Keep the process that stood at the place of a trial for later ones."""
        if scope.ahead is not None:
            scope.release(scope.ahead)
            self._bases.add(task.place, scope.ahead)

    def near(self, ordinal: int) -> ForkedTool:
        """Make a replica that stands at or before an action of the run with all applied."""
        with self._bases.near(ordinal) as base:
            replica = base.replica.fork()
        if self._breakpoints:
            replica.request(protocol.SetBreakpoints(breakpoints=[]))
        return replica

    def replay(self, ordinal: int, when: Literal["before", "after"] = "before") -> ForkedTool:
        """Make a replica that stands at an action of the run with all applied; close it."""
        replica = self.near(ordinal)
        try:
            replica.advance(ordinal, when)
        except BaseException:
            replica.close()
            raise
        return replica

    def _make(self, task: Task, scope: Scope) -> Evidence:
        with self._bases.near(task.place) as base:
            ahead = base.replica
            if task.place and base.place != task.place:
                ahead = scope.own(_fork(ahead, "checkpoint", scope.directory / "ahead"))
                stop = ahead.advance(task.place)
                if stop.reason == "catch":
                    return self._evidence(scope.directory / "ahead", stop)
                scope.ahead = ahead
            trial = scope.own(_fork(ahead, "trial", scope.directory / "trial"))
        trial.request(task.plan)
        try:
            stop = trial.complete(task.seconds)
            if task.plan.record is not None and stop.when != "exit":
                # It was caught; the record is written at the end.
                trial.request(protocol.SetBreakpoints(breakpoints=[]))
                trial.complete(task.seconds)
        except TimeoutError:
            stop = None
        trial.close()
        return self._evidence(scope.directory / "trial", stop)

    def _first(self, run: Execution, keys: bool) -> ForkedTool:
        if run.hello is None or "fork" not in run.hello.capabilities:
            raise LaunchError("The tool cannot be forked, which a bisection needs.")
        fork = protocol.Fork(role="checkpoint")
        replica = self._forks.make(run.request, run.stop, fork)
        if keys:
            replica.request(protocol.SetPlan(keys=True))
        if self._breakpoints:
            replica.request(protocol.SetBreakpoints(breakpoints=self._breakpoints))
        return replica

    def _streams(self, stdin: Path | None) -> Streams:
        first = self.directory / "first"
        return Streams(stdin or os.devnull, first.with_suffix(".out"), first.with_suffix(".err"))

    def _evidence(self, stem: Path, stop: Stop | None) -> Evidence:
        output = stem.with_suffix(".out" if self._line.output is None else ".output")
        if not output.exists() and stop is not None and stop.status == 0:
            name = self._line.argv[self._line.output or 0]
            raise ToolGone(
                f"The tool ended well, and did not write the output that {name!r} names into the "
                "file that it had opened at its start: leave out the option, so that it writes to "
                "its standard output."
            )
        return Evidence(output, stem.with_suffix(".err"), stop)


def _fork(replica: ForkedTool, role: protocol.Role, stem: Path) -> ForkedTool:
    """Fork a process that gets files of its own, which begin with what was written so far."""
    return replica.fork(role, stdout=f"{stem}.out", stderr=f"{stem}.err", output=f"{stem}.output")


def _breakpoint(id: int, catch: protocol.Catch) -> protocol.WireBreakpoint:
    return protocol.WireBreakpoint(
        id=id,
        enabled=True,
        temporary=False,
        after=False,
        ignore=0,
        terms=[],
        condition=None,
        catch=catch,
    )
