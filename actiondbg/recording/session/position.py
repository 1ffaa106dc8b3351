"""The position of a session on the line of events, and controls from stop to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import msgspec

from actiondbg import protocol
from actiondbg.errors import ControlRefused, NotStopped, UsageError
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import ALREADY_THERE, BEGINNING
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.session.breakpoints import RecordedBreakpoints, RecordedObservers
from actiondbg.recording.session.descriptions import ActionDescriptions

if TYPE_CHECKING:
    from actiondbg.breakpoints.breakpoint import Breakpoint


class Position:
    """The current event of a session; every stop passes through here."""

    def __init__(
        self,
        describe: ActionDescriptions,
        breakpoints: RecordedBreakpoints,
        observers: RecordedObservers,
    ) -> None:
        self._line = describe.actions.line
        self._describe = describe
        self._breakpoints = breakpoints
        self._observers = observers
        self._listeners: list[Callable[[], None]] = []
        self._is_closed = False
        self.stop = self._stop_at(1, "start")

    def on_move(self, listener: Callable[[], None]) -> None:
        """Call back whenever the position changes, to drop state of the last stop."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Answer no more: the stop and the state are all that is left."""
        self._is_closed = True

    def check_open(self) -> None:
        """Raise UsageError if the session is closed."""
        if self._is_closed:
            raise UsageError("The session is closed: open the recording again.")

    @property
    def event(self) -> int:
        """The number of the event, from 1; 0 before ``run``."""
        self.check_open()
        return self.stop.event

    @property
    def state(self) -> Literal["stopped", "exited"]:
        """Whether the session is at an event or at the end of the run."""
        return "exited" if self.stop.when == "exit" else "stopped"

    @property
    def behind(self) -> int:
        """The event from which reverse controls search: at the end, the one after the last."""
        self.check_open()
        return self._line.last + 1 if self.state == "exited" else self.event

    def check_stopped(self) -> None:
        """Raise NotStopped at the end of the run."""
        self.check_open()
        if self.state == "exited":
            ended = (self.stop.message or "").rstrip(".")
            raise NotStopped(f"{ended}; run begins again, and reverse-step goes back.")

    # --- forwards ---

    def rewind(self) -> None:
        """Move before the first event, for a new run."""
        self.check_open()
        self._breakpoints.forget_hits()
        self.stop = Stop(when="before", reason="start")

    def resume(self, goals: Ints, reason: protocol.Reason, count: int = 1) -> Stop:
        """Continue to the ``count``-th event that is a goal or has a breakpoint.

        Raises ControlRefused in a callback of an observer.

        Args:
            goals: the events to which the control goes, sorted.
            reason: of a stop at one of these.
            count: from 1.
        """
        self._observers.check_resumable()
        after = self.event
        # Stops that a predicate refuses do not count: with one, they are made one by one.
        one_by_one = self._breakpoints.have_predicates
        while True:
            there, hit, is_goal = self._breakpoints.next_stop(
                after, goals, 1 if one_by_one else count
            )
            self._call_observers(after, there)
            accepted = self._accepted(there, hit)
            if hit and not accepted and not is_goal:
                self._breakpoints.count_refused(after, there)
            else:
                self._breakpoints.count_passed(after, there)
                count = count - 1 if one_by_one and (hit or is_goal) else 0
                if count == 0:
                    return self._arrive(self._stop_of(there, accepted, reason))
            after = there

    def _call_observers(self, after: int, event: int) -> None:
        for at, callback in self._observers.calls(after, min(event, self._line.last)):
            self._move(self._stop_at(at, "breakpoint"))
            with self._observers.notifying():
                callback(self.stop)

    def _accepted(self, event: int, hit: list[Breakpoint]) -> list[Breakpoint]:
        """Return the breakpoints without a predicate, or whose predicate accepts the stop."""
        if all(one.predicate is None for one in hit):
            return hit
        self._move(self._stop_of(event, hit, "breakpoint"))
        return [one for one in hit if one.predicate is None or one.predicate(self.stop)]

    # --- anywhere ---

    def jump(self, event: int) -> Stop:
        """Stop at an event, with the hit counts of a run from the start."""
        self.check_open()
        return self._arrive(self._jumped(event))

    def jump_back(self, event: int, message: str = BEGINNING, has_moved: bool = False) -> Stop:
        """Stop at an event, or at the last one before it that occurred; else before the first.

        Args:
            event: smaller than 1 for before the first action.
            message: why the session stops before the first action.
            has_moved: the session may be there already, as it has come from elsewhere.

        Raises:
            ControlRefused: the session is before the first action already.
        """
        there = self._line.backwards(event)
        if there >= 1:
            return self.jump(there)
        is_there = (self.event, self.stop.when) == (1, "before") and not has_moved
        if not self._line.count or is_there:
            raise ControlRefused(ALREADY_THERE)
        return self._arrive(
            msgspec.structs.replace(self._jumped(1), reason="start", message=message)
        )

    def accepts(self, event: int) -> bool:
        """Whether a breakpoint stops at an event, by its predicate, if any."""
        return bool(self._accepted(event, self._breakpoints.hit_at(event)))

    def _jumped(self, event: int) -> Stop:
        return self._stop_of(event, self._breakpoints.jump(event), "until")

    # --- stops ---

    def _arrive(self, stop: Stop) -> Stop:
        """Make a stop the current one, and notify its listeners."""
        stop = self._breakpoints.arrived(stop)
        self._move(stop)
        self._observers.stopped(stop)
        return stop

    def _move(self, stop: Stop) -> None:
        self.stop = stop
        for listener in self._listeners:
            listener()

    def _stop_at(self, event: int, reason: protocol.Reason) -> Stop:
        """Return the stop at an event, or at the end if the event did not occur."""
        there = self._line.onwards(event)
        if there is None or there > self._line.last:
            return self._describe.stop_at_end()
        return self._describe.stop(there, reason)

    def _stop_of(self, event: int, hit: list[Breakpoint], reason: protocol.Reason) -> Stop:
        """Return the stop at an event, for the breakpoints that were hit or another reason."""
        if not hit:
            return self._stop_at(event, reason)
        ids = [one.id for one in hit]
        if any(one.catch is not None for one in hit):
            place = self._line.at(event).place
            message = f"the pass {self._describe.actions.words('name').of(place)} failed"
            culprit = self._describe.culprit(place)
            return self._describe.stop(
                event, "catch", breakpoints=ids, message=message, culprit=culprit
            )
        watches = [(one.id, one.watch) for one in hit if one.watch is not None]
        if watches:
            return self._stop_of_watches(event, ids, watches)
        return self._describe.stop(event, "breakpoint", breakpoints=ids)

    def _stop_of_watches(
        self, event: int, ids: list[int], watches: list[tuple[int, protocol.Watch]]
    ) -> Stop:
        """Return the stop at which watches report changes, and the action that made them."""
        changes, messages, newest = self._describe.changes, list[str](), 0
        for number, one in watches:
            rows = changes.life(one.id or 0, one.exact)
            rows = rows[changes.reported_at[rows] == event]
            message = "; ".join(self._describe.operations.sentence(int(row)) for row in rows)
            if changes.end_of_life(one.id or 0, one.exact) == event:
                message += f" (watch {number} has ended)"
            messages.append(message)
            newest = max([newest, *rows.tolist()])
        culprit = self._describe.culprit(int(changes.places[newest]))
        return self._describe.stop(
            event, "watch", breakpoints=ids, message="; ".join(messages), culprit=culprit
        )
