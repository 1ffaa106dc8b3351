"""The breakpoints, watches and catches of a session, and the agent's copy of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterable
from typing import Protocol

import msgspec

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import Breakpoint, BreakpointTable, breakpoint_script
from actiondbg.breakpoints.resolution import Vocabulary, resolve_spec
from actiondbg.breakpoints.selection import Selection
from actiondbg.breakpoints.targets import Target, parse_catch, parse_target
from actiondbg.errors import AgentError, ToolGone, UsageError
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.support.output_file import write_file


class BreakpointHost(Protocol):
    """The evaluator of breakpoints: the agent of a tool, or a recording."""

    def check_changeable(self) -> None:
        """Raise NotStopped while the tool runs."""
        ...

    def check_watch(self, target: Target) -> None:
        """Raise UsageError if the host cannot watch such a target."""

    def check_catch(self, kind: str) -> None:
        """Raise UsageError if the host cannot catch such an event."""

    def send(self) -> None:
        """Send the breakpoints at a stop; otherwise the next start sends them."""
        ...

    def count_hits(self, *, again: bool = False) -> None:
        """Update the hit counts; ``again``: even if they were updated at this stop."""
        ...


class BreakpointList:
    """The breakpoints, watches and catches of a session, in the order of their ids.

    Changing one raises NotStopped while the tool runs, and UsageError for an unknown id.
    """

    def __init__(
        self, table: BreakpointTable, host: BreakpointHost, cursor: Cursor, names: Vocabulary
    ) -> None:
        self._table = table
        self._host = host
        self._cursor = cursor
        self._names = names

    def all(self) -> list[Breakpoint]:
        """Return all breakpoints in the order of their ids; at a stop their hits are current."""
        with contextlib.suppress(ToolGone):
            self._host.count_hits()
        return self._table.all()

    def kind_of(self, id: int) -> str:
        """Return what a breakpoint is, or was before it was deleted.

        Returns:
            ``breakpoint``, ``temporary breakpoint``, ``watch`` or ``catch``.
        """
        return self._table.kind_of(id)

    def get(self, id: int) -> Breakpoint:
        """Return a breakpoint; at a stop its hits are current."""
        with contextlib.suppress(ToolGone):
            self._host.count_hits()
        return self._table.get(id)

    def add(
        self,
        spec: str,
        condition: str | None = None,
        *,
        temporary: bool = False,
        after: bool = False,
        outcome: str | None = None,
        predicate: Callable[[Stop], bool] | None = None,
    ) -> Breakpoint:
        """Set a breakpoint.

        A bare name means, in this order, a pattern, a pass, an operation, a function or a tag; a
        number means a line of the only input file. The SPEC of the result has the kind. If a name
        is not known, the result is ``pending``.

        Args:
            spec: which actions, such as ``pattern:*Select*``, ``in.mlir:3`` or ``main``.
            condition: evaluated in the agent, such as ``depth > 1 and op ~ "arith.*"``.
            temporary: deleted at its first stop.
            after: stop after the action instead of before it.
            outcome: stop after the action, if it had this outcome, such as
                ``failed,reason:*constant*``.
            predicate: evaluated in Python at each stop; where it returns False, the tool resumes.
                Such a stop counts as a hit.

        Raises:
            UsageError: the spec, the condition or the outcome has a syntax error; the error holds
                the position.
        """
        resolved = resolve_spec(spec, self._names)
        new = Breakpoint(
            self._table.next_id,
            Selection(resolved.spec, condition, outcome, after),
            temporary=temporary,
            predicate=predicate,
            unresolved=resolved.unresolved,
        )
        return self._add(new)

    def watch(
        self, target: str, *, exact: bool = False, condition: str | None = None
    ) -> Breakpoint:
        """Stop when an operation, an attribute, or a number of operations changes.

        Args:
            target: "cursor", an id such as "@12", an SSA name at the stop such as "%3" or
                "%x#1"; "attribute NAME of" one of these; "op:GLOB count".
            exact: watch this operation only, not its replacement.
            condition: of the action that made the change; see ``add``.

        Returns:
            The watch: a breakpoint that names the operation by its id, which is the same in
            every run.

        Raises:
            UsageError: the target or the condition has a syntax error, or is no operation.
            NotStopped: "cursor" or an SSA name is given, and there is no stop.
            NoSuchUnit: there is no such value at the stop.
        """
        parsed = parse_target(target)
        self._host.check_watch(parsed)
        operation = parsed.operation
        id = None if operation is None else self._cursor.operation_id(operation)
        watch = parsed.on_wire(id, exact)
        return self._add(Breakpoint(self._table.next_id, Selection(None, condition), watch=watch))

    def catch(
        self, kind: str, glob: str | None = None, *, condition: str | None = None
    ) -> Breakpoint:
        """Stop at an event that is no action.

        Args:
            kind: "failure" (of a pass), "crash", "verify" (the IR is found to be invalid),
                "diagnostic" or "nonconvergence" (of a greedy driver).
            glob: of the text of the diagnostic, or of the pass that fails; None for any.
            condition: of the action in which the event happens; see ``add``.

        Raises:
            UsageError: there is no such event, it takes no glob, or the condition has a syntax
                error.
        """
        self._host.check_catch(kind)
        event = parse_catch(kind, glob)
        return self._add(Breakpoint(self._table.next_id, Selection(None, condition), catch=event))

    def delete(self, ids: Iterable[int]) -> None:
        """Delete breakpoints; if one of the ids is unknown, delete none."""
        self._host.check_changeable()
        for one in self._table.get_all(ids):
            self._table.remove(one.id)
        self._host.send()

    def enable(self, ids: Iterable[int]) -> None:
        """Enable breakpoints."""
        self._set_enabled(ids, True)

    def disable(self, ids: Iterable[int]) -> None:
        """Disable breakpoints, until they are enabled again."""
        self._set_enabled(ids, False)

    def set_condition(self, id: int, text: str | None) -> None:
        """Replace the condition of a breakpoint; None removes it.

        Raises:
            UsageError: the condition has a syntax error; the old one is kept.
        """
        self._host.check_changeable()
        self._table.get(id).set_condition(text)
        self._host.send()

    def set_ignore(self, id: int, n: int) -> None:
        """Ignore the next ``n`` hits of a breakpoint.

        Args:
            id: the breakpoint.
            n: from 0.
        """
        self._host.check_changeable()
        if n < 0:
            raise UsageError(f"The ignore count must be at least 0, got {n}.")
        self._host.count_hits()
        self._table.get(id).ignore = n
        self._host.send()

    def set_commands(self, id: int, lines: list[str]) -> None:
        """Set the commands that the front end runs at a stop of the breakpoint."""
        self._table.get(id).commands = list(lines)

    def hits(self) -> list[Breakpoint]:
        """Update the hit counts of this run and the pending names, and return all breakpoints."""
        with contextlib.suppress(ToolGone):  # the breakpoints are there without it
            self._host.count_hits(again=True)
            if any([one.resolve(self._names) for one in self._table.pending()]):
                self._host.send()
        return self._table.all()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a script of commands that sets the breakpoints again.

        In the script ``$_`` is the id of the newest breakpoint, so that existing ones do not
        matter: ``break SPEC``, ``watch TARGET`` or ``catch EVENT``, then ``ignore $_ N``,
        ``disable $_``, ``commands $_ ... end``.

        Raises:
            FileNotWritten: the file cannot be written.
        """
        write_file(path, breakpoint_script(self.all()).encode(), "The breakpoints")

    def _add(self, new: Breakpoint) -> Breakpoint:
        self._host.check_changeable()
        self._table.add(new)
        try:
            self._host.send()
        except AgentError:
            self._table.remove(new.id)
            raise
        return new

    def _set_enabled(self, ids: Iterable[int], enabled: bool) -> None:
        self._host.check_changeable()
        for one in self._table.get_all(ids):
            one.enabled = enabled
        self._host.send()


Contribution = Callable[[], list[protocol.WireBreakpoint]]

# Reasons of stops without a breakpoint.
_OWN_REASONS = ("verify", "interrupt", "crash")


class AgentBreakpoints(BreakpointHost):
    """Sends breakpoints to the agent, and reads its hit counts."""

    def __init__(self, table: BreakpointTable, executions: Executions) -> None:
        self.table = table
        self._executions = executions
        self.barriers: list[Contribution] = []  # what gives further breakpoints to send
        self.observers: list[Contribution] = []  # likewise, but not during time travel
        self._is_counted = True
        self._is_quiet = False

    # --- BreakpointHost ---

    def check_changeable(self) -> None:
        self._executions.check_idle("breakpoints")

    def send(self) -> None:
        if self._executions.state != "stopped":
            return
        # The agent restarts its ignore counts with the new list.
        self.count_hits()
        self._executions.ask(protocol.SetBreakpoints(breakpoints=self.all()))

    def count_hits(self, *, again: bool = False) -> None:
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
        return [*self._of_user(), *(each for many in self.observers for each in many())]

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
        return [*own, *(each for many in self.barriers for each in many())]

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
