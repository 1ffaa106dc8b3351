"""Movement along the line of events of a recording, backwards and to any action."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from actiondbg.errors import ControlRefused, UsageError
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branch, Timeline, too_far_out
from actiondbg.recording.session.breakpoints import RecordedBreakpoints
from actiondbg.recording.session.columns import ActionColumns
from actiondbg.recording.session.event_line import Side
from actiondbg.recording.session.position import BEGINNING, Position
from actiondbg.support.counts import check_count, counted

if TYPE_CHECKING:
    from actiondbg.recording.recording import Recording


class RecordedCheckpoints:
    """The checkpoints of a recording: none, because goto reaches any event."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def all(self) -> list[Checkpoint]:
        """Return no checkpoint."""
        return []

    def automatic(self) -> Automatic:
        """Return zero automatic checkpoints."""
        return Automatic(count=0, bytes=0)

    def add(self) -> NoReturn:
        """Raise NotRecorded: there is no process to freeze."""
        raise self._recording.needs_tool("A checkpoint")

    def delete(self, number: int) -> NoReturn:
        """Raise NotRecorded: there is no checkpoint."""
        raise self._recording.needs_tool("A checkpoint")

    def restore(self, number: int) -> NoReturn:
        """Raise NotRecorded: there is no checkpoint."""
        raise self._recording.needs_tool("A checkpoint")


class RecordedTimeline:
    """Moves a session over a recording backwards, and to any action.

    Attributes:
        checkpoints: none.
    """

    def __init__(
        self, actions: ActionColumns, position: Position, breakpoints: RecordedBreakpoints
    ) -> None:
        self.checkpoints = RecordedCheckpoints(actions.recording)
        self._recording = actions.recording
        self._actions = actions
        self._line = actions.line
        self._position = position
        self._breakpoints = breakpoints

    def branches(self) -> Timeline:
        """Return the only branch of a recording, with the session's position."""
        branch = Branch(number=1, reached=self._line.last, actions=self._actions.count)
        branch.ended = self._recording.ending.ended != "killed"
        stop = self._position.stop
        return Timeline(
            branches=[branch], current=1, when=stop.when, ordinal=stop.ordinal, event=stop.event
        )

    def goto(self, ordinal: int, when: Side = "before") -> Stop:
        """Go to an action, backwards or forwards; breakpoints on the way are ignored.

        Args:
            ordinal: its number, from 1.
            when: before it, or after it.

        Raises:
            UsageError: there is no such action, or it has no end.
        """
        if ordinal < 1:
            raise UsageError(f"There is no action #{ordinal}: actions are numbered from 1.")
        stop = self._position.stop
        if (stop.ordinal, stop.when) == (ordinal, when):
            return stop
        self._actions.check_recorded(ordinal)
        place = self._actions.place(ordinal)
        if when == "after" and not self._line.is_over(place, self._line.last):
            raise UsageError(f"The tool ends in #{ordinal}: there is no end of #{ordinal}.")
        return self._position.jump(self._line.event(place, when))

    def reverse_step(self, count: int = 1) -> Stop:
        """Go back to the event before, or ``count`` of them; from the end to the last one."""
        check_count(count)
        return self._position.jump_back(self._position.behind - count)

    def reverse_next(self, count: int = 1) -> Stop:
        """Go back to before this action, or, when already before it, to the event before."""
        check_count(count)
        event = self._position.behind
        for _ in range(count):
            event = self._line.backwards(self._line.before_next(event))
            if event <= 1:
                break
        return self._position.jump_back(event)

    def reverse_finish(self, count: int = 1) -> Stop:
        """Go back to before the parent action, or ``count`` levels.

        Raises:
            ControlRefused: there is none.
        """
        check_count(count)
        stop = self._position.stop
        if not stop.ordinal or stop.depth < count:
            raise ControlRefused(too_far_out(stop.depth))
        place = self._actions.place(stop.ordinal)
        around = self._line.around(place, stop.depth - count)
        return self._position.jump(int(self._line.begins[around]))

    def reverse_continue(self, count: int = 1) -> Stop:
        """Go back to the ``count``-th newest hit before here; else before the first action.

        Hits to be ignored count too; hits that a predicate refuses do not.
        """
        check_count(count)
        bound, left, has_moved = self._position.behind, count, False
        while True:
            wanted = 1 if self._breakpoints.have_predicates else left
            found = self._breakpoints.newest_hits(bound, wanted)
            if len(found) < wanted:
                break
            bound, has_moved = int(found[0]), True
            left -= wanted if self._position.accepts(bound) else 0
            if left == 0:
                return self._position.jump(bound)
        number = count - left + len(found)
        hits = (
            f"only {counted(number, 'hit')} {'was' if number == 1 else 'were'} found"
            if number
            else "nothing was hit"
        )
        return self._position.jump_back(0, f"{hits} before: {BEGINNING}", has_moved)
