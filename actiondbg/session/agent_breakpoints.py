"""The breakpoints of a session as the agent has them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import BreakpointTable
from actiondbg.breakpoints.watch import Target
from actiondbg.errors import UsageError
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branches
from actiondbg.session.executions import Executions

Contribution = Callable[[], list[protocol.WireBreakpoint]]


class AgentBreakpoints:
    """Sends breakpoints to the agent, and takes over its hit counts (``BreakpointHost``).

    Args:
        table: the breakpoints of the session.
        executions: the processes of the tool.
    """

    def __init__(self, table: BreakpointTable, executions: Executions) -> None:
        self.table = table
        self._executions = executions
        self._barriers: list[Contribution] = []
        self._observers: list[Contribution] = []
        self._is_counted = True
        self._is_quiet = False

    def add_barriers(self, contribution: Contribution) -> None:
        """Also send these, on the way of time travel too."""
        self._barriers.append(contribution)

    def add_observers(self, contribution: Contribution) -> None:
        """Also send these, but not on the way of time travel."""
        self._observers.append(contribution)

    # --- BreakpointHost ---

    def check_changeable(self) -> None:
        """Raise NotStopped while the tool runs."""
        self._executions.check_idle("breakpoints")

    def check_watch(self, target: Target) -> None:
        """Every target can be watched."""

    def check_catch(self, kind: str) -> None:
        """Every event can be caught."""

    def send(self) -> None:
        """Send all to a stopped agent; else they are sent when it starts."""
        if self._executions.state != "stopped":
            return
        # The agent counts what is left to ignore from here on.
        self.count_hits()
        self._executions.ask(protocol.SetBreakpoints(breakpoints=self.all()))

    def count_hits(self, *, again: bool = False) -> None:
        """Bring the hit counts up to date; ``again``: also if they have been at this stop."""
        execution = self._executions.current
        if execution is None or execution.state == "running":
            return
        if execution.state == "exited":
            self.table.count(execution.hits)
        elif again or not self._is_counted:
            self.table.count(self._executions.ask(protocol.GetHits()).hits)
            self._is_counted = True

    # --- messages ---

    def all(self) -> list[protocol.WireBreakpoint]:
        """Return all that stops the tool."""
        return [*self._of_user(), *(each for many in self._observers for each in many())]

    def quiet(self) -> list[protocol.WireBreakpoint]:
        """Return the breakpoints for the way of time travel, where they only count."""
        return [msgspec.structs.replace(one, ignore=0, temporary=False) for one in self._of_user()]

    def silence(self, *, log: bool = False) -> None:
        """Send the breakpoints for the way of time travel; the next stop restores them.

        Args:
            log: they do not even stop where the event of the way is not known.
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
        """The tool resumes: its hit counts change."""
        self._is_counted = False

    def remove_temporary(self, stop: Stop) -> None:
        """Remove the temporary breakpoints that were hit; ``update`` does it with predicates."""
        plain = [one.id for one in self.table.all() if one.predicate is None]
        self.table.remove_temporary([id for id in stop.breakpoints if id in plain])

    def update(self, stop: Stop) -> Stop:
        """Remove the temporary breakpoints that were hit; at the end, count all hits."""
        hit = [one for one in self.table.all() if one.id in stop.breakpoints]
        self.table.remove_temporary(stop.breakpoints)
        if any(one.temporary and one.predicate is not None for one in hit):
            self.send()  # the agent does not know that these are temporary
        if stop.when == "exit":
            self.count_hits()
        return stop

    def restore(self, stop: Stop) -> Stop:
        """Send the breakpoints again after the way of time travel; return the stop as seen."""
        if self._is_quiet and stop.when != "exit":
            execution = self._executions.need()
            self.table.recount(execution.request(protocol.GetHits()).hits)
            execution.request(protocol.SetBreakpoints(breakpoints=self.all()))
            stop = self.as_seen(stop, execution.branches)
        self._is_quiet = False
        return stop

    def as_seen(self, stop: Stop | None, branches: Branches) -> Stop:
        """Return a stop at the end of time travel, as if the tool had run there."""
        if stop is None:
            raise UsageError("Nothing has been dispatched there: there is no action to stop at.")
        heeded = {one.id for one in self.table.all() if one.enabled and not one.ignore}
        hit = [number for number in stop.breakpoints if number in heeded]
        is_before = stop.when == "before"
        return msgspec.structs.replace(
            stop,
            reason=stop.reason if hit or stop.reason in ("verify", "interrupt") else "until",
            breakpoints=hit,
            skipped=stop.ordinal in branches.ordinals() if is_before else stop.skipped,
        )
