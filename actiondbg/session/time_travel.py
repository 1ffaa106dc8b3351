"""Time travel: movement along the timeline of a run, and the search for hits before a position."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import ControlRefused, NoAnswer, ToolGone, UsageError
from actiondbg.process.branches import (
    ALREADY_THERE,
    BEGINNING,
    Branches,
    Timeline,
    event_before,
    only_found,
    too_far_out,
)
from actiondbg.process.checkpoints import Automatic, Checkpoint, Frozen
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Side, Stop
from actiondbg.session.agent_options import AgentOptions
from actiondbg.session.breakpoints import AgentBreakpoints
from actiondbg.session.executions import Executions, InnerStops, StopUpdates
from actiondbg.session.inspection.stack import Stack
from actiondbg.session.observers import ObserverList
from actiondbg.session.scout import Scout, usable_for
from actiondbg.session.skip_plan import SkipPlan
from actiondbg.session.tool_replacement import ToolReplacement
from actiondbg.support.counts import check_count, counted


class CheckpointList:
    """The checkpoints of the run.

    ``add``, ``delete`` and ``restore`` raise NotStopped when the tool runs or was not started.
    """

    def __init__(
        self,
        executions: Executions,
        options: AgentOptions,
        inner_stops: InnerStops,
        go_to: Callable[[Frozen], Stop],
    ) -> None:
        self._executions = executions
        self._options = options
        self._inner_stops = inner_stops
        self._go_to = go_to

    def add(self) -> Checkpoint:
        """Make a checkpoint of the stopped tool, for ``restore``.

        Raises:
            NoAnswer: the tool cannot be forked.
        """
        execution = self._executions.need()
        made = execution.fork(protocol.Fork(role="checkpoint"))
        at_event = made.stop is not None and made.stop.when != "during"
        branch = execution.branches.owner(made.event, at_event).number
        return execution.checkpoints.add(made, branch, 0 if at_event else self._inner_stops.number)

    def all(self) -> list[Checkpoint]:
        """Return the user's checkpoints of this run."""
        current = self._executions.current
        return current.checkpoints.all() if current else []

    def automatic(self) -> Automatic:
        """Return the number and the memory of automatic checkpoints."""
        current = self._executions.current
        return current.automatic() if current else Automatic(count=0, bytes=0)

    def delete(self, number: int) -> None:
        """Delete a checkpoint; raises UsageError for an unknown number."""
        self._executions.need().checkpoints.delete(number)

    def restore(self, number: int) -> Stop:
        """Go to a checkpoint, backwards or forwards, on its branch.

        Raises:
            UsageError: there is no checkpoint of that number.
        """
        return self._go_to(self._executions.need_idle().checkpoints.get(number))

    @property
    def spacing(self) -> int:
        """Milliseconds of run time between two automatic checkpoints; 0 for none."""
        return self._options.checkpoint_spacing

    @spacing.setter
    def spacing(self, milliseconds: int) -> None:
        self._options.checkpoint_spacing = milliseconds

    @property
    def memory(self) -> int:
        """The limit in megabytes for the private memory of automatic checkpoints."""
        return self._options.checkpoint_memory

    @memory.setter
    def memory(self, megabytes: int) -> None:
        self._options.checkpoint_memory = megabytes


class TimeTravel:
    """Moves the session along its timeline, by forking a checkpoint and replaying to an event.

    Breakpoints, skips and settings apply in both directions. The tool's output after the event is
    discarded. Every method raises NotStopped when the tool runs or was not started; on an error, or
    on KeyboardInterrupt, the session is unchanged.

    Attributes:
        checkpoints: of the run.
    """

    def __init__(
        self,
        executions: Executions,
        breakpoints: AgentBreakpoints,
        options: AgentOptions,
        updates: StopUpdates,
        observers: ObserverList,
        inner_stops: InnerStops,
        skips: SkipPlan,
        scout: Scout,
        replacement: ToolReplacement,
        stack: Stack,
    ) -> None:
        self._executions = executions
        self._breakpoints = breakpoints
        self._updates = updates
        self._observers = observers
        self._inner_stops = inner_stops
        self._skips = skips
        self._scout = scout
        self._replacement = replacement
        self._stack = stack
        self.checkpoints = CheckpointList(executions, options, inner_stops, self._go_to_frozen)

    def branches(self) -> Timeline:
        """Return the branches of the run, and the position of the tool on them."""
        execution = self._executions.need()
        stop = None if execution.state == "running" else execution.stop
        return Timeline(
            branches=execution.branches.all(),
            current=execution.branches.current.number,
            when=stop.when if stop else None,
            ordinal=stop.ordinal if stop else 0,
            event=stop.event if stop else 0,
        )

    # --- movement to an action ---

    def goto(self, ordinal: int, when: Side = "before") -> Stop:
        """Stop before or after an action, without other stops on the way.

        Args:
            ordinal: the action's number, from 1.
            when: "before" or "after" the action.

        Raises:
            UsageError: there is no such action on this timeline.
            ControlRefused: the run had no action.
            ToolGone, NoAnswer: the replay diverged, or the tool cannot be replayed.
        """
        if ordinal < 1:
            raise UsageError(f"There is no action #{ordinal}: ordinals start at 1.")
        execution = self._need_idle()
        if execution.state == "exited" and execution.hello is None:
            raise ControlRefused(f"There is no action #{ordinal}: the run made no MLIR context.")
        stop = execution.stop
        if stop is not None and (stop.ordinal, stop.when) == (ordinal, when):
            self._stack.show_anew(stop)
            return stop
        if not execution.frozen():
            return self._goto_without_forks(execution, ordinal, when)
        event = self._event_of(execution, ordinal, when)
        if execution.state == "stopped" and stop is not None and event > stop.event:
            return self._go_forward(execution, event)
        return self._go_to(event)

    def _go_forward(self, execution: Execution, event: int) -> Stop:
        """Run forwards to an event, at most to the end of a replay of skips."""
        self._skips.locate()
        event = self._skips.limit(event)
        self._breakpoints.silence()
        message = protocol.Resume(control="continue", event=event)
        return self._updates.resume(lambda: execution.resume(message))

    def _goto_without_forks(self, execution: Execution, ordinal: int, when: Side) -> Stop:
        """Run forwards, or start the tool again, to an action whose event is unknown."""
        until = protocol.until_action(ordinal, when == "after")
        message = protocol.Resume(control="continue", until=until)
        stop = execution.stop
        is_ahead = stop is not None and (stop.ordinal, stop.when) == (ordinal, "before")
        if execution.state == "exited" or not (is_ahead or self._newest_ordinal() < ordinal):
            silent = [msgspec.structs.replace(one, log=True) for one in self._breakpoints.quiet()]
            return self._updates.resume(lambda: self._replacement.start_again(message, silent))
        self._breakpoints.silence(log=True)
        return self._updates.resume(lambda: execution.resume(message))

    def _go_to(self, event: int, inside: int = 0) -> Stop:
        """Go to an event of the timeline, in a fork or in a new process of the tool.

        Args:
            event: the target, from 1.
            inside: 0 for the event itself; k for the k-th stop in an action after it.

        Raises:
            ToolGone, NoAnswer: the replay diverged.
        """
        execution = self._executions.need_idle()
        stop = self._go_from(usable_for(execution, event), execution.branches, event, inside)
        if stop is not None:
            return stop
        resume = protocol.Resume(control="continue", event=event)
        quiet = self._breakpoints.quiet()
        return self._updates.resume(lambda: self._replacement.start_again(resume, quiet, inside))

    def _go_to_frozen(self, frozen: Frozen) -> Stop:
        """Go to a checkpoint, on its branch.

        Output before a checkpoint ahead, or on another branch, does not exist any more. The replay
        writes it again, from the event where the timelines part.
        """
        execution = self._need_idle()
        branches = execution.branches.save()
        if not branches.holds(frozen.branch, frozen.event, frozen.at_event):
            branches.switch(frozen.branch)
        here = execution.stop.event if execution.stop else 0
        same = branches.current.number == execution.branches.current.number
        if same and frozen.event <= here:
            stop = self._go_from([frozen], branches, None)
        else:
            common = _common(execution, branches, min(frozen.event, here))
            stop = self._go_from(common, branches, frozen.event, frozen.inside)
        if stop is None:
            raise NoAnswer(f"Checkpoint {frozen.number} cannot be restored: its fork failed.")
        return stop

    def undo_edit(self) -> Stop:
        """Go to the event of the newest edit, on the branch without it.

        Raises:
            UsageError: no edit was made on this timeline.
        """
        execution = self._need_idle()
        edited = execution.branches.newest_edited()
        if edited is None or edited.parent is None:
            raise UsageError("No edit was made on this timeline: there is nothing to undo.")
        branches = execution.branches.save()
        branches.switch(edited.parent)
        here = execution.stop.event if execution.stop else edited.event
        starts = _common(execution, branches, min(edited.event, here))
        stop = self._go_from(starts, branches, edited.event)
        if stop is None:
            raise NoAnswer("The edit cannot be undone: the tool cannot be forked.")
        return stop

    def _go_from(
        self, starts: list[Frozen], branches: Branches, event: int | None, inside: int = 0
    ) -> Stop | None:
        """Go to an event from the first checkpoint that can be forked; return None if none can."""
        for frozen in starts:
            made = self._replacement.fork(frozen, branches)
            if made is not None:
                return self._updates.resume(
                    lambda made=made: self._replacement.replace(made, branches, event, inside)
                )
        return None

    def _newest_ordinal(self) -> int:
        return self._executions.ask(protocol.GetStatus()).ordinal

    def _event_of(self, execution: Execution, ordinal: int, when: Side) -> int:
        """Return the event before or after an action of this timeline."""
        stop = execution.stop
        if stop is not None and stop.ordinal == ordinal and when == "before":
            return event_before(ordinal, stop.depth)
        with self._fork_before(execution, ordinal) as fork:
            try:
                event = fork.advance(ordinal, when).event
                fork.check_same()
                return event
            except ToolGone as gone:
                place = f"end of #{ordinal}" if when == "after" else f"#{ordinal}"
                raise UsageError(f"{_end_text(fork)}: there is no {place}.") from gone

    def _fork_before(self, execution: Execution, ordinal: int) -> ForkedTool:
        stop = execution.stop
        is_behind = stop is not None and (stop.ordinal, stop.when) == (ordinal, "before")
        if execution.state == "stopped" and (is_behind or self._newest_ordinal() < ordinal):
            return self._scout.fork_tool()
        for frozen in execution.frozen():
            if frozen.actions < ordinal:
                return self._scout.fork(frozen.tool, [])
        return self._scout.fork(execution.origin, [])

    # --- reverse controls ---

    def reverse_step(self, count: int = 1) -> Stop:
        """Go back by ``count`` events; from the end, first to the last event."""
        check_count(count)
        position = self._position()
        inside = position.when not in ("before", "after")
        return self._go_back_to(position.event - count + inside)

    def reverse_next(self, count: int = 1) -> Stop:
        """Stop before this action, or, when already before it, at the previous event.

        The previous event is the end of the preceding action, or the beginning of the parent.
        """
        check_count(count)
        position = self._position()
        for left in range(count, 0, -1):
            event = _event_before_action(position)
            if left == 1 or event <= 1:
                return self._go_back_to(event)
            position = self._scout.peek(event)
        raise AssertionError  # the count is at least 1

    def reverse_finish(self, count: int = 1) -> Stop:
        """Stop before the action around this one, ``count`` levels up.

        Raises:
            ControlRefused: there is no such action.
        """
        check_count(count)
        position = self._position()
        if not position.ordinal or position.depth < count:
            raise ControlRefused(too_far_out(position.depth))
        wanted = position.depth - count
        [ordinal] = [one.ordinal for one in self._frames(position.event) if one.depth == wanted]
        return self._go_back_to(event_before(ordinal, wanted))

    def reverse_continue(self, count: int = 1) -> Stop:
        """Go back to the previous hit of a breakpoint, watch or catch.

        Hits to be ignored count too; hits that a predicate refuses do not. Where there
        is none, the tool goes before its first action, and the stop reports that.

        Args:
            count: the number of hits to go back, from 1.
        """
        check_count(count)
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
            stop, has_moved = self._go_to(found[-1].event, found[-1].inside or 0), True
            left -= 0 if self._observers.has_refused else wanted
            if left == 0:
                return stop
        return self._at_beginning(only_found(count - left + len(found)), has_moved)

    # --- helpers ---

    def _need_idle(self) -> Execution:
        """Return the idle execution; raises NotStopped, or ControlRefused in a callback."""
        self._observers.check_resumable()
        return self._executions.need_idle()

    def _newest_hits(self, count: int) -> list[Hit]:
        execution = self._executions.need_idle()
        return newest_hits(
            self._segments(execution), self._bound(execution, self._position()), count
        )

    def _position(self) -> Stop:
        """Return the stop at which the tool stands, or to which it came."""
        execution = self._need_idle()
        stop = execution.stop
        if (
            stop is not None
            and stop.when == "exit"
            and not stop.event
            and execution.last is not None
        ):
            stop = msgspec.structs.replace(stop, event=execution.last.event)
        if stop is None or not stop.event:
            raise ControlRefused("There is nothing to go back to: no action has begun.")
        return stop

    def _go_back_to(self, event: int) -> Stop:
        if event >= 1:
            return self._go_to(event)
        return self._at_beginning(BEGINNING)

    def _at_beginning(self, message: str, has_moved: bool = False) -> Stop:
        """Go before the first action, with a message why; ``has_moved``: from elsewhere."""
        position = self._position()
        if (position.event, position.when) == (1, "before") and not has_moved:
            raise ControlRefused(ALREADY_THERE)
        with self._observers.reporting_once():
            run_stop = self._go_to(1)
            stop = msgspec.structs.replace(run_stop, reason="start", message=message)
            self._executions.need().stop = stop
        return stop

    def _frames(self, event: int) -> list[protocol.Frame]:
        if self._executions.state == "stopped":
            return self._executions.ask(protocol.GetFrames()).frames
        return self._scout.frames(event)

    def _bound(self, execution: Execution, position: Stop) -> Hit:
        if position.when == "exit":
            catches = any(
                one.catch is not None and one.enabled for one in self._breakpoints.table.all()
            )
            return Hit(position.event, None if catches else 1)
        if position.when != "during":
            return Hit(position.event, 0)
        event, number = self._inner_stops.event, self._inner_stops.number
        number = number if event == position.event else 0
        interrupted = execution.stop is not None and execution.stop.reason == "interrupt"
        return Hit(position.event, number + interrupted)

    def _segments(self, execution: Execution) -> list[Segment]:
        """Return the segments between checkpoints, the newest first; raises NoAnswer if none."""
        quiet = self._breakpoints.quiet()
        all_frozen = [*execution.frozen(), Frozen(execution.origin, 1)]
        return [
            Segment(one.event, one.at_event, functools.partial(self._scout.fork, one.tool, quiet))
            for one in all_frozen
            if one.at_event or one.tool.stop is None  # not inside of an action
        ]


def _common(execution: Execution, branches: Branches, event: int) -> list[Frozen]:
    """Return the checkpoints from which an event can be reached, on other timelines too."""
    usable = usable_for(execution, event)
    return [one for one in usable if branches.holds(one.branch, one.event, one.at_event)]


def _event_before_action(position: Stop) -> int:
    if position.when == "before":
        return position.event - 1
    if not position.ordinal:  # at the end, or inside of no action
        return position.event
    return event_before(position.ordinal, position.depth)


def _end_text(fork: ForkedTool) -> str:
    if fork.crashed is not None:
        return f"The tool crashes in #{fork.crashed.ordinal}"
    actions = fork.exited.actions if fork.exited else None
    return (
        "The tool ends" if actions is None else f"The tool ends after {counted(actions, 'action')}"
    )


class Hit(NamedTuple):
    """The position of a hit, or the bound of a search."""

    event: int  # the newest event, from 1
    # 0 at that event; k at the k-th stop inside of the action after it. None, for a bound only:
    # after all of these.
    inside: int | None = 0


class Segment(NamedTuple):
    """The beginning of a segment of the run, which ends at the next segment."""

    event: int  # the newest event; 0 at the beginning of the run
    at_event: bool  # whether it begins at that event; otherwise behind all stops that follow it
    start: Callable[[], ForkedTool]  # makes a fork there, with all breakpoints set


def newest_hits(segments: Iterable[Segment], bound: Hit, count: int) -> list[Hit]:
    """Return the newest hits before a bound, the newest first, as the segments are."""
    found: list[Hit] = []
    for segment in segments:
        if not _is_before(segment, bound):
            continue
        with segment.start() as fork:
            found += _hits_in(fork, bound, count - len(found))[::-1]
        if len(found) >= count:
            break
        # Behind all stops that follow an event is right before the next one.
        bound = Hit(segment.event, 1) if segment.at_event else Hit(segment.event + 1, 0)
    return found[:count]


def _is_before(segment: Segment, bound: Hit) -> bool:
    if segment.event < bound.event:
        return True
    return segment.event == bound.event and segment.at_event and bound.inside != 0


def _hits_in(fork: ForkedTool, bound: Hit, count: int) -> list[Hit]:
    """Return the newest hits between the position of a fork and the bound, the oldest first."""
    found: list[Hit] = []
    if fork.event < bound.event:
        stop = fork.go(bound.event, keep=count)
        fork.check_same()
        passed = fork.request(protocol.GetStatus()).passed
        found = [Hit(one.event, one.during) for one in passed]
        is_hit = bool(stop.breakpoints) or stop.reason == "verify"
        if is_hit and bound.inside != 0:
            found.append(Hit(bound.event, 0))
    inside = 1
    while bound.inside is None or inside < bound.inside:
        stop = fork.complete()
        if stop.when != "during" or stop.event != bound.event:
            break
        found.append(Hit(bound.event, inside))
        inside += 1
    return found[-count:]
