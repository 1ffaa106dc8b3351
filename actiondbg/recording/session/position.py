"""The position of a session on the line of events, and what stops it: breakpoints, observers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from actiondbg import protocol
from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.breakpoints.selection import Selection, select
from actiondbg.errors import ControlRefused, NotStopped, UsageError
from actiondbg.process.branches import ALREADY_THERE, BEGINNING
from actiondbg.process.stop import Stop
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.session.action_query import ActionQuery
from actiondbg.recording.session.descriptions import ActionDescriptions
from actiondbg.session.breakpoints import with_never_hit
from actiondbg.session.observers import Callback, CallbackRuns, Observer

if TYPE_CHECKING:
    from actiondbg import protocol
    from actiondbg.breakpoints.breakpoint import Breakpoint, BreakpointTable
    from actiondbg.breakpoints.targets import Target
    from actiondbg.process.stop import Stop
    from actiondbg.recording.session.action_query import ActionQuery
    from actiondbg.recording.session.operation_changes import ChangeColumns


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
            ended = self._breakpoints.count_passed(after, there)  # predicates may read the hits
            accepted = self._accepted(there, hit)
            if accepted or is_goal or not hit:
                self._breakpoints.remove(one for one in ended if one not in hit or one in accepted)
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

    def jump(self, event: int, accepted: list[Breakpoint] | None = None) -> Stop:
        """Stop at an event, with the hit counts of a run from the start.

        Args:
            accepted: the answer of ``accepted``, so that no predicate is asked again; None to ask.
        """
        self.check_open()
        return self._arrive(self._jumped(event, accepted))

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

    def accepted(self, event: int) -> list[Breakpoint]:
        """Return the breakpoints that stop at an event, by their predicates, if any.

        The hits are those up to the event then, as predicates may read them.
        """
        self._breakpoints.jump(event)
        return self._accepted(event, self._breakpoints.hit_at(event))

    def _jumped(self, event: int, accepted: list[Breakpoint] | None = None) -> Stop:
        hit = self._breakpoints.jump(event)
        if accepted is None:
            hit = self._accepted(event, hit)
        else:
            hit = [one for one in hit if one in accepted]
        return self._stop_of(event, hit, "until")

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


class RecordedBreakpoints:
    """Stops at the breakpoints of a session, in place of an agent (``BreakpointHost``)."""

    def __init__(self, table: BreakpointTable, changes: ChangeColumns, query: ActionQuery) -> None:
        self._recording = changes.recording
        self._table = table
        self._actions = changes.actions
        self._changes = changes
        self._query = query
        self._known: dict[tuple[Any, ...], Ints] = {}  # the events of hits
        # By the id of a breakpoint, the event up to which its matches were counted.
        self._counted: dict[int, int] = {}

    # --- the host of a BreakpointList ---

    def check_changeable(self) -> None:
        """Do nothing: breakpoints over a recording can always be changed."""

    def check_watch(self, target: Target) -> None:
        """Raise NotRecorded for targets other than operations: only these are recorded."""
        if target.kind != "operation":
            raise self._recording.needs_tool(f"Watching {target}")

    def check_catch(self, kind: str) -> None:
        """Raise NotRecorded for events that are not recorded: all but failures of passes."""
        if kind != "failure":
            raise self._recording.needs_tool(f"Catching {kind}")

    def send(self) -> None:
        """Do nothing: hits are looked up when a control resumes."""

    def count_hits(self, *, again: bool = False) -> None:
        """Do nothing: hits are counted when a control stops."""

    # --- forwards ---

    @property
    def have_predicates(self) -> bool:
        """Whether an enabled breakpoint has a predicate."""
        return any(one.predicate is not None for one in self._stopping())

    def next_stop(self, after: int, goals: Ints, count: int) -> tuple[int, list[Breakpoint], bool]:
        """Find the ``count``-th event after another that is a goal or stops at a breakpoint.

        An event that is both counts twice, as a breakpoint's first.

        Args:
            after: the event behind which it is looked for.
            goals: the events to which the control goes, sorted.
            count: from 1.

        Returns:
            The event, behind the last one if nothing stops the control; the breakpoints that stop
            it there, none at a goal or at the end; and whether the event is a goal.
        """
        stopping = list(self._stopping())  # another thread may add breakpoints meanwhile
        stops = {one.id: self._stops(one, after) for one in stopping}
        hits = np.unique(np.concatenate([goals[:0], *(each[:count] for each in stops.values())]))
        goals = goals[np.searchsorted(goals, after, side="right") :][:count]
        both = np.concatenate((hits, goals))
        if len(both) < count:
            return self._actions.line.last + 1, [], False
        which = int(np.argsort(both, kind="stable")[count - 1])
        event = int(both[which])
        hit = [one for one in stopping if _holds(stops[one.id], event)]
        return event, hit if which < len(hits) else [], _holds(goals, event)

    def count_passed(self, after: int, event: int) -> list[Breakpoint]:
        """Count the hits after an event, up to another; return temporary ones that stop there."""
        ended: list[Breakpoint] = []
        for one in self._enabled():
            if one.temporary and not one.is_passed:
                ended += [one] if np.any(self._stops(one, after)[:1] <= event) else []
            one.count(self._hits(one, after, event, one.found))
            self._counted[one.id] = event
        return ended

    def remove(self, ended: Iterable[Breakpoint]) -> None:
        """Remove temporary breakpoints that have stopped the session."""
        for one in ended:
            self._table.remove(one.id)

    def _stops(self, one: Breakpoint, after: int) -> Ints:
        """Return the events after another at which a breakpoint stops."""
        events = self._events(one)
        first = int(np.searchsorted(events, after, side="right")) + one.ignore
        return events[first : first + 1] if one.temporary else events[first:]

    def _hits(
        self, one: Breakpoint, after: int, event: int, earlier: protocol.Hits | None = None
    ) -> protocol.Hits:
        """Return the hits of a breakpoint after an event, up to another, and earlier ones."""
        found = earlier or protocol.Hits(id=one.id, hits=0)
        hits = found.hits + _count(self._events(one), after, event)
        matched = found.matched
        if one.kind == "breakpoint":
            matched += _count(self._begins(one.spec), after, event)
            matched += self._running(one, after) if one.after else 0
        return protocol.Hits(id=one.id, hits=hits, matched=matched)

    def _running(self, one: Breakpoint, event: int) -> int:
        """Return how many running actions match that began before it was set or enabled."""
        counted = self._counted.get(one.id, 0)
        if counted >= event:
            return 0
        line, places = self._actions.line, self._query.places(Selection(one.spec))
        begins = line.begins[places]
        is_new = (begins > counted) & (begins <= event) & (line.ends[places] > event)
        return int(np.count_nonzero(is_new))

    def _enabled(self) -> list[Breakpoint]:
        return [one for one in self._table.all() if one.enabled]

    def _stopping(self) -> list[Breakpoint]:
        return [one for one in self._enabled() if not one.is_passed]

    # --- the events of the hits of breakpoints, watches and catches ---

    def _events(self, one: Breakpoint) -> Ints:
        """Return the sorted events of the hits of a breakpoint, watch or catch."""
        key = (one.spec, one.selection)
        if key not in self._known:
            self._known[key] = self._find(one)
        return self._known[key]

    def _begins(self, spec: str) -> Ints:
        """Return the sorted events of the beginnings of the actions that match a SPEC."""
        if (spec,) not in self._known:
            self._known[spec,] = self._query.events(Selection(spec))
        return self._known[spec,]

    def _find(self, one: Breakpoint) -> Ints:
        if one.watch is not None:
            return self._watched(one.watch, one.selection)
        if one.catch is not None:
            places = self._failed_passes(one.catch.glob)
            if one.condition is not None:
                places = np.intersect1d(places, self._query.places(one.selection))
            return self._actions.end_events(places)
        return self._query.events(one.selection)

    def _watched(self, watch: protocol.Watch, selection: Selection) -> Ints:
        rows = self._changes.life(watch.id or 0, watch.exact)
        if selection.condition is not None:
            rows = rows[np.isin(self._changes.places[rows], self._query.places(selection))]
        events = np.unique(self._changes.reported_at[rows])
        # The changes of an unfinished action were not reported.
        return events[events <= self._actions.line.last]

    def _failed_passes(self, glob: str | None) -> Ints:
        failed = self._actions.words("outcome").where(lambda outcome: outcome == "failed")
        own = self._actions.words("name").where(lambda name: not is_adaptor(name))
        places = np.flatnonzero(self._actions.is_tag(PASS_TAG) & failed & own)
        if glob is None:
            return places
        return np.intersect1d(places, self._query.places(Selection(f'pass:"{glob}"')))

    # --- anywhere ---

    def jump(self, event: int) -> list[Breakpoint]:
        """Count the hits from the beginning to an event; return the breakpoints that are hit there.

        What is left to ignore stays; a breakpoint with an ignore count is not hit.
        """
        for one in self._enabled():
            one.recount(self._hits(one, 0, event))
            self._counted[one.id] = event
        return [one for one in self.hit_at(event) if not one.ignore]

    def hit_at(self, event: int) -> list[Breakpoint]:
        """Return the breakpoints that are hit at an event, those with an ignore count too."""
        return [one for one in self._enabled() if _holds(self._events(one), event)]

    def newest_hits(self, before: int, count: int) -> Ints:
        """Return the last events before another at which anything is hit, ``count`` at most."""
        hits: list[Ints] = [np.empty(0, dtype=np.int64)]
        for one in self._enabled():
            events = self._events(one)
            hits.append(events[: np.searchsorted(events, before)][-count:])
        return np.unique(np.concatenate(hits))[-count:]

    def forget_hits(self) -> None:
        """Count from 0, for a new run."""
        self._counted.clear()
        self._table.forget_hits()

    def arrived(self, stop: Stop) -> Stop:
        """Remove the temporary breakpoints that were hit, and look up the names of pending ones.

        Returns:
            The stop; at the end with the breakpoints that were never hit.
        """
        for one in self._table.all():
            if one.id in stop.breakpoints and one.pending is not None:
                one.meet(stop)
        self._table.remove_temporary(stop.breakpoints)
        return with_never_hit(stop, self._table) if stop.when == "exit" else stop


def _count(events: Ints, after: int, event: int) -> int:
    """Return the number of sorted events after an event, up to another."""
    first, last = np.searchsorted(events, [after, event], side="right")
    return max(0, int(last - first))


def _holds(events: Ints, event: int) -> bool:
    """Tell whether an event is among sorted ones."""
    at = int(np.searchsorted(events, event))
    return at < len(events) and int(events[at]) == event


class RecordedObservers(CallbackRuns):
    """Calls observers for each matching action between two stops."""

    def __init__(self, query: ActionQuery) -> None:
        super().__init__()
        self._query = query
        # Each with the events at which its actions begin and end, sorted.
        self._observed: list[tuple[Observer, Ints, Ints]] = []

    def add(
        self,
        spec: str,
        *,
        before: Callable[[Stop], object] | None = None,
        after: Callable[[Stop], object] | None = None,
    ) -> Observer:
        """Add callbacks at the matching actions that a control passes or stops at.

        During a callback the session stands at that event; see ``ObserverList.add``.
        """
        observer = Observer(spec, before, after)
        places = self._query.places(select(self._query.names, spec))
        actions = self._query.actions
        begins, ends = actions.line.begins[places], actions.end_events(places)
        self._observed.append((observer, begins, ends))
        return observer

    def remove(self, observer: Observer) -> None:
        """Remove an observer; does nothing for an unknown one."""
        self._observed = [each for each in self._observed if each[0] is not observer]

    def calls(self, after: int, event: int) -> list[tuple[int, Callback]]:
        """Return the callbacks after an event, up to another, in order, each with its event."""
        calls: list[tuple[int, Callback]] = []
        for observer, begins, ends in self._observed:
            for events, callback in ((begins, observer.before), (ends, observer.after)):
                if callback is not None:
                    first, last = np.searchsorted(events, [after, event], side="right")
                    calls += [(int(at), callback) for at in events[first:last]]
        # Stable: at one event, in the order in which they were added.
        return sorted(calls, key=lambda call: call[0])

    def stopped(self, stop: Stop) -> None:
        """Call the functions of ``on_stop``."""
        self.call(self._at_stops, stop)
