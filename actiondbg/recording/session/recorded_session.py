"""A session over a recording: controls, time travel and inspection without the tool."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

import numpy as np

from actiondbg.breakpoints.breakpoint import BreakpointTable
from actiondbg.breakpoints.resolution import Vocabulary
from actiondbg.breakpoints.selection import Selection, select
from actiondbg.breakpoints.spec_kinds import Kind
from actiondbg.errors import ControlRefused, UsageError
from actiondbg.process.branches import Branch, Timeline, only_found, too_far_out
from actiondbg.process.checkpoints import Automatic, Checkpoint
from actiondbg.process.stop import Stop
from actiondbg.process.streams import Streams
from actiondbg.protocol.tags import FOLD_TAG, TAG_OF_KIND
from actiondbg.recording.recording import Recording
from actiondbg.recording.session.action_query import ActionQuery
from actiondbg.recording.session.descriptions import ActionDescriptions
from actiondbg.recording.session.event_line import Side
from actiondbg.recording.session.position import (
    Position,
    RecordedBreakpoints,
    RecordedObservers,
)
from actiondbg.recording.session.recorded_answers import RecordedAnswers
from actiondbg.recording.session.recorded_past import RecordedPast
from actiondbg.recording.session.table_columns import ActionColumns
from actiondbg.session.breakpoints import BreakpointList
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.session.inspection.stack import Outcome, Stack
from actiondbg.session.inspection.stopped_ir import StoppedIR
from actiondbg.session.names import STDIN
from actiondbg.session.runnable_session import Beginning, RunnableSession
from actiondbg.support.counts import check_count
from actiondbg.support.scratch_directory import make_directory, remove_directory

if TYPE_CHECKING:
    from actiondbg.session.session import Session

    # What front ends drive: over a tool, or over a recording.
    DebugSession: TypeAlias = "Session | RecordedSession"

_NO_EVENTS = np.empty(0, dtype=np.int64)


class RecordedSession(RunnableSession):
    """A session over a recording; use it as a context manager, or ``close`` it.

    It offers what ``Session`` does as far as a recording holds it, with the same parameters. What
    is not held raises NotRecorded, with the way to get it. At the end of the run the controls raise
    NotStopped. No control does anything action by action.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.target = RecordedTarget(list(recording.header.argv))
        describe = ActionDescriptions(recording)
        self._table = table = BreakpointTable()
        self._actions = describe.actions
        self._line = describe.actions.line
        self.names = RecordedNames(describe)
        self._query = ActionQuery(describe.actions, self.names)
        host = RecordedBreakpoints(table, describe.changes, self._query)
        self.observers = RecordedObservers(self._query)
        self._position = Position(describe, host, self.observers)
        self._answers = RecordedAnswers(describe, self._position)
        super().__init__(self._answers, self.names)
        self.stack = Stack(self._answers)
        self.cursor = Cursor(self._answers)
        self.outcome = Outcome(self._answers, lambda: self.stop)
        scratch = _Scratch()
        self.ir = StoppedIR(
            self._answers, self.stack, self.cursor, describe.ir.names, scratch.new_file
        )
        self.breakpoints = BreakpointList(table, host, self.cursor, self.names)
        self.timeline = RecordedTimeline(describe.actions, self._position, host)
        self.past = RecordedPast(describe, self._query, self._position, self.cursor)
        for forget in (self._answers.reset, self.stack.reset, self.ir.reset):
            self._position.on_move(forget)
        self._began_with: Beginning = "start"
        self._finalizer = weakref.finalize(self, scratch.remove)

    def close(self) -> None:
        """Remove the printed files, and close the database; no question is answered afterwards."""
        self._position.close()
        self._query.close()
        self._finalizer()

    @property
    def state(self) -> Literal["stopped", "exited"]:
        """Whether the session is at an event or at the end."""
        return self._position.state

    def __repr__(self) -> str:
        return f"<Session over {self.recording.path}: {str(self.stop).partition(chr(10))[0]}>"

    @property
    def stop(self) -> Stop:
        """The current stop."""
        return self._position.stop

    @property
    def holds_ir(self) -> bool:
        """Whether the recording holds IR."""
        return self.recording.header.has_ir

    # --- from the beginning ---

    def restart(self) -> Stop:
        """Repeat the last run or start."""
        self._position.rewind()
        goals = self._line.begins[:1] if self._began_with == "start" else _NO_EVENTS
        return self._position.resume(goals, "start")

    def _begin(self, how: Beginning, args: list[str] | None, streams: Streams) -> Stop:
        if any(each is not None for each in (args, *streams)):
            raise self.recording.needs_tool(f"Passing arguments to {how!r}")
        self._began_with = how
        return self.restart()

    # --- controls ---

    def continue_(self, count: int = 1) -> Stop:
        """Continue to the ``count``-th next breakpoint, or the end."""
        self._check(count)
        return self._position.resume(_NO_EVENTS, "until", count)

    def step(self, count: int = 1) -> Stop:
        """Continue to the very next event: a nested action, or the end of this one."""
        self._check(count)
        return self._position.resume(np.array([self.stop.event + count]), "step")

    def next(self, count: int = 1) -> Stop:
        """Continue to the end of this action, or, when already there, to the next of its depth."""
        self._check(count)
        goal = self._line.after_next(self.stop.event, count)
        return self._position.resume(np.array([goal]), "next")

    def finish(self, count: int = 1) -> Stop:
        """Continue to the end of the parent action, ``count`` levels up.

        Raises:
            ControlRefused: there is none.
        """
        self._check(count)
        if not self.stop.depth:
            raise ControlRefused("The action has no parent to finish; use next or continue.")
        goal = self._line.end_around(self.stop.event, count)
        return self._position.resume(np.array([goal]), "finish")

    def _until(self, selection: Selection, *, within: bool) -> Stop:
        self._check()
        goals = self._query.events(selection)
        if within:
            goals = goals[np.searchsorted(goals, self.stop.event, side="right") :][:1]
            if self.stop.depth:
                goals = np.union1d(goals, [self._line.end_around(self.stop.event, 1)])
        return self._position.resume(goals, "until")

    def next_attempt(self, name: str, location: str | None = None) -> Stop:
        """Continue to the end of the next attempt of a pattern, whatever its outcome."""
        self._check()
        ends = self._actions.end_events(self._query.attempts(name, location))
        return self._position.resume(ends, "until")

    def next_change(self, count: int = 1) -> Stop:
        """Continue to the end of the ``count``-th next action that itself changed the IR."""
        self._check(count)
        own = (self._actions.own_changes > 0) | self._actions.is_tag(FOLD_TAG)
        places = np.flatnonzero(self._actions.numbers("changed") & own)
        return self._position.resume(self._actions.end_events(places), "until", count)

    def next_success(self, spec: str | None = None, condition: str | None = None) -> Stop:
        """Continue to the end of the next successful attempt or fold; see ``Session``."""
        if spec is None:
            spec, condition = self._table.attempts_at(self.stop)
        successes = select(self.names, spec, condition, outcome="succeeded")
        with self._table.passing_attempts():
            return self._until(successes, within=False)

    def _check(self, count: int = 1) -> None:
        check_count(count)
        self._position.check_stopped()


@dataclass(frozen=True)
class RecordedTarget:
    """The tool that was recorded, with its command line."""

    argv: list[str]


class RecordedNames(Vocabulary):
    """The recorded names of tags, patterns, passes, operations and functions.

    All passes that ran are known. The input may be elsewhere, or have changed since.
    """

    def __init__(self, describe: ActionDescriptions) -> None:
        self._describe = describe

    def inputs(self) -> list[str]:
        """Return the input files of the recorded command line that locations name."""
        named = self._describe.actions.words("file").values
        words = [*self._describe.recording.header.argv[1:], STDIN]
        return [word for word in dict.fromkeys(words) if word in named]

    def get(self, kind: Kind) -> list[str]:
        """Return the names of a kind, sorted."""
        actions = self._describe.actions
        if kind == "func":
            return sorted(name for name in actions.words("function").values if name)
        if kind == "op":
            return sorted(self._describe.operations.words("op").values)
        if kind == "tag":
            return sorted(actions.words("tag").values)
        names = actions.words("name")
        there = np.bincount(names.codes[actions.is_tag(TAG_OF_KIND[kind])])
        return sorted(names.values[int(code)] for code in np.flatnonzero(there))


class _Scratch:
    """The directory of the printed IR, made when it is first needed."""

    def __init__(self) -> None:
        self._directory: Path | None = None
        self._owner = os.getpid()
        self._prints = 0

    def new_file(self) -> Path:
        """Return the path of a new file."""
        if self._directory is None:
            self._directory = make_directory()
        self._prints += 1
        return self._directory / f"print-{self._prints}"

    def remove(self) -> None:
        """Remove the directory; not in a fork of the front end."""
        if self._directory is not None and os.getpid() == self._owner:
            remove_directory(self._directory)
            self._directory = None


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
    """Moves a session over a recording backwards, and to any action."""

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
            crashed = self._recording.ending.ordinal
            how = f"ends in #{ordinal}" if crashed is None else f"crashes in #{crashed}"
            raise UsageError(f"The tool {how}: there is no end of #{ordinal}.")
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
            accepted = self._position.accepted(bound)
            left -= wanted if accepted else 0
            if left == 0:
                return self._position.jump(bound, accepted)
        return self._position.jump_back(0, only_found(count - left + len(found)), has_moved)
