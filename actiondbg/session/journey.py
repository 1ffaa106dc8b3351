"""Going to another place of the run: a fork of a frozen process goes there, and is the tool."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, NoAnswer, NotStopped, ToolGone, UsageError
from actiondbg.process.checkpoints import Frozen
from actiondbg.process.execution import Execution
from actiondbg.process.forked_tool import ForkedTool
from actiondbg.process.launch_options import LaunchOptions
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branches
from actiondbg.session.going import Going
from actiondbg.session.replay import closed_on_error

_NOTHING = protocol.CheckpointOptions(socket="", milliseconds=0, megabytes=0)
_AGAIN = "the tool cannot be forked: it was started again, and has come here from its start"


class Journey(Going):
    """The part of Session that goes to and fro.

    The process that was the tool is killed when the new one stands at the place. When something
    goes wrong before, or a KeyboardInterrupt comes, it stays where it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self._milliseconds = 50
        self._megabytes = 1024
        self._is_quiet = False  # whether the tool has the breakpoints for the way

    @abstractmethod
    def _start_again(self, beginning: LaunchOptions) -> Execution:
        """Start another process of the tool, beside the one that there is."""

    @abstractmethod
    def _take_over(self, run: Execution) -> None:
        """Make another run the session's; the old one is ended."""

    @abstractmethod
    def _shared(self) -> list[int]:
        """Return which standard streams of the tool's are files of ours, too."""

    # --- the tool ---

    def _arrive(self, wait: Callable[[], Stop]) -> Stop:
        stop = super()._arrive(wait)
        if self._is_quiet and stop.when != "exit":
            run = self._need_run()
            self._list.recount(run.request(protocol.GetHits()).hits)
            run.request(protocol.SetBreakpoints(breakpoints=self._on_wire()))
            run.stop = stop = self._as_seen(stop, run.branches)
        self._is_quiet = False
        return stop

    def _travel(self, event: int, inside: int = 0) -> Stop:
        """Go back, or on, to a place on the timeline.

        Args:
            event: the newest event there, from 1.
            inside: 0 for that event itself; k for the k-th stop in an action after it.

        Raises:
            ToolGone, NoAnswer: the tool does not do the same again.
        """
        run = self._past_run()
        stop = self._go_from(self._usable(run, event), run, run.branches, event, inside)
        if stop is not None:
            return stop
        resume = protocol.Resume(control="continue", event=event)
        return self._arrive(lambda: self._repeat(run, resume, self._quiet(), inside))

    def _stand(self, frozen: Frozen) -> Stop:
        """Go to where a checkpoint stands; on another timeline, if that is not on this one.

        What was written before a place that lies ahead has been discarded, or was never written
        on this timeline. It is written anew then, on the way from where the timelines part.
        """
        run = self._past_run()
        branches = run.branches.save()
        if not branches.holds(frozen.branch, frozen.event, frozen.stands):
            branches.switch(frozen.branch)
        here = run.stop.event if run.stop else 0
        same = branches.current.number == run.branches.current.number
        common = [
            one
            for one in self._usable(run, min(frozen.event, here))
            if branches.holds(one.branch, one.event, one.stands)
        ]
        if same and frozen.event <= here:
            stop = self._go_from([frozen], run, branches, None)
        else:
            stop = self._go_from(common, run, branches, frozen.event, frozen.inside)
        if stop is None:
            raise NoAnswer(f"The tool cannot be forked: checkpoint {frozen.number} is of no use.")
        return stop

    def _go_from(
        self,
        starts: list[Frozen],
        run: Execution,
        branches: Branches,
        event: int | None,
        inside: int = 0,
    ) -> Stop | None:
        """Go to a place from the first of some processes that can be forked; None: none can."""
        for frozen in starts:
            made = self._fork_tool(run, frozen, branches)
            if made is not None:
                return self._arrive(
                    lambda made=made: self._replace(run, made, branches, event, inside)
                )
        return None

    def _begin_branch(self, run: Execution) -> None:
        """Have the tool write on a new timeline, also what it was to be silent about."""
        stop = run.stop
        if not run.is_muted or stop is None:
            run.freeze(self._milliseconds, self._megabytes)
            return
        made = run.fork(protocol.Fork(role="tool", shared=self._shared()))
        with closed_on_error(made):
            self._prepare(run, made, run.branches)
        run.adopt(made, stop, run.branches, muted=False)

    def _usable(self, run: Execution, event: int) -> list[Frozen]:
        """Return from where one can go to an event, the nearest first."""
        return [
            one for one in run.frozen() if one.event < event or (one.event == event and one.stands)
        ]

    def _fork_tool(self, run: Execution, frozen: Frozen, branches: Branches) -> ForkedTool | None:
        """Fork a frozen process to be the tool; None, and it is of no use, if that fails."""
        same = branches.current.number == run.branches.current.number
        try:
            return frozen.replica.fork(
                "tool", muted=run.written() if same else None, shared=self._shared()
            )
        except (AgentError, ToolGone, NotStopped):
            run.checkpoints.drop(frozen)
            return None

    def _replace(
        self,
        run: Execution,
        made: ForkedTool,
        branches: Branches,
        event: int | None = None,
        inside: int = 0,
    ) -> Stop:
        """Take a fork to its place, and have it be the tool.

        Args:
            run: of the tool.
            made: the fork, of the role "tool".
            branches: the timelines; the fork is on the current one.
            event: the newest event there; None for where it stands.
            inside: see ``_travel``.
        """
        muted = branches.current.number == run.branches.current.number
        with closed_on_error(made):
            self._prepare(run, made, branches)
            stop = made.stop if event is None else _go(made, event, inside)
            stop = self._as_seen(stop, branches)
            self._list.remove_temporary(stop.breakpoints)
            made.request(protocol.SetBreakpoints(breakpoints=self._on_wire()))
            hits = made.request(protocol.GetHits()).hits
        run.adopt(made, stop, branches, muted)
        self._list.recount(hits)
        return stop

    def _prepare(self, run: Execution, made: ForkedTool, branches: Branches) -> None:
        """Tell a fork on its way to be the tool what holds on the timeline."""
        made.request(protocol.SetBreakpoints(breakpoints=self._quiet()))
        made.request(protocol.SetSkips(ordinals=branches.ordinals()))
        made.request(self._options())
        made.request(run.freezing(branches))

    def _repeat(
        self,
        run: Execution,
        resume: protocol.Resume,
        breakpoints: list[protocol.WireBreakpoint],
        inside: int = 0,
    ) -> Stop:
        """Start the tool again, as it cannot be forked, and go to a place.

        Args:
            run: of the tool that is replaced.
            resume: takes the new one there.
            breakpoints: which that has on the way.
            inside: see ``_travel``.
        """
        beginning = self._beginning(resume)
        beginning.breakpoints = breakpoints
        beginning.skips = run.branches.ordinals()
        again = self._start_again(beginning)
        try:
            stop = again.wait()
            for _ in range(inside):
                stop = again.resume(protocol.Resume(control="continue"))
            _check(stop, resume.event, inside)
            stop = self._as_seen(stop, run.branches)
            self._list.remove_temporary(stop.breakpoints)
            again.request(protocol.SetBreakpoints(breakpoints=self._on_wire()))
            hits = again.request(protocol.GetHits()).hits
        except BaseException:
            again.kill()
            raise
        again.branches = run.branches
        again.stop = msgspec.structs.replace(stop, message=stop.message or _AGAIN)
        self._take_over(again)
        self._list.recount(hits)
        return again.stop

    def _as_seen(self, stop: Stop | None, branches: Branches) -> Stop:
        """Return a stop as the user sees it who went there."""
        if stop is None:
            raise UsageError("Nothing has been dispatched there: there is no action to stop at.")
        heeded = {one.id for one in self._list.all() if one.enabled and not one.ignore}
        hit = [number for number in stop.breakpoints if number in heeded]
        is_before = stop.when == "before"
        return msgspec.structs.replace(
            stop,
            reason=stop.reason if hit or stop.reason in ("verify", "interrupt") else "until",
            breakpoints=hit,
            skipped=stop.ordinal in branches.ordinals() if is_before else stop.skipped,
        )

    # --- what the tool is told ---

    def _quiet(self) -> list[protocol.WireBreakpoint]:
        """Return the breakpoints for the way, on which they are no stops and only count."""
        return [msgspec.structs.replace(one, ignore=0, temporary=False) for one in self._on_wire()]

    def _options(self) -> protocol.SetOptions:
        return protocol.SetOptions(verify_each_action=self._verifies, count=self._counts)

    def _beginning(self, resume: protocol.Resume) -> LaunchOptions:
        return LaunchOptions(
            resume=resume,
            breakpoints=self._on_wire(),
            options=self._options(),
            milliseconds=self._milliseconds,
            megabytes=self._megabytes,
        )

    # --- looking there first ---

    def _scout(self, start: ForkedTool, breakpoints: list[protocol.WireBreakpoint]) -> ForkedTool:
        """Fork a frozen process to look at what is to come on this timeline; close it."""
        replica = start.fork()
        with closed_on_error(replica):
            self._tell_scout(replica, breakpoints)
        return replica

    def _tell_scout(self, replica: ForkedTool, breakpoints: list[protocol.WireBreakpoint]) -> None:
        verifies = self._verifies and bool(breakpoints)
        replica.request(protocol.SetBreakpoints(breakpoints=breakpoints))
        replica.request(protocol.SetSkips(ordinals=self._past_run().branches.ordinals()))
        replica.request(
            protocol.SetOptions(verify_each_action=verifies, count=False, checkpoints=_NOTHING)
        )

    def _nearest(self, event: int) -> ForkedTool:
        """Return the frozen process from which the way to an event is the shortest.

        Raises:
            NoAnswer: there is none.
        """
        run = self._past_run()
        usable = self._usable(run, event)
        return usable[0].replica if usable else run.origin

    def _peek(self, event: int) -> Stop:
        """Return the stop at an event of the past."""
        with self._scout(self._nearest(event), []) as replica:
            return replica.go(event)


def _go(made: ForkedTool, event: int, inside: int) -> Stop:
    stop = made.go(event)
    for _ in range(inside):
        stop = made.resume("continue")
    _check(stop, event, inside)
    return stop


def _check(stop: Stop, event: int | None, inside: int) -> None:
    is_there = stop.event == event or (event is None and stop.reason == "until")
    if not is_there or (stop.when == "during") != bool(inside):
        raise NoAnswer("The tool does not do the same again: the place was not found.")
