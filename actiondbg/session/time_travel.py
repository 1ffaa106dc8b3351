"""Going to and fro on the timeline of a run."""

from __future__ import annotations

import functools
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import ControlRefused, NotStopped, ToolGone, UsageError
from actiondbg.process.checkpoints import Automatic, Checkpoint, Frozen
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Timeline, event_before
from actiondbg.session.journey import Journey
from actiondbg.session.replay import Side
from actiondbg.session.reverse_search import Hit, Segment, newest_hits

__all__ = ["Automatic", "Checkpoint", "Timeline", "Travel"]

_BEGINNING = "this is the beginning of the run"


class _Spot(NamedTuple):
    """A place on the timeline: the newest event, and the action before, after or in which it is."""

    event: int
    when: str
    ordinal: int
    depth: int


class Travel(Journey):
    """The part of Session that goes back, and on again.

    Breakpoints, what is skipped and settings hold in both directions. What the tool has written
    after a place that it went back to is discarded. Every method raises NotStopped when the tool
    runs or was not started; on a KeyboardInterrupt, or an error, it stays where it was.
    """

    # --- checkpoints ---

    @property
    def checkpoint_spacing(self) -> int:
        """How many milliseconds the tool runs between two checkpoints of itself; 0 for none."""
        return self._milliseconds

    @checkpoint_spacing.setter
    def checkpoint_spacing(self, milliseconds: int) -> None:
        if milliseconds < 0:
            raise UsageError(f"{milliseconds} ms lie between no checkpoints: give them from 0.")
        self._freeze(milliseconds, self._megabytes)

    @property
    def checkpoint_memory(self) -> int:
        """How many megabytes the tool's checkpoints of itself may hold, in pages of their own."""
        return self._megabytes

    @checkpoint_memory.setter
    def checkpoint_memory(self, megabytes: int) -> None:
        if megabytes < 1:
            raise UsageError(f"{megabytes} MB hold no checkpoint: give them from 1.")
        self._freeze(self._milliseconds, megabytes)

    def checkpoint(self) -> Checkpoint:
        """Freeze a copy of the stopped tool, to which ``restart_from`` goes back.

        Raises:
            NoAnswer: the tool cannot be forked.
        """
        run = self._need_run()
        made = run.fork(protocol.Fork(role="checkpoint"))
        stands = made.stop is not None and made.stop.when != "during"
        branch = run.branches.owner(made.event, stands).number
        return run.checkpoints.add(made, branch, 0 if stands else self._inside[1])

    def checkpoints(self) -> list[Checkpoint]:
        """Return the checkpoints that were made by ``checkpoint`` in this run."""
        return self._current.checkpoints.all() if self._current else []

    def automatic_checkpoints(self) -> Automatic:
        """Return how many checkpoints the tool has made of itself, and what they hold."""
        run = self._current
        return run.automatic() if run else Automatic(count=0, bytes=0)

    def delete_checkpoint(self, number: int) -> None:
        """End a checkpoint; raises UsageError if there is none of that number."""
        self._need_run().checkpoints.delete(number)

    def restart_from(self, number: int) -> Stop:
        """Go back, or on, to a checkpoint; if it is on another branch, to that branch.

        Raises:
            UsageError: there is none of that number.
        """
        return self._stand(self._past_run().checkpoints.get(number))

    def timeline(self) -> Timeline:
        """Return the branches of the run, and where on them the tool stands."""
        run = self._need_run()
        stop = None if run.state == "running" else run.stop
        return Timeline(
            branches=run.branches.all(),
            current=run.branches.current.number,
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
        run = self._past_run()
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
        message = protocol.Resume(control="continue", event=event)
        self._is_quiet = True
        self._ask(protocol.SetBreakpoints(breakpoints=self._quiet()))
        return self._arrive(lambda: run.resume(message))

    def _goto_without_forks(self, run: Execution, ordinal: int, when: Side) -> Stop:
        """Go on, or start the tool again; nobody knows where that action is."""
        until = protocol.Until(
            terms=[protocol.Term(kind="ordinal", ordinal=ordinal)],
            condition=None,
            within=False,
            after=when == "after",
        )
        message = protocol.Resume(control="continue", until=until)
        silent = [msgspec.structs.replace(one, log=True) for one in self._quiet()]
        stop = run.stop
        is_to_come = stop is not None and (stop.ordinal, stop.when) == (ordinal, "before")
        if run.state == "exited" or not (is_to_come or self.status().ordinal < ordinal):
            return self._arrive(lambda: self._repeat(run, message, silent))
        self._is_quiet = True
        self._ask(protocol.SetBreakpoints(breakpoints=silent))
        return self._arrive(lambda: run.resume(message))

    def _event_of(self, run: Execution, ordinal: int, when: Side) -> int:
        """Find out at which event an action of this timeline begins or ends."""
        stop = run.stop
        if stop is not None and stop.ordinal == ordinal and when == "before":
            return event_before(ordinal, stop.depth)
        with self._scout_before(run, ordinal) as replica:
            try:
                return replica.advance(ordinal, when).event
            except ToolGone as gone:
                place = f"end of #{ordinal}" if when == "after" else f"#{ordinal}"
                raise UsageError(f"{_how_it_ended(replica)}: there is no {place}.") from gone

    def _scout_before(self, run: Execution, ordinal: int) -> ForkedTool:
        """Return a replica that stands before an action has begun."""
        stop = run.stop
        is_behind = stop is not None and (stop.ordinal, stop.when) == (ordinal, "before")
        if run.state == "stopped" and (is_behind or self.status().ordinal < ordinal):
            return self._told(run.fork(protocol.Fork(role="replica")))
        for frozen in run.frozen():
            if frozen.actions < ordinal:
                return self._scout(frozen.replica, [])
        return self._scout(run.origin, [])

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
            spot = _spot_of(self._peek(event))
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

        Hits that are to be ignored count too. Where there is none, the tool stands before its
        first action then, and the stop says so.

        Args:
            count: to the ``count``-th hit before here, from 1.
        """
        _check_count(count)
        run = self._past_run()
        spot = self._spot()
        segments = self._segments(run)
        found = newest_hits(segments, self._bound(run, spot), count)
        if len(found) == count:
            return self._travel(found[-1].event, found[-1].inside or 0)
        hits = f"only {len(found)} hits were" if found else "nothing was hit"
        return self._at_beginning(f"{hits} before: {_BEGINNING}")

    # --- behind them ---

    def _freeze(self, milliseconds: int, megabytes: int) -> None:
        run = self._current
        if run is not None and run.state == "running":
            raise NotStopped("The tool is running: interrupt it before changing what it does.")
        if run is not None:
            run.freeze(milliseconds, megabytes)
        self._milliseconds, self._megabytes = milliseconds, megabytes

    def _told(self, replica: ForkedTool) -> ForkedTool:
        try:
            self._tell_scout(replica, [])
        except BaseException:
            replica.close()
            raise
        return replica

    def _spot(self) -> _Spot:
        """Return where the tool stands, or came to."""
        run = self._past_run()
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

    def _at_beginning(self, message: str) -> Stop:
        """Go before the first action, and say why."""
        spot = self._spot()
        if (spot.event, spot.when) == (1, "before"):
            raise ControlRefused("There is nothing to go back to: the first action comes next.")
        run_stop = self._travel(1)
        stop = msgspec.structs.replace(run_stop, reason="start", message=message)
        self._need_run().stop = stop
        return stop

    def _frames(self, event: int) -> list[protocol.Frame]:
        if self._past_run().state == "stopped":
            return self.backtrace()
        with self._scout(self._nearest(event), []) as replica:
            replica.go(event)
            return replica.request(protocol.Backtrace()).frames

    def _bound(self, run: Execution, spot: _Spot) -> Hit:
        """Return the place before which hits are looked for."""
        if spot.when == "exit":
            catches = any(one.catch is not None and one.enabled for one in self._list.all())
            return Hit(spot.event, None if catches else 1)
        if spot.when != "during":
            return Hit(spot.event, 0)
        event, number = self._inside
        number = number if event == spot.event else 0
        interrupted = run.stop is not None and run.stop.reason == "interrupt"
        return Hit(spot.event, number + interrupted)

    def _segments(self, run: Execution) -> list[Segment]:
        """Return the frozen processes, the newest first; raises NoAnswer without the first."""
        quiet = self._quiet()
        all_frozen = [*run.frozen(), Frozen(run.origin, 1)]
        return [
            Segment(one.event, one.stands, functools.partial(self._scout, one.replica, quiet))
            for one in all_frozen
            if one.stands or one.replica.stop is None  # not inside of an action
        ]


def _check_count(count: int) -> None:
    if count < 1:
        raise UsageError(f"The count is {count}, and has to be at least 1.")


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
