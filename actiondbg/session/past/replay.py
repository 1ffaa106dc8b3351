"""Replays of the run up to an action, in a fork of the tool."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.analysis.actions import ActionState
from actiondbg.errors import NoAnswer, ToolGone, UsageError
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool, closed_on_error
from actiondbg.process.stop import Side, Stop, not_ended
from actiondbg.session.executions import Executions
from actiondbg.session.runnable_session import End
from actiondbg.support.decoders import decoder_of


class Place(NamedTuple):
    """A place in the stream of actions."""

    ordinal: int  # of an action, from 1; 0 before the first action
    when: Side = "before"  # "before" or "after" the action
    ended: bool = False  # after all actions around it, too


class Replay:
    """Forks the beginning of the run, and replays it with the same skips.

    Every method raises NotStopped when the tool runs or was not started, and NoAnswer when the
    run cannot be replayed. A KeyboardInterrupt ends the fork.
    """

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._logs = 0
        # The place of the newest end inside an action, which takes a replay to find.
        self._inside: tuple[Stop, Place] | None = None

    # --- the position of the run ---

    def now(self) -> Place:
        """Return the place of the current stop, or of the end of the run."""
        execution = self._executions.need_idle()
        stop = execution.stop
        if stop is not None and stop.when == "exit":
            return self._place_inside(stop) if _is_inside(stop) else _end_of(execution, stop)
        if stop is None or not stop.ordinal:
            newest = self._executions.ask(protocol.GetStatus()).ordinal
            return Place(newest, "after", ended=True)
        return _place_of(stop)

    def _place_inside(self, stop: Stop) -> Place:
        """Return the place of the newest event of a tool that ended inside an action, by exit."""
        known = self._inside
        if known is None or known[0] is not stop:
            known = self._inside = stop, self._replayed_end(stop)
        return known[1]

    def _replayed_end(self, stop: Stop) -> Place:
        with self.fork() as fork:
            try:
                newest = fork.go(stop.event)
            except ToolGone as gone:
                raise NoAnswer(str(gone)) from gone
            fork.check_same()
        return Place(newest.ordinal, "after" if newest.when == "after" else "before")

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self._executions.need_idle().state == "exited"

    @property
    def exit_status(self) -> int | None:
        """The exit status of the tool; None while it runs."""
        stop = self._executions.need_idle().stop
        return stop.status if stop else None

    @property
    def crash(self) -> str | None:
        """Where the tool crashes at the stop, or has crashed, as a sentence; None elsewhere."""
        stop = self._executions.need_idle().stop
        return None if stop is None else stop.crash

    def check_past(self, ordinal: int, when: Side) -> None:
        """Raise UsageError if an action has not begun, or, for "after", has not ended."""
        if ordinal < 1:
            raise UsageError(f"There is no action #{ordinal}: ordinals start at 1.")
        newest, unfinished = self._begun()
        if ordinal > newest:
            how = f"the newest is #{newest}" if newest else "none has"
            raise UsageError(f"The action #{ordinal} has not been dispatched: {how}.")
        if when == "after" and ordinal in unfinished:
            raise not_ended(ordinal, self._executions.need_idle().stop)

    def has_ended(self, ordinal: int) -> bool:
        """Whether an action has ended at the current stop."""
        newest, unfinished = self._begun()
        return ordinal <= newest and ordinal not in unfinished

    def _begun(self) -> tuple[int, set[int]]:
        """Return the newest action, and those that have not ended."""
        execution = self._executions.need_idle()
        if execution.state != "stopped":
            place = self.now()
            return place.ordinal, set[int]() if place.ended else self._around(place)
        newest = self._executions.ask(protocol.GetStatus()).ordinal
        unfinished = {frame.ordinal for frame in self._executions.ask(protocol.GetFrames()).frames}
        if execution.stop is not None and execution.stop.when == "after":
            unfinished.discard(execution.stop.ordinal)
        return newest, unfinished

    def _around(self, place: Place) -> set[int]:
        """Return the actions that have begun, and not ended, at a place."""
        with self.fork_at(place) as fork:
            found = {frame.ordinal for frame in fork.request(protocol.GetFrames()).frames}
        return found - ({place.ordinal} if place.when == "after" else set[int]())

    def state_of(self, ordinal: int, state: ActionState) -> ActionState:
        """Return the state of an action, given that of an action between two stops.

        The stop may be inside the action, and a tool leaves actions where it recovers from a crash,
        or dies.
        """
        if self.is_over:
            return "over"
        stop = self._executions.need_idle().stop
        if stop is not None and stop.when == "during" and stop.ordinal == ordinal:
            return "running"
        return "over" if state == "running" and self.has_ended(ordinal) else state

    def skipped(self) -> list[int]:
        """Return the ordinals that are skipped on this timeline."""
        return self._executions.need_idle().branches.ordinals()

    # --- replays ---

    def fork(self) -> ForkedTool:
        """Fork the beginning of the run."""
        execution = self._executions.need_idle()
        fork = execution.origin.fork()
        with closed_on_error(fork):
            fork.request(execution.branches.request())
        return fork

    def fork_at(self, place: Place) -> ForkedTool:
        """Fork the beginning of the run, and replay it up to a place."""
        fork = self.fork()
        with closed_on_error(fork):
            replay_to(fork, place)
        return fork

    def log(
        self,
        breakpoints: list[protocol.WireBreakpoint],
        place: Place,
        file: Path,
        neighbourhoods: bool = False,
    ) -> ForkedTool:
        """Replay the run up to a place, and log the hits of logging breakpoints on the way.

        Returns:
            The fork, stopped at the place; close it. With neighbourhoods of operations it may
            differ from the run from some action on, its ``difference``: to describe them may make
            attributes, by whose addresses MLIR orders tables.
        """
        fork = self.fork()
        with closed_on_error(fork):
            fork.request(protocol.SetBreakpoints(breakpoints=breakpoints))
            fork.request(protocol.OpenLog(path=str(file), neighbourhoods=neighbourhoods))
            _advance(fork, place)
            if not neighbourhoods:
                fork.check_same()
            fork.request(protocol.CloseLog())
        return fork

    @contextlib.contextmanager
    def log_file(self) -> Generator[Path]:
        """Yield the path of a log, which is removed afterwards."""
        self._logs += 1
        file = self._executions.file(f"log-{self._logs}")
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)


def replay_to(fork: ForkedTool, place: Place) -> None:
    """Replay the run up to a place; raises NoAnswer if an action on the way differed."""
    _advance(fork, place)
    fork.check_same()


def _advance(fork: ForkedTool, place: Place) -> None:
    if not place.ordinal:
        return
    stop = fork.advance(place.ordinal, place.when)
    if place.ended and stop.depth:
        fork.resume("finish", stop.depth)


def _place_of(stop: Stop) -> Place:
    begun = (stop.event + stop.depth + 1) // 2  # all but the actions around have ended
    if stop.when in ("during", "exit") and begun > stop.ordinal:
        return Place(begun, "after")
    return Place(stop.ordinal, "after" if stop.when == "after" else "before")


def _is_inside(end: Stop) -> bool:
    """Return whether the tool ended by itself before each of its actions had ended."""
    return not end.ordinal and end.actions is not None and 0 < end.event < 2 * end.actions


def _end_of(execution: Execution, stop: Stop) -> Place:
    if stop.ordinal:
        return _place_of(stop)
    if stop.actions is not None:
        return Place(stop.actions, "after", ended=True)
    if execution.last is None or not execution.last.ordinal:
        message = (stop.message or "The tool has ended.").rstrip(".")
        raise NoAnswer(f"{message}, at an unknown action: stop it earlier, with a breakpoint.")
    return _place_of(execution.last)


def logging(
    terms: list[protocol.Term],
    outcome: protocol.OutcomeFilter | None = None,
    watch: protocol.Watch | None = None,
    condition: protocol.Condition | None = None,
    id: int = 1,
) -> protocol.WireBreakpoint:
    """Return a logging breakpoint: a hit writes a line into the log and does not stop."""
    return protocol.WireBreakpoint(
        id=id,
        after=outcome is not None,
        terms=terms,
        condition=condition,
        outcome=outcome,
        watch=watch,
        log=True,
    )


def read_log(file: Path) -> Iterator[protocol.LoggedHit]:
    """Yield the lines of a log; none if there is no file."""
    decoder = decoder_of(protocol.LoggedHit)
    try:
        with file.open("rb") as lines:
            for line in lines:
                yield decoder.decode(line)
    except FileNotFoundError:
        return
    except (OSError, msgspec.DecodeError) as error:
        raise NoAnswer(
            f"The log of the fork cannot be read ({error}): check that disk space is left."
        ) from error


def record_replay(replay: Replay, path: Path, end: End) -> None:
    """Replay the run, and record it with the IR at this stop and at the end; see ``Past.recorded``.

    Raises:
        NotStopped: the tool runs or was not started.
        NoAnswer: the run cannot be replayed.
        UsageError: the action is before this stop.
    """
    now = replay.now()
    if isinstance(end, int) and replay.has_ended(end):
        raise UsageError(f"The action #{end} is before this stop, at #{now.ordinal}.")
    with replay.fork() as fork:
        fork.request(protocol.OpenRecording(path=str(path)))
        replay_to(fork, now)
        if now.ordinal:
            fork.request(protocol.RecordStage())
        if end == "end":
            fork.complete()
            return fork.check_same()
        if end != "now":
            _advance_beyond(fork, end)
            fork.request(protocol.RecordStage())
        fork.request(protocol.CloseRecording())


def _advance_beyond(fork: ForkedTool, end: int) -> None:
    try:
        replay_to(fork, Place(end, "after"))
    except (NoAnswer, ToolGone) as error:
        raise UsageError(
            f"The run ends before the end of an action #{end}: see info pipeline."
        ) from error
