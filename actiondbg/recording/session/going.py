"""Going on in a recording, and back."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from actiondbg import protocol
from actiondbg.errors import ControlRefused, UsageError
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branch, Timeline
from actiondbg.recording.errors import needs_tool
from actiondbg.recording.format.arrow import Ints
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.event_line import Side
from actiondbg.recording.session.standing import Standing
from actiondbg.session.observing import attempt_terms

_NOWHERE = np.empty(0, dtype=np.int64)
_BEGINNING = "this is the beginning of the run"


class Going(Standing):
    """The part of the session that goes to and fro; nothing is done action by action.

    The controls are those of a session of a tool, and stop where they do. At the end they raise
    NotStopped.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self._began_with: Literal["run", "start"] = "start"

    # --- from the beginning ---

    def run(self, args: list[str] | None = None, **streams: Any) -> Stop:
        """Go from the beginning to a breakpoint, or the end.

        Raises:
            UsageError: arguments or streams are given.
        """
        return self._begin("run", args, streams)

    def start(self, args: list[str] | None = None, **streams: Any) -> Stop:
        """Go to before the first action; see ``run``."""
        return self._begin("start", args, streams)

    def restart(self) -> Stop:
        """Do the last run or start again."""
        return self._begin(self._began_with, None, {})

    def _begin(
        self, how: Literal["run", "start"], args: list[str] | None, streams: dict[str, Any]
    ) -> Stop:
        if args is not None or any(each is not None for each in streams.values()):
            what = f"{how} takes no arguments in it"
            raise UsageError(needs_tool(self._recording.header.argv, what))
        self._began_with = how
        self._list.forget_hits()
        self._stop = Stop(when="before", reason="start")
        goals = self._line.begins[:1] if how == "start" else _NOWHERE
        return self._go_on(goals, "start")

    # --- controls ---

    def next_change(self, count: int = 1) -> Stop:
        """Go on to the end of the ``count``-th next action that itself changed the IR."""
        self._check(count)
        own = (self._actions.own_changes > 0) | self._actions.is_tag("fold")
        places = np.flatnonzero(self._actions.numbers("changed") & own)
        return self._go_on(self._hits.ends(places), "until", count)

    def next_attempt(self, name: str, location: str | None = None) -> Stop:
        """Go on to the end of the next attempt of a pattern, whatever came of it."""
        self._check()
        return self._go_on(self._hits.ends(self._attempts(name, location)), "until")

    def until(self, spec: str, condition: str | None = None) -> Stop:
        """Go on to the next action that matches, but no further than the end of the parent."""
        self._check()
        begins = self._line.begins[self._query.places(spec, condition)]
        goals = begins[np.searchsorted(begins, self._stop.event, side="right") :][:1]
        if self._stop.depth:
            goals = np.union1d(goals, [self._end_around(1)])
        return self._go_on(goals, "until")

    def advance(self, spec: str, condition: str | None = None) -> Stop:
        """Go on to the next action that matches, wherever it is."""
        self._check()
        places = self._query.places(spec, condition)
        return self._go_on(self._line.begins[places], "until")

    def _check(self, count: int = 1) -> None:
        _check_count(count)
        self._check_stopped()

    def _attempts(self, name: str, location: str | None = None) -> Ints:
        """Return the places of the attempts of a pattern; see ``Session.next_attempt``."""
        attempt_terms(name, location)  # or they are written wrongly
        spec = f'pattern:"{name}"'
        return self._query.places(spec if location is None else f"{spec} and {location}")

    def _resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        self._check(count)
        if control == "step":
            return self._go_on(np.array([self._stop.event + count]), "step")
        if control == "next":
            return self._go_on(np.array([self._after_next(count)]), "next")
        if control == "finish":
            return self._go_on(np.array([self._end_around(count)]), "finish")
        return self._go_on(_NOWHERE, "until", count)

    def _after_next(self, count: int) -> int:
        """Return the event to which ``next`` goes."""
        place, when = self._line.at(self._stop.event)
        for _ in range(count):
            if when == "before" and self._line.is_over(place, self._line.last):
                when = "after"
            elif when == "after" and self._line.last_inside(place) + 1 < self._line.count:
                place, when = self._line.last_inside(place) + 1, "before"
            else:
                return self._line.last + 1
        return self._line.event(place, when)

    def _end_around(self, levels: int) -> int:
        """Return the end of the action so many levels around this one."""
        place, depth = self._line.at(self._stop.event).place, self._stop.depth
        if not depth:
            raise ControlRefused(
                "There is no action around this one to finish; next and continue go on from here."
            )
        around = self._line.around(place, max(depth - levels, 0))
        return int(self._line.ends[around])

    # --- to a place ---

    def goto(self, ordinal: int, when: Side = "before") -> Stop:
        """Go back, or on, to an action; nothing else stops on the way.

        Args:
            ordinal: its number, from 1.
            when: before it, or after it.

        Raises:
            UsageError: there is no such action, or it has no end.
        """
        if ordinal < 1:
            raise UsageError(f"There is no action #{ordinal}: actions are numbered from 1.")
        if (self._stop.ordinal, self._stop.when) == (ordinal, when):
            return self._stop
        self._check_there(ordinal)
        place = self._actions.place(ordinal)
        if when == "after" and not self._line.is_over(place, self._line.last):
            raise UsageError(f"The tool ends in #{ordinal}: there is no end of #{ordinal}.")
        return self._land(self._line.event(place, when))

    def _check_there(self, ordinal: int) -> None:
        """Raise UsageError if there is no action of an ordinal."""
        last = self._actions.numbering.last
        if ordinal > last:
            raise UsageError(f"The tool ends after {last} actions: there is no #{ordinal}.")
        if not self._actions.numbering.holds(ordinal):
            raise UsageError(f"The recording has lost #{ordinal}: go to another action.")

    def timeline(self) -> Timeline:
        """Return where on the timeline it stands; a recording has one branch."""
        branch = Branch(number=1, reached=self._line.last, actions=self._actions.count)
        branch.ended = self._recording.ending.ended != "killed"
        stop = self._stop
        return Timeline(
            branches=[branch], current=1, when=stop.when, ordinal=stop.ordinal, event=stop.event
        )

    # --- backwards ---

    def reverse_step(self, count: int = 1) -> Stop:
        """Go back to the event before, or ``count`` of them; from the end to the last one."""
        _check_count(count)
        return self._back_to(self._stop.event - count + (self.state == "exited"))

    def reverse_next(self, count: int = 1) -> Stop:
        """Go back to before this action, or, when already before it, to the event before."""
        _check_count(count)
        event = self._line.last + 1 if self.state == "exited" else self._stop.event
        for _ in range(count):
            event = self._line.backwards(self._back_over(event))
            if event <= 1:
                break
        return self._back_to(event)

    def reverse_finish(self, count: int = 1) -> Stop:
        """Go back to before the action around this one, or ``count`` levels.

        Raises:
            ControlRefused: there is none.
        """
        _check_count(count)
        depth = self._stop.depth
        if not self._stop.ordinal or depth < count:
            around = f"{depth} actions are" if depth else "no action is"
            raise ControlRefused(
                f"There is nothing to go back to: {around} around this place. Use reverse-step."
            )
        place = self._actions.place(self._stop.ordinal)
        return self._land(int(self._line.begins[self._line.around(place, depth - count)]))

    def reverse_continue(self, count: int = 1) -> Stop:
        """Go back to the newest hit before here, or to the ``count``-th.

        Hits that are to be ignored count too. Where there is none, it goes before the first action.
        """
        _check_count(count)
        bound = self._line.last + 1 if self.state == "exited" else self._stop.event
        hits: list[Ints] = [_NOWHERE]
        for one in self._enabled():
            events = self._hits.events(one)
            hits.append(events[: np.searchsorted(events, bound)][-count:])
        found = np.unique(np.concatenate(hits))
        if len(found) >= count:
            return self._land(int(found[-count]))
        before = f"only {len(found)} hits were" if len(found) else "nothing was hit"
        return self._at_beginning(f"{before} before: {_BEGINNING}")

    def _back_over(self, event: int) -> int:
        """Return the event to which ``reverse_next`` goes from one; 0 for none."""
        if event <= 1 or event > self._line.last:
            return event - 1
        place, when = self._line.at(event)
        return event - 1 if when == "before" else int(self._line.begins[place])

    def _back_to(self, event: int) -> Stop:
        there = self._line.backwards(event)
        return self._land(there) if there >= 1 else self._at_beginning(_BEGINNING)

    def _at_beginning(self, message: str) -> Stop:
        """Go before the first action, and say why."""
        if not self._line.count or (self._stop.event, self._stop.when) == (1, "before"):
            raise ControlRefused("There is nothing to go back to: the first action comes next.")
        landed = self._land(1)
        self._stop = msgspec.structs.replace(landed, reason="start", message=message)
        return self._stop


def _check_count(count: int) -> None:
    if count < 1:
        raise UsageError(f"The count is {count}, and has to be at least 1.")
