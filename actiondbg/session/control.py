"""The control of a live tool: resumes it, and records controls on the timeline."""

from __future__ import annotations

from actiondbg import protocol
from actiondbg.errors import AgentError
from actiondbg.process.branches import Branches
from actiondbg.process.execution import Execution
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions, StopUpdates
from actiondbg.session.observers import Goal, ObserverList, goal_breakpoint
from actiondbg.session.skip_plan import SkipPlan
from actiondbg.support.counts import check_count


class ToolControl:
    """Resumes the tool up to the next stop.

    A control that differs from the earlier one at the same stop begins a new branch of the
    timeline.
    """

    def __init__(
        self,
        executions: Executions,
        updates: StopUpdates,
        skips: SkipPlan,
        observers: ObserverList,
    ) -> None:
        self._executions = executions
        self._updates = updates
        self._skips = skips
        self._observers = observers

    def wait(self) -> Stop:
        """Wait for the next stop; return the current one if the tool is stopped."""
        self._observers.check_resumable()
        return self._updates.resume(self._executions.need().wait)

    def resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Resume the tool up to the ``count``-th stop; raises ControlRefused if it cannot."""
        self._observers.check_resumable()
        self._skips.locate()
        watched = self._observers.is_active
        if not watched and (not self._skips.ends_ahead or count <= 1):
            return self._resume(control, count, until)
        check_count(count)
        # One by one: the agent's count would include barriers of skips and stops for observers.
        with self._observers.reporting_once():
            return self._resume_one_by_one(control, count, until)

    def _resume_one_by_one(
        self, control: protocol.Control, count: int, until: protocol.Until | None
    ) -> Stop:
        stop = self._resume_observed(control, until)
        for _ in range(count - 1):
            if stop.when == "exit" or stop.reason == "interrupt":
                break
            refused = control in ("apply", "skip") and stop.when != "before"
            stop = self._resume_observed("continue" if refused else control, until)
        return stop

    def skip_and_step(self) -> Stop:
        """Skip the action of the stop, and stop at the next event; ControlRefused elsewhere."""
        self._observers.check_resumable()
        self._skips.locate()
        stop = self._executions.need().stop
        event = None if stop is None else stop.event + 1
        if not self._observers.is_active:
            return self._stepped(self._resume("skip", event=event))
        with self._observers.aiming(Goal(reason="step", any_event=True)):
            return self._stepped(self._resume("skip", event=event))

    def _stepped(self, stop: Stop) -> Stop:
        return self._with_reason(stop, "step") if stop.reason == "until" else stop

    def begin(self, control: protocol.Control) -> Stop:
        """Wait for the first stop of a started tool: with "step" before the first action."""
        if not self._observers.is_active:
            return self.wait()
        goal = Goal(reason="start", any_event=True) if control == "step" else Goal()
        with self._observers.aiming(goal):
            stop = self.wait()
            while self._observers.passes:
                stop = self._resume("continue")
        return stop

    # --- with observers ---

    def _resume_observed(self, control: protocol.Control, until: protocol.Until | None) -> Stop:
        if not self._observers.is_active:
            return self._resume(control, 1, until)
        goal = self._goal(control, until)
        with self._observers.aiming(goal):
            # Without a goal, the agent carries the control out, or refuses it.
            is_plain = control not in ("next", "finish") or goal.place is None
            until_goal = None
            if goal.place is not None:
                until_goal = protocol.until_action(goal.place[0], goal.place[1] == "after")
            stop = self._resume(control if is_plain else "continue", 1, until_goal)
            while self._observers.passes:
                stop = self._resume("continue", 1, until_goal)
        if goal.place == (stop.ordinal, stop.when) and stop.reason == "until":
            stop = self._with_reason(stop, goal.reason)
        return stop

    def _goal(self, control: protocol.Control, until: protocol.Until | None) -> Goal:
        stop = self._executions.need().stop
        if until is not None:
            parent = self._parent() if until.within else None
            return Goal(
                reason="until",
                place=None if parent is None else (parent, "after"),
                breakpoints=[goal_breakpoint(until)],
                own_change=until.own,
            )
        if stop is None or control not in ("step", "next", "finish"):
            return Goal()
        if control == "step":
            return Goal(reason=control, any_event=True)
        if control == "finish":
            parent = self._parent()
            return Goal(reason=control, place=None if parent is None else (parent, "after"))
        if stop.when == "after":
            not_deeper = protocol.Until(condition=protocol.comparison("depth", "<=", stop.depth))
            return Goal(reason=control, breakpoints=[goal_breakpoint(not_deeper)])
        return Goal(reason=control, place=(stop.ordinal, "after") if stop.ordinal else None)

    def _parent(self) -> int | None:
        stop = self._executions.need().stop
        frames = self._executions.ask(protocol.GetFrames()).frames
        around = [one.ordinal for one in frames if stop and one.depth == stop.depth - 1]
        return around[0] if around else None

    def _with_reason(self, stop: Stop, reason: protocol.Reason) -> Stop:
        changed = stop.with_reason(reason)
        self._executions.need().stop = changed
        return changed

    # --- the timeline ---

    def _resume(
        self,
        control: protocol.Control,
        count: int = 1,
        until: protocol.Until | None = None,
        event: int | None = None,
    ) -> Stop:
        check_count(count)
        execution = self._executions.need()
        message = protocol.Resume(control=control, count=count, until=until, event=event)
        before = self._record_control(execution, control)
        try:
            return self._updates.resume(lambda: execution.resume(message))
        except AgentError:
            if before is not None:
                execution.branches = before
                execution.send_skips()
            raise

    def _record_control(self, execution: Execution, control: protocol.Control) -> Branches | None:
        """Record a control on the timeline; return the branches before it, if it changes them."""
        stop = execution.stop
        answers = control in ("skip", "apply") and execution.state == "stopped"
        if stop is None or not answers or stop.when != "before":
            return None
        before = execution.branches.save()
        if not execution.branches.decide(stop, control == "skip"):
            return None
        if execution.branches.current.number != before.current.number:
            self._skips.rules.begin_branch(stop)
        execution.send_skips()
        self._skips.replan(before.planned())
        return before
