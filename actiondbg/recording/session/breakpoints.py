"""The breakpoints of a session over a recording, and the events of their hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from actiondbg.analysis.pipeline import is_adaptor
from actiondbg.protocol.tags import PASS_TAG
from actiondbg.recording.format.arrow import Ints
from actiondbg.session.agent_breakpoints import with_never_hit

if TYPE_CHECKING:
    from actiondbg import protocol
    from actiondbg.breakpoints.breakpoint import Breakpoint, BreakpointTable
    from actiondbg.breakpoints.targets import Target
    from actiondbg.process.stop import Stop
    from actiondbg.recording.session.action_query import ActionQuery
    from actiondbg.recording.session.changes import ChangeColumns


class BreakpointHits:
    """The events of the hits of breakpoints, watches and catches, each computed once."""

    def __init__(self, changes: ChangeColumns, query: ActionQuery) -> None:
        self.actions = changes.actions
        self._changes = changes
        self._query = query
        self._known: dict[tuple[Any, ...], Ints] = {}

    def events(self, one: Breakpoint) -> Ints:
        """Return the sorted events of the hits of a breakpoint, watch or catch."""
        key = (one.spec, one.condition, one.after, one.outcome)
        if key not in self._known:
            self._known[key] = self._find(one)
        return self._known[key]

    def _find(self, one: Breakpoint) -> Ints:
        if one.watch is not None:
            return self._watched(one.watch, one.condition)
        if one.catch is not None:
            places = self._failed_passes(one.catch.glob)
            if one.condition is not None:
                places = np.intersect1d(places, self._query.places("tag:*", one.condition))
            return self.actions.end_events(places)
        places = self._query.places(one.spec, one.condition, one.outcome)
        return self.actions.end_events(places) if one.after else self.actions.line.begins[places]

    def _watched(self, watch: protocol.Watch, condition: str | None) -> Ints:
        rows = self._changes.life(watch.id or 0, watch.exact)
        if condition is not None:
            places = self._query.places("tag:*", condition)
            rows = rows[np.isin(self._changes.places[rows], places)]
        events = np.unique(self._changes.reported_at[rows])
        # The changes of an unfinished action were not reported.
        return events[events <= self.actions.line.last]

    def _failed_passes(self, glob: str | None) -> Ints:
        failed = self.actions.words("outcome").where(lambda outcome: outcome == "failed")
        own = self.actions.words("name").where(lambda name: not is_adaptor(name))
        places = np.flatnonzero(self.actions.is_tag(PASS_TAG) & failed & own)
        if glob is None:
            return places
        return np.intersect1d(places, self._query.places(f'pass:"{glob}"'))


class NextStop(NamedTuple):
    """Where a control stops.

    Attributes:
        event: the event; behind the last one, if nothing stops the control.
        hit: the breakpoints that stop it there; none at a goal of the control, or at the end.
        is_goal: whether the event is a goal of the control.
    """

    event: int
    hit: list[Breakpoint]
    is_goal: bool


class RecordedBreakpoints:
    """Stops at the breakpoints of a session, in place of an agent (``BreakpointHost``)."""

    def __init__(self, table: BreakpointTable, hits: BreakpointHits) -> None:
        self._recording = hits.actions.recording
        self._table = table
        self._hits = hits

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

    def next_stop(self, after: int, goals: Ints, count: int) -> NextStop:
        """Find the ``count``-th event after another that is a goal or stops at a breakpoint.

        An event that is both counts twice, as a breakpoint's first.

        Args:
            after: the event behind which it is looked for.
            goals: the events to which the control goes, sorted.
            count: from 1.
        """
        stopping = list(self._stopping())  # another thread may add breakpoints meanwhile
        stops = {one.id: self._stops(one, after) for one in stopping}
        hits = np.unique(np.concatenate([goals[:0], *(each[:count] for each in stops.values())]))
        goals = goals[np.searchsorted(goals, after, side="right") :][:count]
        both = np.concatenate((hits, goals))
        if len(both) < count:
            return NextStop(self._hits.actions.line.last + 1, [], False)
        which = int(np.argsort(both, kind="stable")[count - 1])
        event = int(both[which])
        hit = [one for one in stopping if _holds(stops[one.id], event)]
        return NextStop(event, hit if which < len(hits) else [], _holds(goals, event))

    def count_passed(self, after: int, event: int) -> None:
        """Count the hits after an event, up to a stop; temporary breakpoints that stop go."""
        for one in self._enabled():
            stops = self._stops(one, after)
            self._count_hits(one, after, event)
            if one.temporary and not one.is_passed and len(stops) and stops[0] <= event:
                self._table.remove(one.id)

    def count_refused(self, after: int, event: int) -> None:
        """Count the hits after an event, up to one at which predicates refused the stop."""
        for one in self._enabled():
            self._count_hits(one, after, event)

    def _count_hits(self, one: Breakpoint, after: int, event: int) -> None:
        one.count(one.hits + self._count(one, after, event))

    def _stops(self, one: Breakpoint, after: int) -> Ints:
        """Return the events after another at which a breakpoint stops."""
        events = self._hits.events(one)
        first = int(np.searchsorted(events, after, side="right")) + one.ignore
        return events[first : first + 1] if one.temporary else events[first:]

    def _count(self, one: Breakpoint, after: int, event: int) -> int:
        """Count how often a breakpoint is hit after an event, up to another."""
        first, last = np.searchsorted(self._hits.events(one), [after, event], side="right")
        return max(0, int(last - first))

    def _enabled(self) -> list[Breakpoint]:
        return [one for one in self._table.all() if one.enabled]

    def _stopping(self) -> list[Breakpoint]:
        return [one for one in self._enabled() if not one.is_passed]

    # --- anywhere ---

    def jump(self, event: int) -> list[Breakpoint]:
        """Count the hits from the beginning to an event; return the breakpoints that are hit there.

        What is left to ignore stays; a breakpoint with an ignore count is not hit.
        """
        for one in self._enabled():
            one.recount(self._count(one, 0, event))
        return [one for one in self.hit_at(event) if not one.ignore]

    def hit_at(self, event: int) -> list[Breakpoint]:
        """Return the breakpoints that are hit at an event, those with an ignore count too."""
        return [one for one in self._enabled() if _holds(self._hits.events(one), event)]

    def newest_hits(self, before: int, count: int) -> Ints:
        """Return the last events before another at which anything is hit, ``count`` at most."""
        hits: list[Ints] = [np.empty(0, dtype=np.int64)]
        for one in self._enabled():
            events = self._hits.events(one)
            hits.append(events[: np.searchsorted(events, before)][-count:])
        return np.unique(np.concatenate(hits))[-count:]

    def forget_hits(self) -> None:
        """Count from 0, for a new run."""
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


def _holds(events: Ints, event: int) -> bool:
    """Tell whether an event is among sorted ones."""
    at = int(np.searchsorted(events, event))
    return at < len(events) and int(events[at]) == event
