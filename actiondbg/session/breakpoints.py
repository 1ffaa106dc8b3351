"""The breakpoints, watches and catches of a session."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from typing import Protocol

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import Breakpoint, BreakpointTable, breakpoint_script
from actiondbg.breakpoints.resolution import Vocabulary, resolve_spec
from actiondbg.breakpoints.targets import Target, catch_spec, parse_catch, parse_target, watch_spec
from actiondbg.errors import AgentError, FileNotWritten, ToolGone, UsageError
from actiondbg.process.stop import Stop
from actiondbg.session.inspection.cursor import Cursor
from actiondbg.support.atomic_write import write_whole


class BreakpointHost(Protocol):
    """The evaluator of breakpoints: the agent of a tool, or a recording."""

    def check_changeable(self) -> None:
        """Raise NotStopped while the tool runs."""
        ...

    def check_watch(self, target: Target) -> None:
        """Raise UsageError if the host cannot watch such a target."""
        ...

    def check_catch(self, kind: str) -> None:
        """Raise UsageError if the host cannot catch such an event."""
        ...

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
            resolved.spec,
            condition,
            temporary=temporary,
            after=after,
            outcome=outcome,
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
        watch = protocol.Watch(kind=parsed.kind, exact=exact)
        if parsed.kind == "count":
            watch.glob = parsed.name
        elif parsed.operation is not None:
            watch.attribute = parsed.name
            watch.id = self._cursor.operation_id(parsed.operation)
        return self._add(Breakpoint(self._table.next_id, watch_spec(watch), condition, watch=watch))

    def catch(self, kind: str, glob: str | None = None) -> Breakpoint:
        """Stop at an event that is no action.

        Args:
            kind: "failure" (of a pass), "crash", "verify" (the IR is found to be invalid),
                "diagnostic" or "nonconvergence" (of a greedy driver).
            glob: of the text of the diagnostic, or of the pass that fails; None for any.

        Raises:
            UsageError: there is no such event, or it takes no glob.
        """
        self._host.check_catch(kind)
        event = parse_catch(kind, glob)
        return self._add(Breakpoint(self._table.next_id, catch_spec(event), catch=event))

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
        try:
            write_whole(path, breakpoint_script(self.all()).encode())
        except OSError as error:
            raise FileNotWritten(
                f"The breakpoints cannot be written to {os.fspath(path)!r} ({error.strerror}): "
                "name another file."
            ) from error

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
