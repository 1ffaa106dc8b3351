"""The tool, frozen before its first action, and the processes that trials run in."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from actiondbg import protocol
from actiondbg.bisection.command_runner import Cancelled
from actiondbg.bisection.oracles import TrialFiles
from actiondbg.bisection.task import BisectionTask
from actiondbg.bisection.trial import RunningTrial, Trial
from actiondbg.bisection.verdict import Milestone
from actiondbg.breakpoints.breakpoint import catches_on_wire
from actiondbg.errors import ActiondbgError, LaunchError, ToolGone
from actiondbg.process.cold_start import ColdStart, StartedTool, started_tool
from actiondbg.process.execution import Execution, start_execution
from actiondbg.process.forked_tool import ForkedTool, ForkOwner
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Streams
from actiondbg.process.tool_process import LaunchOptions
from actiondbg.support.closeable import Closeable
from actiondbg.support.globs import escape_glob
from actiondbg.support.interrupts import HeldInterrupts

_REMEDY = "bisect a tool that compiles in one thread"
_MILESTONE = 1 << 30  # the id of a breakpoint; catches have smaller ones
_ALWAYS = (1 << 31) - 1  # hits that are ignored
_MOST_FROZEN = 3  # processes that are kept frozen, besides the one at the start


@dataclass
class _FrozenProcess:
    """A process that is stopped before the action ``ordinal``; 0 for the start."""

    ordinal: int
    fork: ForkedTool | ColdStart
    users: int = 0
    retired: bool = False


@dataclass
class _FrozenProcesses:
    """The frozen processes that trials are forked from. The one at the start is never retired."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    processes: list[_FrozenProcess] = field(default_factory=list[_FrozenProcess])

    @contextlib.contextmanager
    def nearest(self, ordinal: int) -> Generator[_FrozenProcess]:
        """Use the last process that is stopped at or before an action."""
        with self.lock:
            start = self.processes[0]
            nearest = max(
                (one for one in self.processes if one.ordinal <= ordinal or one is start),
                key=lambda one: one.ordinal,
            )
            nearest.users += 1
        try:
            yield nearest
        finally:
            with self.lock:
                nearest.users -= 1
                is_unused = nearest.retired and not nearest.users
            if is_unused:
                nearest.fork.close()

    def add(self, ordinal: int, fork: ForkedTool) -> None:
        """Keep one more process, and retire the oldest ones."""
        unused: list[_FrozenProcess] = []
        with self.lock:
            self.processes.append(_FrozenProcess(ordinal, fork))
            while len(self.processes) > _MOST_FROZEN + 1:
                oldest = self.processes.pop(1)
                oldest.retired = True
                if not oldest.users:
                    unused.append(oldest)
        for one in unused:
            one.fork.close()


class FrozenTool(Closeable):
    """The tool, stopped before its first action. Threads may share it.

    Each trial is a fork of it. A tool that cannot be forked is started anew for each trial.

    Args:
        task: the tool, the events that end a trial, and whether plans name actions by keys, which
            the agent must count from the start.
        directory: for its files; short enough for sockets.
        randomize: whether its addresses are random.

    Attributes:
        stop: before #1, or the end of a tool that has no actions.
        is_cold: whether each trial starts the tool anew.
        milestone: a pass that trials may get past, see ``TrialFiles``; None for none.
        started: the tool that the program only starts, which is to be bisected instead; or None.
    """

    def __init__(self, task: BisectionTask, directory: Path, randomize: bool = False) -> None:
        self._line = task.command_line()
        # The file of the tool's -o is not the user's.
        argv = self._line.with_output(directory / "first.output")
        self._program = task.program(argv, randomize)
        self._stdin = task.stdin
        self._keys = task.keys
        self.directory = directory
        self._breakpoints = catches_on_wire(task.oracle.catches)
        self._held = HeldInterrupts()
        self._forks = ForkOwner(directory, self._held)
        self._numbers = itertools.count()
        self._frozen = _FrozenProcesses()
        self._execution: Execution | None = None
        self.is_cold = task.no_fork
        self.milestone: Milestone | None = None
        self.started: StartedTool | None = None
        with self._held:
            options = LaunchOptions(resume=protocol.Resume(control="step"))
            self._execution = execution = start_execution(
                self._program, directory, self._streams(), options
            )
        try:
            self.stop = execution.wait()
            if execution.hello is not None:
                self.started = started_tool(self._program, execution.hello.pid)
            if self.stop.when != "exit" and self.started is None:
                self.is_cold = task.no_fork or not self._can_fork(execution)
                freeze = self._start_anew if self.is_cold else self._freeze_start
                self._frozen.processes.append(_FrozenProcess(0, freeze(execution)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes of the tool."""
        self._forks.close()
        if self._execution is not None:
            self._execution.kill()

    @property
    def path(self) -> Path:
        """The executable of the tool."""
        return self._program.tool.path

    def evidence_without_actions(self) -> TrialFiles:
        """Return the files of a tool that ended before its first action."""
        return self._evidence(self.directory / "first", self.stop)

    def new_trial(self) -> RunningTrial:
        """Make the directory of a trial."""
        return RunningTrial(self.directory / f"t{next(self._numbers)}")

    def run(self, trial: Trial, running: RunningTrial) -> TrialFiles:
        """Run a trial to its end.

        Raises:
            Cancelled: another thread cancelled ``running``.
            ToolGone: the tool does not repeat its run.
        """
        try:
            return self._run(trial, running)
        except ActiondbgError:
            if running.is_cancelled:
                raise Cancelled from None
            raise

    def keep_frozen(self, trial: Trial, running: RunningTrial) -> None:
        """Keep the process that is stopped at a trial's first skip, for later trials."""
        if running.at_first_skip is not None:
            running.release(running.at_first_skip)
            self._frozen.add(trial.first_skip, running.at_first_skip)

    def fork_before(self, ordinal: int) -> ForkedTool:
        """Fork the tool at or before an action of the run that skips nothing."""
        with self._frozen.nearest(ordinal) as frozen:
            fork = frozen.fork.fork()
        if self._breakpoints:
            fork.request(protocol.SetBreakpoints(breakpoints=[]))
        return fork

    def replay(self, ordinal: int, when: Literal["before", "after"] = "before") -> ForkedTool:
        """Fork the tool and stop it at an action of the run that skips nothing; close the fork."""
        fork = self.fork_before(ordinal)
        try:
            fork.advance(ordinal, when)
        except BaseException:
            fork.close()
            raise
        return fork

    def _run(self, trial: Trial, running: RunningTrial) -> TrialFiles:
        with self._frozen.nearest(trial.first_skip) as frozen:
            start = frozen.fork
            if trial.first_skip and frozen.ordinal != trial.first_skip and not self.is_cold:
                stem = running.directory / "ahead"
                start = running.own(_fork(start, "checkpoint", stem))
                stop = start.advance(trial.first_skip)
                if stop.reason == "catch":
                    return self._evidence(stem, stop)
                running.at_first_skip = start
            fork = running.own(_fork(start, "trial", running.directory / "trial"))
        begun = 0 if self.is_cold else trial.first_skip
        counted = self._count_milestone(fork)
        fork.request(trial.plan)
        start_time = time.monotonic()
        try:
            stop = fork.complete(trial.seconds, processor=trial.processor)
            if trial.plan.record is not None and stop.when != "exit":
                # The trial was caught, but the agent writes the record at the tool's end.
                fork.request(protocol.SetBreakpoints(breakpoints=[]))
                fork.complete(trial.seconds, processor=trial.processor)
        except TimeoutError:
            stop = None
        fork.close()
        evidence = self._evidence(running.directory / "trial", stop)
        return evidence._replace(
            is_past=counted and self._is_past(fork, begun), seconds=time.monotonic() - start_time
        )

    def _count_milestone(self, fork: ForkedTool) -> bool:
        """Let a trial count the runs of the milestone's pass that end well or are skipped."""
        if self.milestone is None:
            return False
        counting = protocol.WireBreakpoint(
            id=_MILESTONE,
            after=True,
            ignore=_ALWAYS,
            terms=[protocol.Term(kind="pass", glob=escape_glob(self.milestone.argument))],
            outcome=protocol.OutcomeFilter(results=["succeeded", "skipped"]),
        )
        fork.request(protocol.SetBreakpoints(breakpoints=[*self._breakpoints, counting]))
        return True

    def _is_past(self, fork: ForkedTool, begun: int) -> bool:
        """Return whether a trial that began before an action got past the milestone."""
        assert self.milestone is not None
        hits = fork.exited.hits if fork.exited else []
        count = sum(one.hits for one in hits if one.id == _MILESTONE)
        return count >= sum(end >= begun for end in self.milestone.ends)

    def _can_fork(self, execution: Execution) -> bool:
        """Return whether trials are forks; raises LaunchError if the runs differ as well."""
        capabilities = execution.hello.capabilities if execution.hello else ()
        if "fork" in capabilities:
            return True
        if "ordinals-stable" in capabilities:
            return False
        raise LaunchError(
            "The tool cannot be forked, and its actions have other numbers in each run, so that a "
            f"bisection cannot skip the same ones: {_REMEDY}."
        )

    def _check_one_thread(self, execution: Execution) -> None:
        """Run a program to its end, and refuse one whose actions run in several threads.

        A fork of such a program may wait forever for a thread that only the program has.
        """
        if not self._program.is_followed:
            return
        end = execution.resume(protocol.Resume(control="continue"))
        if end.unforkable is not None:
            raise LaunchError(f"The program cannot be bisected: {end.unforkable}; {_REMEDY}.")

    def _freeze_start(self, execution: Execution) -> ForkedTool:
        checkpoint = protocol.Fork(role="checkpoint")
        fork = self._forks.make(execution.request, execution.stop, checkpoint)
        for request in self._preparation():
            fork.request(request)
        self._check_one_thread(execution)
        return fork

    def _start_anew(self, execution: Execution) -> ColdStart:
        self._check_one_thread(execution)
        execution.kill()
        return ColdStart(
            self._program,
            self._line.with_output,
            self._stdin or os.devnull,
            self.directory,
            self._forks,
            self._held,
            self._preparation(),
        )

    def _preparation(self) -> list[protocol.Request[protocol.Empty]]:
        requests: list[protocol.Request[protocol.Empty]] = []
        if self._keys:
            requests.append(protocol.SetPlan(keys=True))
        if self._breakpoints:
            requests.append(protocol.SetBreakpoints(breakpoints=self._breakpoints))
        return requests

    def _streams(self) -> Streams:
        first = self.directory / "first"
        return Streams(
            self._stdin or os.devnull, first.with_suffix(".out"), first.with_suffix(".err")
        )

    def _evidence(self, stem: Path, stop: Stop | None) -> TrialFiles:
        output = stem.with_suffix(".out" if self._line.output is None else ".output")
        if not output.exists() and stop is not None and stop.status == 0:
            name = self._line.argv[self._line.output or 0]
            raise ToolGone(
                f"The tool ended with status 0, but did not write to the file that it had opened "
                f"for {name!r} at its start: leave out the option, so that it writes to its "
                "standard output."
            )
        return TrialFiles(output, stem.with_suffix(".err"), stop)


def _fork(tool: ForkedTool | ColdStart, role: protocol.Role, stem: Path) -> ForkedTool:
    """Fork a process with copies of the files that the tool has written so far."""
    return tool.fork(role, stdout=f"{stem}.out", stderr=f"{stem}.err", output=f"{stem}.output")
