"""The agent's copy of a session's breakpoints."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

import msgspec

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import BreakpointTable
from actiondbg.breakpoints.targets import Target
from actiondbg.errors import UsageError
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions

Contribution = Callable[[], list[protocol.WireBreakpoint]]

# Reasons of stops without a breakpoint.
_OWN_REASONS = ("verify", "interrupt", "crash")


class AgentBreakpoints:
    """Sends breakpoints to the agent, and reads its hit counts (``BreakpointHost``)."""

    def __init__(self, table: BreakpointTable, executions: Executions) -> None:
        self.table = table
        self._executions = executions
        self._barriers: list[Contribution] = []
        self._observers: list[Contribution] = []
        self._is_counted = True
        self._is_quiet = False

    def add_barriers(self, contribution: Contribution) -> None:
        """Also send the breakpoints of a contribution, during time travel too."""
        self._barriers.append(contribution)

    def add_observers(self, contribution: Contribution) -> None:
        """Also send the breakpoints of a contribution, except during time travel."""
        self._observers.append(contribution)

    # --- BreakpointHost ---

    def check_changeable(self) -> None:
        """Raise NotStopped while the tool runs."""
        self._executions.check_idle("breakpoints")

    def check_watch(self, target: Target) -> None:
        """Accept every target."""

    def check_catch(self, kind: str) -> None:
        """Accept every event."""

    def send(self) -> None:
        """Send all breakpoints to a stopped agent; otherwise the next start sends them."""
        if self._executions.state != "stopped":
            return
        # The agent restarts its ignore counts with the new list.
        self.count_hits()
        self._executions.ask(protocol.SetBreakpoints(breakpoints=self.all()))

    def count_hits(self, *, again: bool = False) -> None:
        """Update the hit counts; ``again``: even if they were updated at this stop."""
        execution = self._executions.current
        if execution is None or execution.state == "running":
            return
        if execution.state == "exited":
            self.table.count(execution.hits)
        elif again or not self._is_counted:
            self.table.count(self._executions.ask(protocol.GetHits()).hits)
            self._is_counted = True

    @contextlib.contextmanager
    def passing_attempts(self) -> Generator[None]:
        """Resume without stops at attempts, in a block; see ``BreakpointTable``."""
        try:
            with self.table.passing_attempts():
                self.send()
                yield
        finally:
            self.send()

    # --- messages ---

    def all(self) -> list[protocol.WireBreakpoint]:
        """Return all breakpoints, with those of the contributions."""
        return [*self._of_user(), *(each for many in self._observers for each in many())]

    def quiet(self) -> list[protocol.WireBreakpoint]:
        """Return the breakpoints for time travel, where they only count hits."""
        return [msgspec.structs.replace(one, ignore=0, temporary=False) for one in self._of_user()]

    def silence(self, *, log: bool = False) -> None:
        """Send the breakpoints for time travel; the next stop restores them.

        Args:
            log: make them logging ones, for a resume whose target event is unknown.
        """
        self._is_quiet = True
        quiet = self.quiet()
        if log:
            quiet = [msgspec.structs.replace(one, log=True) for one in quiet]
        self._executions.ask(protocol.SetBreakpoints(breakpoints=quiet))

    def _of_user(self) -> list[protocol.WireBreakpoint]:
        own = [
            msgspec.structs.replace(one.on_wire(), temporary=False)
            if one.predicate is not None
            else one.on_wire()
            for one in self.table.all()
        ]
        return [*own, *(each for many in self._barriers for each in many())]

    # --- stops ---

    def resuming(self) -> None:
        """Invalidate the hit counts, before the tool resumes.

        Other processes of its program get the breakpoints before it can end, as they go on then.
        """
        self._is_counted = False
        if not self._is_quiet:
            self._executions.share(self.all)

    def remove_temporary(self, stop: Stop) -> None:
        """Remove the temporary breakpoints that were hit; ``update`` does it with predicates."""
        plain = [one.id for one in self.table.all() if one.predicate is None]
        self.table.remove_temporary([id for id in stop.breakpoints if id in plain])

    def update(self, stop: Stop) -> Stop:
        """Remove the temporary breakpoints that were hit, and look up the names of pending ones;
        at the end, count all hits.
        """
        if stop.breakpoints:
            hit = [one for one in self.table.all() if one.id in stop.breakpoints]
            for one in hit:
                one.was_hit = True  # the count may be of another timeline when it is read
            self.table.remove_temporary(stop.breakpoints)
            met = [one.meet(stop) for one in hit if one.pending is not None]
            if any(met) or any(one.temporary and one.predicate is not None for one in hit):
                self.send()  # the agent has a temporary one with a predicate as a permanent one
        if stop.when == "exit":
            self.count_hits()
            self._executions.need().stop = stop = with_never_hit(stop, self.table)
        return stop

    def restore(self, stop: Stop) -> Stop:
        """Send the breakpoints again after time travel; return the stop as the user sees it."""
        if self._is_quiet and stop.when != "exit":
            execution = self._executions.need()
            self.table.recount(execution.request(protocol.GetHits()).hits)
            execution.request(protocol.SetBreakpoints(breakpoints=self.all()))
            stop = self.as_seen(stop)
        self._is_quiet = False
        return stop

    def as_seen(self, stop: Stop | None) -> Stop:
        """Return a stop at the end of time travel as if the tool had run there without it."""
        if stop is None:
            raise UsageError("There is no action to stop at: none has been dispatched yet.")
        effective = {one.id for one in self.table.all() if one.enabled and not one.ignore}
        hit = [number for number in stop.breakpoints if number in effective]
        return msgspec.structs.replace(
            stop,
            reason=stop.reason if hit or stop.reason in _OWN_REASONS else "until",
            breakpoints=hit,
        )


def with_never_hit(stop: Stop, table: BreakpointTable) -> Stop:
    """Return the stop at the tool's end with the breakpoints that were never hit.

    None are listed if no action was dispatched, so that they could not be hit.
    """
    has_run = stop.actions != 0 and (stop.actions is not None or stop.event > 0)
    return msgspec.structs.replace(stop, never_hit=table.never_hit() if has_run else [])
