"""Repeating a run up to some action, in a replica of the tool."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from actiondbg import protocol
from actiondbg.errors import NoAnswer, NotStopped, UsageError
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.stop import Stop
from actiondbg.session.observing import Observing

Side = Literal["before", "after"]


class Place(NamedTuple):
    """A place in the stream of actions.

    Attributes:
        ordinal: of an action, from 1; 0 for the beginning, where nothing has been dispatched.
        when: the side of it.
        ended: after all actions around it, too.
    """

    ordinal: int
    when: Side = "before"
    ended: bool = False


class Replaying(Observing):
    """The part of Session that repeats the run. What was skipped is skipped again.

    Every method raises NotStopped when the tool runs or was not started, and NoAnswer when the
    run cannot be repeated. A KeyboardInterrupt ends the replica.
    """

    def __init__(self) -> None:
        super().__init__()
        self._logs = 0

    def replay(self, ordinal: int, when: Side = "before") -> ForkedTool:
        """Make a replica of the tool that stands at an action of the past; close it.

        Args:
            ordinal: the action's number, from 1.
            when: before it, or after it; then it has to be over.

        Raises:
            UsageError: the action has not come yet, or is not over.
        """
        self._check_past(ordinal, when)
        return self._replica_at(Place(ordinal, when))

    # --- where the run is ---

    def _past_run(self) -> Execution:
        run = self._current
        if run is None:
            raise NotStopped("The tool is not running: start it with run or start.")
        if run.state == "running":
            raise NotStopped("The tool is running: interrupt it before asking for its past.")
        return run

    def _now(self) -> Place:
        """Return how far the run is to be repeated: up to the newest action that is over."""
        run = self._past_run()
        stop = run.stop
        if stop is not None and stop.when == "exit":
            return _end_of(run, stop)
        if stop is None or not stop.ordinal:
            return Place(self._ask(protocol.GetStatus()).ordinal, "after", ended=True)
        return _place_of(stop)

    def _check_past(self, ordinal: int, when: Side) -> None:
        if ordinal < 1:
            raise UsageError(f"There is no action #{ordinal}: actions are numbered from 1.")
        run = self._past_run()
        if run.state == "stopped":
            newest = self._ask(protocol.GetStatus()).ordinal
            unfinished = {frame.ordinal for frame in self.backtrace()}
            if run.stop is not None and run.stop.when == "after":
                unfinished.discard(run.stop.ordinal)
        else:
            place = self._now()
            newest = place.ordinal
            unfinished = set[int]() if place.when == "after" else {newest}
        if ordinal > newest:
            how = f"the newest is #{newest}" if newest else "none has"
            raise UsageError(f"The action #{ordinal} has not been dispatched: {how}.")
        if when == "after" and ordinal in unfinished:
            raise UsageError(f"The action #{ordinal} is not over: go on to its end first.")

    def _skipped(self) -> list[int]:
        """The actions that are left out on this timeline."""
        return self._past_run().branches.ordinals()

    # --- going there again ---

    def _replica(self) -> ForkedTool:
        """Make a replica at the beginning of the run."""
        skipped = self._skipped()
        replica = self._past_run().origin.fork()
        with closed_on_error(replica):
            replica.request(protocol.SetSkips(ordinals=skipped))
        return replica

    def _replica_at(self, place: Place) -> ForkedTool:
        replica = self._replica()
        with closed_on_error(replica):
            go(replica, place)
        return replica

    def _watch_run(
        self, breakpoints: list[protocol.WireBreakpoint], place: Place, log: Path
    ) -> ForkedTool:
        """Repeat the run up to a place, and log what breakpoints see on the way.

        Args:
            breakpoints: logging ones.
            place: where to end.
            log: the file; it is not made when the place is the beginning.

        Returns:
            The replica, which stands there; close it.
        """
        replica = self._replica()
        with closed_on_error(replica):
            replica.request(protocol.SetBreakpoints(breakpoints=breakpoints))
            replica.request(protocol.OpenLog(path=str(log)))
            go(replica, place)
            replica.request(protocol.CloseLog())
        return replica

    @contextlib.contextmanager
    def _log_file(self) -> Generator[Path]:
        self._logs += 1
        file = self._file(f"log-{self._logs}")
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)


def go(replica: ForkedTool, place: Place) -> None:
    """Repeat the run up to a place."""
    if not place.ordinal:
        return
    stop = replica.advance(place.ordinal, place.when)
    if place.ended and stop.depth:
        replica.resume("finish", stop.depth)


def _place_of(stop: Stop) -> Place:
    return Place(stop.ordinal, "after" if stop.when == "after" else "before")


def _end_of(run: Execution, stop: Stop) -> Place:
    """Return how far a run came that has ended."""
    if stop.ordinal:
        return Place(stop.ordinal)
    if stop.actions is not None:
        return Place(stop.actions, "after", ended=True)
    if run.last is None or not run.last.ordinal:
        message = (stop.message or "The tool has ended.").rstrip(".")
        raise NoAnswer(f"{message}, and how far it had come is not known: set a breakpoint.")
    return _place_of(run.last)


def logging(
    terms: list[protocol.Term],
    outcome: protocol.OutcomeFilter | None = None,
    watch: protocol.Watch | None = None,
    condition: protocol.Condition | None = None,
    id: int = 1,
) -> protocol.WireBreakpoint:
    """Return a breakpoint for a replica: it writes a line where another would stop."""
    return protocol.WireBreakpoint(
        id=id,
        enabled=True,
        temporary=False,
        after=outcome is not None,
        ignore=0,
        terms=terms,
        condition=condition,
        outcome=outcome,
        watch=watch,
        log=True,
    )


def read_log(file: Path) -> Iterator[protocol.Stopped]:
    """Read the lines of a log one by one; none, if there is no file."""
    decoder = msgspec.json.Decoder(protocol.Stopped)
    try:
        with file.open("rb") as lines:
            for line in lines:
                yield decoder.decode(line)
    except FileNotFoundError:
        return
    except (OSError, msgspec.DecodeError) as error:
        raise NoAnswer(
            f"The log of the replica cannot be read ({error}): is there room left on the disk?"
        ) from error


@contextlib.contextmanager
def closed_on_error(replica: ForkedTool) -> Generator[None]:
    try:
        yield
    except BaseException:
        replica.close()
        raise
