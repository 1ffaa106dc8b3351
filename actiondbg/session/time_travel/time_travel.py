"""Movement along the timeline of a run, backwards and forwards."""

from __future__ import annotations

import functools
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import ControlRefused, NoAnswer, ToolGone, UsageError
from actiondbg.process.checkpoints import Frozen
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Side, Stop
from actiondbg.process.timeline import Branches, Timeline, event_before
from actiondbg.session.agent_breakpoints import AgentBreakpoints
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.arrival import Arrival, InnerStops
from actiondbg.session.executions import Executions
from actiondbg.session.observers import ObserverList
from actiondbg.session.scout import Scout, usable_for
from actiondbg.session.skip_plan import SkipPlan
from actiondbg.session.time_travel.checkpoints import CheckpointList
from actiondbg.session.time_travel.reverse_search import Hit, Segment, newest_hits
from actiondbg.session.time_travel.tool_replacement import ToolReplacement

_BEGINNING = "this is the beginning of the run"


class _Spot(NamedTuple):
    """A position on the timeline: the newest event, and its action.

    ``when`` is "before", "after" or "during" the action, or "exit".
    """

    event: int
    when: str
    ordinal: int
    depth: int


class TimeTravel:
    """Moves the session along its timeline, by forking a frozen process and replaying to an event.

    Breakpoints, skips and settings hold in both directions. What the tool has written after the
    event is discarded. Every method raises NotStopped when the tool runs or was not started; on a
    KeyboardInterrupt, or an error, the session is unchanged.

    Args:
        executions: the processes of the tool.
        breakpoints: of the agent.
        options: of the agent.
        arrival: takes the session to each stop.
        observers: whose predicates refuse breakpoints.
        inner_stops: where in an action the tool stands.
        skips: what is skipped in each run.
        scout: forks that look ahead.
        replacement: replaces the tool by a fork.
    """

    def __init__(
        self,
        executions: Executions,
        breakpoints: AgentBreakpoints,
        options: AgentOptions,
        arrival: Arrival,
        observers: ObserverList,
        inner_stops: InnerStops,
        skips: SkipPlan,
        scout: Scout,
        replacement: ToolReplacement,
    ) -> None:
        self._executions = executions
        self._breakpoints = breakpoints
        self._arrival = arrival
        self._observers = observers
        self._inner_stops = inner_stops
        self._skips = skips
        self._scout = scout
        self._replacement = replacement
        self._checkpoints = CheckpointList(executions, options, inner_stops, self._go_to_frozen)

    @property
    def checkpoints(self) -> CheckpointList:
        """The checkpoints of the run."""
        return self._checkpoints

    def branches(self) -> Timeline:
        """Return the branches of the run, and where on them the tool stands."""
        execution = self._executions.need()
        stop = None if execution.state == "running" else execution.stop
        return Timeline(
            branches=execution.branches.all(),
            current=execution.branches.current.number,
            when=stop.when if stop else None,
            ordinal=stop.ordinal if stop else 0,
            event=stop.event if stop else 0,
        )

    # --- to a place ---

    def goto(self, ordinal: int, when: Side = "before") -> Stop:
        """Go back, or on, to an action; nothing else stops the tool on the way.

        Args:
            ordinal: its number, from 1.
            when: before it, or after it.

        Raises:
            UsageError: there is no such action on this timeline.
        """
        if ordinal < 1:
            raise UsageError(f"There is no action #{ordinal}: actions are numbered from 1.")
        run = self._need_idle()
        stop = run.stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, when):
            return stop
        if not run.frozen():
            return self._goto_without_forks(run, ordinal, when)
        event = self._event_of(run, ordinal, when)
        if run.state == "stopped" and stop is not None and event > stop.event:
            return self._go_on(run, event)
        return self._travel(event)

    def _go_on(self, run: Execution, event: int) -> Stop:
        """Run forwards to an event, but no further than to where a replay of skips ends."""
        self._skips.place()
        event = self._skips.limit(event)
        self._breakpoints.silence()
        message = protocol.Resume(control="continue", event=event)
        return self._arrival.arrive(lambda: run.resume(message))

    def _goto_without_forks(self, run: Execution, ordinal: int, when: Side) -> Stop:
        """Run forwards, or start the tool again: the event of the action is not known."""
        until = protocol.Until(
            terms=[protocol.Term(kind="ordinal", ordinal=ordinal)],
            condition=None,
            within=False,
            after=when == "after",
        )
        message = protocol.Resume(control="continue", until=until)
        stop = run.stop
        is_ahead = stop is not None and (stop.ordinal, stop.when) == (ordinal, "before")
        if run.state == "exited" or not (is_ahead or self._newest_ordinal() < ordinal):
            silent = [msgspec.structs.replace(one, log=True) for one in self._breakpoints.quiet()]
            return self._arrival.arrive(lambda: self._replacement.start_again(message, silent))
        self._breakpoints.silence(log=True)
        return self._arrival.arrive(lambda: run.resume(message))

    def _travel(self, event: int, inside: int = 0) -> Stop:
        """Go to an event of the timeline, by a fork, or by a tool that is started again.

        Args:
            event: the newest event there, from 1.
            inside: 0 for that event itself; k for the k-th stop in an action after it.

        Raises:
            ToolGone, NoAnswer: the tool does not do the same again.
        """
        run = self._executions.need_idle()
        stop = self._go_from(usable_for(run, event), run.branches, event, inside)
        if stop is not None:
            return stop
        resume = protocol.Resume(control="continue", event=event)
        quiet = self._breakpoints.quiet()
        return self._arrival.arrive(lambda: self._replacement.start_again(resume, quiet, inside))

    def _go_to_frozen(self, frozen: Frozen) -> Stop:
        """Go to where a checkpoint stands, on its branch.

        What was written before an event that lies ahead has been discarded, or was never written
        on this timeline. It is written anew then, on the way from where the timelines part.
        """
        run = self._need_idle()
        branches = run.branches.save()
        if not branches.holds(frozen.branch, frozen.event, frozen.stands):
            branches.switch(frozen.branch)
        here = run.stop.event if run.stop else 0
        same = branches.current.number == run.branches.current.number
        common = [
            one
            for one in usable_for(run, min(frozen.event, here))
            if branches.holds(one.branch, one.event, one.stands)
        ]
        if same and frozen.event <= here:
            stop = self._go_from([frozen], branches, None)
        else:
            stop = self._go_from(common, branches, frozen.event, frozen.inside)
        if stop is None:
            raise NoAnswer(f"The tool cannot be forked: checkpoint {frozen.number} is of no use.")
        return stop

    def _go_from(
        self, starts: list[Frozen], branches: Branches, event: int | None, inside: int = 0
    ) -> Stop | None:
        """Go to an event from the first of some processes that can be forked; None: none can."""
        for frozen in starts:
            made = self._replacement.fork(frozen, branches)
            if made is not None:
                return self._arrival.arrive(
                    lambda made=made: self._replacement.replace(made, branches, event, inside)
                )
        return None

    def _newest_ordinal(self) -> int:
        return self._executions.ask(protocol.GetStatus()).ordinal

    def _event_of(self, run: Execution, ordinal: int, when: Side) -> int:
        """Find out at which event an action of this timeline begins or ends."""
        stop = run.stop
        if stop is not None and stop.ordinal == ordinal and when == "before":
            return event_before(ordinal, stop.depth)
        with self._fork_before(run, ordinal) as replica:
            try:
                return replica.advance(ordinal, when).event
            except ToolGone as gone:
                place = f"end of #{ordinal}" if when == "after" else f"#{ordinal}"
                raise UsageError(f"{_how_it_ended(replica)}: there is no {place}.") from gone

    def _fork_before(self, run: Execution, ordinal: int) -> ForkedTool:
        """Return a replica that stands before an action has begun."""
        stop = run.stop
        is_behind = stop is not None and (stop.ordinal, stop.when) == (ordinal, "before")
        if run.state == "stopped" and (is_behind or self._newest_ordinal() < ordinal):
            return self._scout.fork_tool()
        for frozen in run.frozen():
            if frozen.actions < ordinal:
                return self._scout.fork(frozen.replica, [])
        return self._scout.fork(run.origin, [])

    # --- backwards ---

    def reverse_step(self, count: int = 1) -> Stop:
        """Go back to the event before, or ``count`` of them; from the end to the last one."""
        _check_count(count)
        spot = self._spot()
        inside = spot.when not in ("before", "after")
        return self._back_to(spot.event - count + inside)

    def reverse_next(self, count: int = 1) -> Stop:
        """Go back to before this action, or, when already before it, to the event before.

        That is the end of the action before it, or the beginning of the one around it.
        """
        _check_count(count)
        spot = self._spot()
        for left in range(count, 0, -1):
            event = _back_over(spot)
            if left == 1 or event <= 1:
                return self._back_to(event)
            spot = _spot_of(self._scout.peek(event))
        raise AssertionError  # the count is at least 1

    def reverse_finish(self, count: int = 1) -> Stop:
        """Go back to before the action around this one, or ``count`` levels.

        Raises:
            ControlRefused: there is none.
        """
        _check_count(count)
        spot = self._spot()
        if not spot.ordinal or spot.depth < count:
            around = f"{spot.depth} actions are" if spot.depth else "no action is"
            raise ControlRefused(
                f"There is nothing to go back to: {around} around this place. Use reverse-step."
            )
        wanted = spot.depth - count
        [ordinal] = [one.ordinal for one in self._frames(spot.event) if one.depth == wanted]
        return self._back_to(event_before(ordinal, wanted))

    def reverse_continue(self, count: int = 1) -> Stop:
        """Go back to the newest hit of a breakpoint, watch or catch before here.

        Hits to be ignored count too; hits that a predicate refuses do not. Where there
        is none, the tool goes before its first action, and the stop reports that.

        Args:
            count: to the ``count``-th hit before here, from 1.
        """
        _check_count(count)
        with self._observers.reporting_once():
            return self._reverse_continue(count)

    def _reverse_continue(self, count: int) -> Stop:
        left, has_moved = count, False
        while True:
            # A predicate looks at the session, which has to be at the hit: one by one.
            wanted = 1 if self._observers.have_predicates else left
            found = self._newest_hits(wanted)
            if len(found) < wanted:
                break
            stop, has_moved = self._travel(found[-1].event, found[-1].inside or 0), True
            left -= 0 if self._observers.has_refused else wanted
            if left == 0:
                return stop
        number = count - left + len(found)
        hits = f"only {number} hits were" if number else "nothing was hit"
        return self._at_beginning(f"{hits} before: {_BEGINNING}", has_moved)

    # --- behind them ---

    def _need_idle(self) -> Execution:
        """Return the current execution; raises NotStopped when it runs, or has not been started.

        Raises:
            ControlRefused: a callback runs.
        """
        self._observers.check_resumable()
        return self._executions.need_idle()

    def _newest_hits(self, count: int) -> list[Hit]:
        """Return the newest hits before here, the newest first, ``count`` at most."""
        run = self._executions.need_idle()
        return newest_hits(self._segments(run), self._bound(run, self._spot()), count)

    def _spot(self) -> _Spot:
        """Return where the tool stands, or came to."""
        run = self._need_idle()
        stop = run.stop
        if stop is not None and stop.when == "exit" and not stop.event and run.last is not None:
            stop = msgspec.structs.replace(stop, event=run.last.event)  # killed: nobody told
        if stop is None or not stop.event:
            raise ControlRefused("There is nothing to go back to: no action has begun.")
        return _spot_of(stop)

    def _back_to(self, event: int) -> Stop:
        if event >= 1:
            return self._travel(event)
        return self._at_beginning(_BEGINNING)

    def _at_beginning(self, message: str, has_moved: bool = False) -> Stop:
        """Go before the first action.

        Args:
            message: why, for the stop.
            has_moved: the tool may be there already, as it has come from elsewhere.
        """
        spot = self._spot()
        if (spot.event, spot.when) == (1, "before") and not has_moved:
            raise ControlRefused("Already before the first action: there is nothing to go back to.")
        with self._observers.reporting_once():
            run_stop = self._travel(1)
            stop = msgspec.structs.replace(run_stop, reason="start", message=message)
            self._executions.need().stop = stop
        return stop

    def _frames(self, event: int) -> list[protocol.Frame]:
        if self._executions.state == "stopped":
            return self._executions.ask(protocol.Backtrace()).frames
        return self._scout.frames(event)

    def _bound(self, run: Execution, spot: _Spot) -> Hit:
        """Return the place before which hits are looked for."""
        if spot.when == "exit":
            catches = any(
                one.catch is not None and one.enabled for one in self._breakpoints.table.all()
            )
            return Hit(spot.event, None if catches else 1)
        if spot.when != "during":
            return Hit(spot.event, 0)
        event, number = self._inner_stops.event, self._inner_stops.number
        number = number if event == spot.event else 0
        interrupted = run.stop is not None and run.stop.reason == "interrupt"
        return Hit(spot.event, number + interrupted)

    def _segments(self, run: Execution) -> list[Segment]:
        """Return the frozen processes, the newest first; raises NoAnswer without the first."""
        quiet = self._breakpoints.quiet()
        all_frozen = [*run.frozen(), Frozen(run.origin, 1)]
        return [
            Segment(one.event, one.stands, functools.partial(self._scout.fork, one.replica, quiet))
            for one in all_frozen
            if one.stands or one.replica.stop is None  # not inside of an action
        ]


def _check_count(count: int) -> None:
    if count < 1:
        raise UsageError(f"The count must be at least 1, got {count}.")


def _spot_of(stop: Stop) -> _Spot:
    return _Spot(stop.event, stop.when, stop.ordinal, stop.depth)


def _back_over(spot: _Spot) -> int:
    """Return the event to which reverse-next goes."""
    if spot.when == "before":
        return spot.event - 1
    if not spot.ordinal:  # at the end, or inside of no action
        return spot.event
    return event_before(spot.ordinal, spot.depth)


def _how_it_ended(replica: ForkedTool) -> str:
    if replica.crashed is not None:
        return f"The tool crashes in #{replica.crashed.ordinal}"
    actions = replica.exited.actions if replica.exited else None
    return "The tool ends" if actions is None else f"The tool ends after {actions} actions"
