"""Where a session over a recording stands, and what it hits when it comes somewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeVar

import numpy as np

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import Breakpoint
from actiondbg.breakpoints.watch import parse_target
from actiondbg.errors import NotStopped, UsageError
from actiondbg.process.stop import Stop
from actiondbg.recording.errors import needs_tool
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.action_query import ActionQuery
from actiondbg.recording.session.answers import RecordedAnswers
from actiondbg.recording.session.breakpoint_hits import BreakpointHits
from actiondbg.recording.session.columns import ActionColumns
from actiondbg.recording.session.descriptions import ActionDescriptions, stop_at_end
from actiondbg.session.observing import Observing

R = TypeVar("R", bound=protocol.Message)


class Standing(Observing):
    """The part of the session that stands at an event.

    Breakpoints and the rest of ``Observing`` are those of a session whose tool is not started, as
    nobody has to be told of them: what they hit is looked up when the session comes there.

    Args:
        recording: the recording.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._recording = recording
        self._actions = ActionColumns(recording)
        self._line = self._actions.line
        self._describe = ActionDescriptions(recording, self._actions)
        self._query = ActionQuery(recording, self._actions)
        self._hits = BreakpointHits(self._actions, self._describe.changes, self._query)
        self._answers = RecordedAnswers(recording, self._actions, self._describe)
        self._stop = self._stand(1, reason="start")

    @property
    def state(self) -> Literal["stopped", "exited"]:
        """Whether it stands at an event, or at the end."""
        return "exited" if self._stop.when == "exit" else "stopped"

    @property
    def stop(self) -> Stop:
        """Where it stands."""
        return self._stop

    @property
    def exit_status(self) -> int | None:
        """The status with which the tool ended, at the end; negative for a signal."""
        return self._stop.status

    def _ask(self, message: protocol.Request[R]) -> R:
        self._check_stopped()
        return self._answers.answer(message)

    def _check_stopped(self) -> None:
        if self.state == "exited":
            ended = (self._stop.message or "").rstrip(".")
            raise NotStopped(f"{ended}; run begins again, and reverse-step goes back.")

    # --- breakpoints ---

    @property
    def _current(self) -> None:
        """No tool runs."""
        return None

    def catch(self, kind: str, glob: str | None = None) -> Breakpoint:
        """Stop after passes that fail; where else something can be caught is not recorded.

        Raises:
            UsageError: it is another event.
        """
        if kind != "failure":
            what = f"catch {kind} looks for what is not in it, and only failure is"
            raise UsageError(needs_tool(self._recording.header.argv, what))
        return super().catch(kind, glob)

    def watch(
        self, target: str, *, exact: bool = False, condition: str | None = None
    ) -> Breakpoint:
        """Stop where an operation is changed; attributes and counts are not recorded.

        Raises:
            UsageError: the target is no operation.
        """
        if parse_target(target).kind != "operation":
            what = f"watch {target} looks for what is not in it, and only operations are"
            raise UsageError(needs_tool(self._recording.header.argv, what))
        return super().watch(target, exact=exact, condition=condition)

    # --- going on ---

    def _go_on(self, goals: Ints, reason: protocol.Reason, count: int = 1) -> Stop:
        """Go on to the ``count``-th of the events that are gone to, or that are hit.

        Args:
            goals: those that are gone to, sorted.
            reason: of a stop at one of these.
            count: from 1.
        """
        waiting = {one.id: self._unignored(one) for one in self._enabled()}
        hits = np.unique(np.concatenate([goals[:0], *(each[:count] for each in waiting.values())]))
        goals = goals[np.searchsorted(goals, self._stop.event, side="right") :][:count]
        event, is_hit = _stop_at(hits, goals, count) or (self._line.last + 1, False)
        hit = [one for one in self._enabled() if is_hit and _holds(waiting[one.id], event)]
        for one in self._enabled():
            one.count(one.hits + self._count(one, self._stop.event, event))
            if one.temporary and len(waiting[one.id]) and waiting[one.id][0] <= event:
                self._list.remove(one.id)
        return self._arrive(event, hit, reason)

    def _enabled(self) -> list[Breakpoint]:
        return [one for one in self._list.all() if one.enabled]

    def _unignored(self, one: Breakpoint) -> Ints:
        """Return the events to come at which a breakpoint stops."""
        events = self._hits.events(one)
        first = int(np.searchsorted(events, self._stop.event, side="right")) + one.ignore
        return events[first : first + 1] if one.temporary else events[first:]

    def _count(self, one: Breakpoint, after: int, event: int) -> int:
        """Count how often a breakpoint is hit after an event, up to another."""
        first, last = np.searchsorted(self._hits.events(one), [after, event], side="right")
        return max(0, int(last - first))

    # --- coming somewhere ---

    def _land(self, event: int) -> Stop:
        """Stand at an event of anywhere, with the hits as if it had come there from the start."""
        for one in self._enabled():
            one.hits = self._count(one, 0, event)
        heeded = [one for one in self._enabled() if not one.ignore]
        hit = [one for one in heeded if _holds(self._hits.events(one), event)]
        return self._arrive(event, hit, "until")

    def _arrive(self, event: int, hit: list[Breakpoint], reason: protocol.Reason) -> Stop:
        told = self._told(event, hit) if hit else {"reason": reason}
        self._stop = self._stand(event, breakpoints=[one.id for one in hit], **told)
        self._list.remove_temporary(self._stop.breakpoints)
        return self._stop

    def _stand(self, event: int, **told: Any) -> Stop:
        """Stand at an event; at the end, if it did not come."""
        self._forget_stop()
        there = self._line.onwards(event)
        if there is None or there > self._line.last:
            return stop_at_end(self._recording, self._actions, self._describe)
        self._answers.stand(there)
        return self._describe.stop(there, **told)

    def _told(self, event: int, hit: list[Breakpoint]) -> dict[str, Any]:
        """Return what a stop tells of what was hit, as the agent does."""
        watches = [one.watch for one in hit if one.watch is not None]
        place = self._line.at(event).place
        if any(one.catch is not None for one in hit):
            name = self._actions.words("name").of(place)
            culprit = self._describe.culprit(place)
            return {"reason": "catch", "message": f"the pass {name} failed", "culprit": culprit}
        if watches:
            return {"reason": "watch", **self._seen(event, watches)}
        return {"reason": "breakpoint"}

    def _seen(self, event: int, watches: Iterable[protocol.Watch]) -> dict[str, Any]:
        """Return what watches saw of the changes up to an event, and whose they are."""
        changes = self._describe.changes
        rows = np.concatenate([changes.life(one.id or 0, one.exact) for one in watches])
        rows = rows[changes.told_at[rows] == event]
        message = "; ".join(self._describe.operations.sentence(int(row)) for row in rows)
        return {
            "message": message,
            "culprit": self._describe.culprit(int(changes.places[rows[-1]])),
        }


def _stop_at(hits: Ints, goals: Ints, count: int) -> tuple[int, bool] | None:
    """Return the ``count``-th event of some, and whether it is one of the hits; None if none is.

    An event that is both counts twice, as a hit first.
    """
    stops = np.concatenate((hits, goals))
    if len(stops) < count:
        return None
    which = np.argsort(stops, kind="stable")[count - 1]
    return int(stops[which]), bool(which < len(hits))


def _holds(events: Ints, event: int) -> bool:
    """Tell whether an event is among sorted ones."""
    at = int(np.searchsorted(events, event))
    return at < len(events) and int(events[at]) == event
