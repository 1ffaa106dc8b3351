"""A session: one debugged program and its runs."""

from __future__ import annotations

import os
import shlex
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import BreakpointTable
from actiondbg.breakpoints.selection import Selection, select
from actiondbg.breakpoints.spec import attempt_terms
from actiondbg.errors import ActiondbgError, UsageError
from actiondbg.ir.value_names import ValueNames
from actiondbg.process.execution import Execution, State
from actiondbg.process.program_run import FollowedProcess, WaitingProgram
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Redirection, Streams
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.breakpoints import AgentBreakpoints, BreakpointList
from actiondbg.session.control import ToolControl
from actiondbg.session.edits.edits import Edits
from actiondbg.session.executions import Executions, InnerStops, StopUpdates
from actiondbg.session.inspection.agent_access import BranchNames, NamedAccess, QuestionGroup
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.inspection.native_debugger import NativeDebugger
from actiondbg.session.inspection.stack import Outcome, Stack
from actiondbg.session.inspection.stopped_ir import StoppedIR
from actiondbg.session.names import SessionNames
from actiondbg.session.observers import ObserverList
from actiondbg.session.past.replay import Replay
from actiondbg.session.runnable_session import Beginning, RunnableSession
from actiondbg.session.scout import Scout
from actiondbg.session.skip_plan import SkipPlan
from actiondbg.session.skip_rules import SkipRules
from actiondbg.session.target import ProcessFollower, Target, processes_of
from actiondbg.session.time_travel import TimeTravel
from actiondbg.session.tool_replacement import ToolReplacement
from actiondbg.tool.program import Program

if TYPE_CHECKING:
    from actiondbg.session.past.past import Past


def launch(
    argv: Sequence[str],
    *,
    stdin: Redirection = None,
    stdout: Redirection = None,
    stderr: Redirection = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    skips: str | os.PathLike[str] | None = None,
    edits: str | os.PathLike[str] | None = None,
    randomize: bool = False,
    follow: str | None = None,
    without: Sequence[str] = (),
) -> Session:
    """Make a session; nothing runs yet.

    Args:
        argv: the tool's command line, such as ``["mlir-opt", "in.mlir", "--canonicalize"]``.
        stdin: a path, a file or its descriptor; None for ours, unless ours is a terminal.
        stdout: a path, a file or its descriptor, or "inherit" for ours; None for a file of the
            session's, which ``target.output`` reads.
        stderr: as ``stdout``; ``target.errors`` reads it.
        cwd: the tool's working directory; None for ours.
        env: the tool's environment; None for ours.
        skips: a file of ``skips.save``: its actions are skipped in each run.
        edits: a file of ``edits.save``: its edits are applied in each run.
        randomize: whether the tool's addresses are random, so that runs may differ.
        follow: a glob of the processes to debug in a program that starts tools: of the name of the
            executable, or of a word of the command line; None for each that makes an MLIR context.
        without: names of capabilities that the agent does not use, such as ``["print"]``: where a
            check of it was wrong, and the tool crashes.

    Raises:
        UsageError: the command line is empty, a glob is wrong, a capability is unknown, or the
            skips or edits cannot be read.
    """
    program = Program(argv, cwd, env, randomize, follow, without)
    session = Session(program, Streams(stdin, stdout, stderr))
    if skips is not None:
        session.skips.load(skips)
    if edits is not None:
        session.edits.load(edits)
    return session


def connect(path: str | os.PathLike[str]) -> Session:
    """Make a session of a program that waits in ``actiondbg.attach(wait=True)``.

    ``run`` and ``start`` let it go on, once. It outlives the session, and is not forked: there is
    no time travel.

    Args:
        path: the socket at which it waits, as it has printed.

    Raises:
        LaunchError: no program waits there.
    """
    return Session(WaitingProgram(path), Streams(None, None, None))


class Session(RunnableSession):
    """One debugged program; use it as a context manager, or ``close`` it.

    A KeyboardInterrupt during the wait for a stop leaves the tool running: call ``interrupt`` to
    stop it, and ``wait`` to wait for that stop.

    Attributes:
        target: the program, its tool, and the tool's output.
        breakpoints: breakpoints, watches and catches.
        skips: the skips of each run.
        edits: the edits of the IR at stops.
        options: verification, counting, automatic checkpoints.
        stack: the stack of actions at the stop.
        cursor: the IR unit in view.
        ir: the IR at the stop.
        outcome: the outcome and the changes of the action at the stop.
        native: native debuggers at the stop.
        timeline: time travel.
        past: queries about the run, answered by a replay.
        observers: callbacks before and after actions.
        names: names of tags, patterns, passes, operations and functions.
    """

    def __init__(self, program: Program, streams: Streams) -> None:
        self._executions = executions = Executions(program, streams)
        self._control: protocol.Control = "continue"
        self._table = BreakpointTable()
        self._agent_breakpoints = breakpoints = AgentBreakpoints(self._table, executions)
        self.target = Target(executions)
        self.options = AgentOptions(executions)
        self._values = values = ValueNames()
        self._branch_names = branch_names = BranchNames(executions, values)
        self._questions = questions = QuestionGroup(executions)
        named = NamedAccess(questions, values, executions.new_print)
        self.stack = Stack(named)
        self.cursor = Cursor(named)
        self.ir = StoppedIR(named, self.stack, self.cursor, values, executions.new_print)
        self.outcome = Outcome(executions, lambda: executions.stop)
        self.names = SessionNames(executions, breakpoints)
        super().__init__(executions, self.names)
        self.breakpoints = BreakpointList(self._table, breakpoints, self.cursor, self.names)
        self.observers = ObserverList(executions, breakpoints, self.names)
        self._past: Past | None = None
        self._replay = replay = Replay(executions)
        self._scout = scout = Scout(executions, self.options)
        self.native = NativeDebugger(executions, scout)
        replacement = ToolReplacement(executions, breakpoints, self.options)
        rules = SkipRules(executions, replacement, self.names)
        self.skips = SkipPlan(executions, breakpoints, scout, replay, rules)
        self.edits = Edits(
            executions,
            self.cursor,
            scout,
            replay,
            self.skips,
            [self.stack.reset, self.ir.reset, questions.forget, branch_names.follow],
        )
        inner_stops = InnerStops()
        follower = ProcessFollower(
            executions, self.options, breakpoints, self.skips, branch_names.clear
        )
        updates = StopUpdates(
            executions,
            resuming=[breakpoints.resuming, self.stack.reset, self.ir.reset, questions.forget],
            updates=[
                self.observers.filter,  # breakpoints whose predicates refuse the stop leave it
                breakpoints.update,  # only those that are left were hit, and temporary ones go
                executions.update,  # the timeline gets the stop, with these breakpoints
                branch_names.update,  # values have the names of the branch of the timeline
                inner_stops.update,  # stops inside of an action are counted, for the way back
                self.names.update,  # names of actions are saved at the end
                breakpoints.restore,  # after time travel the agent gets the breakpoints again
                self.skips.update,  # a saved skip that matches no action is an error
                self.edits.update,  # likewise a saved edit
                self.observers.notify,  # callbacks see the session as it is, and may resume it
            ],
            follow=follower.follow,
            turn=follower.turn,
        )
        self._updates = updates
        self._follower = follower
        self._tool = ToolControl(executions, updates, self.skips, self.observers)
        self.timeline = TimeTravel(
            executions,
            breakpoints,
            self.options,
            updates,
            self.observers,
            inner_stops,
            self.skips,
            scout,
            replacement,
            self.stack,
        )
        # No collaborator refers to the session: its last reference releases it.
        self._release = weakref.finalize(self, executions.release)

    @property
    def past(self) -> Past:
        """Queries about the run, answered by a replay."""
        if self._past is None:
            # Its analyses are imported at the first query: a run needs none of them.
            from actiondbg.session.past.past import Past

            self._past = Past(
                self._executions,
                self.cursor,
                self._values,
                self._replay,
                self._scout,
                self.names,
            )
        return self._past

    def close(self) -> None:
        """End the tool, and remove the session's files."""
        if not self._executions.is_closed:
            self.names.learn()
        self._executions.close()
        self._release()

    # --- the state ---

    @property
    def execution(self) -> Execution | None:
        """The current process of the tool, which may have ended; None before the first run."""
        return self._executions.current

    def __repr__(self) -> str:
        line = str(self.stop or "").partition("\n")[0]
        stop = line[:1].lower() + line[1:]
        return f"<Session of {shlex.join(self.target.argv)}: {stop or self.state}>"

    def _repr_html_(self) -> str:
        """Return the stop for a notebook, with coloured lines of IR and an arrow at the cursor."""
        from actiondbg.ir.html import notebook_page

        head = notebook_page([(str(self.stop or repr(self)), "")])
        if self.state != "stopped":
            return head
        try:
            return head + notebook_page(self.ir.excerpt().rows())
        except ActiondbgError:  # such as an erased operation
            return head

    @property
    def state(self) -> State:
        """Whether the tool runs."""
        return self._executions.state

    @property
    def stop(self) -> Stop | None:
        """The current stop, or the end; None while the tool runs and before its first start."""
        return self._executions.stop

    def ask_together(self, lines: int = 0) -> None:
        """Ask what a front end shows of each stop at once: the action, the cursor, the line of its
        operation, its definitions and users. Each question alone costs a fork of the tool.

        Args:
            lines: also this many lines of IR before and after the cursor.
        """
        excerpts = [protocol.GetExcerpt(before=each, after=each) for each in {0, lines}]
        links = [protocol.GetLinks(direction=each) for each in ("defs", "users")]
        single = (protocol.GetAction(), protocol.GetCursor())
        self._questions.set((*single, *links, *excerpts))

    @property
    def can_go_back(self) -> bool:
        """Whether time travel may reach what has run."""
        execution = self.execution
        if execution is None or execution.has_origin:
            return execution is not None
        return execution.is_repeatable and self._executions.why_not_beside() is None

    @property
    def way_on(self) -> str | None:
        """How to go on where a tool has ended and its program runs on, in a clause; or None."""
        return self.execution.way_on if self.execution else None

    @property
    def processes(self) -> list[FollowedProcess]:
        """The processes of the program that were debugged, in their order."""
        return processes_of(self._executions.current, self.target.argv)

    @property
    def threads(self) -> list[protocol.Thread]:
        """The threads that ran actions so far; raises NotStopped when there is no stop."""
        return self._executions.ask(protocol.GetThreads()).threads

    # --- runs ---

    def restart(self) -> Stop:
        """Repeat the last run or start; breakpoints are kept, checkpoints are not."""
        self.observers.check_resumable()
        with self.observers.reporting_once():
            return self._restart()

    def _restart(self) -> Stop:
        self._executions.prepare()
        self.kill()
        self._table.forget_hits()
        self._branch_names.clear()  # another input may be read now
        # Saved skips are located at the first stop.
        is_located = [self.skips.begin_run(), self.edits.begin_run()]
        control = "step" if any(is_located) else self._control
        started = self._executions.start(self._follower.at_start(control))
        self.skips.rules.begin_run(started)
        stop = self._tool.begin(control)
        if self._control == control or stop.when != "before" or stop.breakpoints:
            return stop
        return self._tool.resume(self._control)

    def kill(self) -> None:
        """End the tool, if it runs; its past is lost."""
        self.observers.check_resumable()
        self.names.learn()
        if self.execution is not None:
            self.execution.kill()
            self._agent_breakpoints.count_hits()
        self._executions.forget()
        self.stack.reset()
        self.ir.reset()

    def interrupt(self) -> None:
        """Stop the running tool before its next action; does not wait.

        A second call while the tool still runs stops it at once, inside the action.
        """
        if self.execution is not None:
            self.execution.interrupt()

    def wait(self) -> Stop:
        """Wait for the next stop; return the current one if the tool is stopped."""
        return self._tool.wait()

    # --- controls ---

    def continue_(self, count: int = 1) -> Stop:
        """Continue to the ``count``-th next breakpoint, or the end.

        When a process of a program has ended with an error: to the next process.
        """
        execution = self._executions.current
        if execution is not None and execution.goes_on and execution.stop is not None:
            ended = execution.stop
            return self._updates.resume(lambda: self._follower.follow(ended))
        if execution is not None and execution.awaits_tool:
            execution.expect_tool(self._follower.at_start("continue"))
            return self._tool.wait()
        return self._tool.resume("continue", count)

    def step(self, count: int = 1) -> Stop:
        """Stop at the very next event: before a nested action, or after this one."""
        return self._tool.resume("step", count)

    def next(self, count: int = 1) -> Stop:
        """Stop after this action, or, when already after it, before the next of its depth."""
        return self._tool.resume("next", count)

    def finish(self, count: int = 1) -> Stop:
        """Stop after the action around this one.

        Raises:
            ControlRefused: there is no action around this one.
        """
        return self._tool.resume("finish", count)

    def apply(self, count: int = 1) -> Stop:
        """Carry this action out, and continue to the next breakpoint; see ``skip``."""
        return self._tool.resume("apply", count)

    def skip(self, count: int = 1, *, step: bool = False) -> Stop:
        """Skip this action, and continue to the next breakpoint.

        Args:
            count: the number of stops whose action is skipped, from 1.
            step: stop at the next event instead, which is the end of the skipped action.

        Raises:
            ControlRefused: the tool is not stopped before an action.
            UsageError: a count is given with ``step``.
        """
        if step and count != 1:
            raise UsageError("A skip that stops at the next event takes no count: leave it out.")
        if step:
            return self._tool.skip_and_step()
        # One by one: the timeline records each skip for replays.
        with self.observers.reporting_once():
            stop = self._tool.resume("skip", min(count, 1))
            for _ in range(count - 1):
                if stop.reason not in ("breakpoint", "watch"):
                    break
                stop = self._tool.resume("skip" if stop.when == "before" else "continue")
        return stop

    def _until(self, selection: Selection, *, within: bool) -> Stop:
        return self._tool.resume("continue", until=selection.until(within=within))

    def next_attempt(self, name: str, location: str | None = None) -> Stop:
        """Continue to the end of the next attempt of a pattern, with any outcome.

        Args:
            name: of the pattern, a glob.
            location: of the operation, such as "in.mlir:3"; None for any.
        """
        until = protocol.Until(
            terms=attempt_terms(name, location),
            after=True,
            outcome=protocol.OutcomeFilter(),
        )
        return self._tool.resume("continue", until=until)

    def next_change(self, count: int = 1) -> Stop:
        """Continue to the end of the next action that itself changes the IR.

        Actions that change the IR only by nested actions do not count.

        Args:
            count: the number of such actions, from 1.
        """
        outcome = protocol.OutcomeFilter(results=["changed"])
        until = protocol.Until(after=True, outcome=outcome, own=True)
        return self._tool.resume("continue", count, until)

    def next_success(self, spec: str | None = None, condition: str | None = None) -> Stop:
        """Continue to the end of the next successful attempt of a pattern, or fold.

        Breakpoints at attempts and at folds only count their hits on the way.

        Args:
            spec: as of a breakpoint; None for the SPEC of the breakpoint that names the attempt at
                the stop; without such a breakpoint, for the pattern of the attempt, or the folds of
                its operation name; at any other stop, for all patterns.
            condition: as of a breakpoint; None for none.
        """
        if spec is None:
            spec, condition = self._table.attempts_at(self.stop)
        successes = select(self.names, spec, condition, outcome="succeeded")
        with self._agent_breakpoints.passing_attempts():
            return self._until(successes, within=False)

    # --- helpers ---

    def _begin(self, how: Beginning, args: list[str] | None, streams: Streams) -> Stop:
        streams.check()  # before the previous run is ended
        if args is not None:
            self.target.argv[1:] = args
        self._executions.redirect(streams)
        self._control = "continue" if how == "run" else "step"
        return self.restart()
