"""What a session does with its breakpoints, watches and catches."""

from __future__ import annotations

import contextlib
import os
from abc import abstractmethod
from collections.abc import Iterable

from actiondbg import protocol
from actiondbg.breakpoints.breakpoint import Breakpoint, BreakpointTable, breakpoint_script
from actiondbg.errors import AgentError, FileNotWritten, NotStopped, ToolGone, UsageError
from actiondbg.process.execution import Execution
from actiondbg.session.old_inspection import Inspection
from actiondbg.support.atomic_write import write_whole


class Breaking(Inspection):
    """The part of Session that keeps the breakpoints, and tells the agent of each change.

    Changing one raises NotStopped while the tool runs, and UsageError for an id that there is not.
    """

    def __init__(self) -> None:
        super().__init__()
        self._list = BreakpointTable()
        self._hits_are_old = False

    @property
    @abstractmethod
    def _current(self) -> Execution | None:
        """The run, if there is one."""

    @property
    def breakpoints(self) -> list[Breakpoint]:
        """All breakpoints, in the order of their ids, with their hits up to date at a stop."""
        with contextlib.suppress(ToolGone):
            self._count_hits()
        return self._list.all()

    def breakpoint(self, id: int) -> Breakpoint:
        """Return one, with its hits up to date at a stop; raises UsageError if there is none."""
        with contextlib.suppress(ToolGone):
            self._count_hits()
        return self._list.get(id)

    def add_breakpoint(
        self,
        spec: str,
        condition: str | None = None,
        *,
        temporary: bool = False,
        after: bool = False,
        outcome: str | None = None,
    ) -> Breakpoint:
        """Set a breakpoint.

        Args:
            spec: what to stop at, such as ``pattern:*Select*`` or ``in.mlir:3``.
            condition: when, such as ``depth > 1 and op ~ "arith.*"``.
            temporary: only once.
            after: after the action instead of before it.
            outcome: after the action, if it had this outcome, such as
                ``failed,reason:*constant*``.

        Raises:
            UsageError: the spec, the condition or the outcome is written wrongly; it holds the
                position.
        """
        return self._add(
            Breakpoint(
                self._list.next_id,
                spec,
                condition,
                temporary=temporary,
                after=after,
                outcome=outcome,
            )
        )

    def _add(self, new: Breakpoint) -> Breakpoint:
        self._check_not_running()
        self._list.add(new)
        try:
            self._send_breakpoints()
        except AgentError:
            self._list.remove(new.id)
            raise
        return new

    def delete_breakpoints(self, ids: Iterable[int]) -> None:
        """Delete breakpoints; none, when one of the ids does not exist."""
        self._check_not_running()
        for one in self._list.get_all(ids):
            self._list.remove(one.id)
        self._send_breakpoints()

    def enable(self, ids: Iterable[int]) -> None:
        """Have breakpoints stop again."""
        self._set_enabled(ids, True)

    def disable(self, ids: Iterable[int]) -> None:
        """Have breakpoints not stop until they are enabled."""
        self._set_enabled(ids, False)

    def set_condition(self, id: int, text: str | None) -> None:
        """Replace a breakpoint's condition; None removes it.

        Raises:
            UsageError: it is written wrongly; the old one is kept.
        """
        self._check_not_running()
        self._list.get(id).set_condition(text)
        self._send_breakpoints()

    def set_ignore(self, id: int, n: int) -> None:
        """Have a breakpoint pass over its next ``n`` hits.

        Args:
            id: the breakpoint.
            n: from 0.
        """
        self._check_not_running()
        if n < 0:
            raise UsageError(f"{n} hits cannot be ignored: give a count from 0.")
        self._count_hits()
        self._list.get(id).ignore = n
        self._send_breakpoints()

    def set_commands(self, id: int, lines: list[str]) -> None:
        """Keep what the front end runs when a breakpoint has stopped."""
        self._list.get(id).commands = list(lines)

    def hits(self) -> list[Breakpoint]:
        """Ask the agent how often the breakpoints were hit in this run; return them all."""
        self._hits_are_old = True
        self._count_hits()
        return self._list.all()

    def save_breakpoints(self, path: str | os.PathLike[str]) -> None:
        """Write a script of commands that sets the breakpoints again.

        In it ``$_`` stands for the id of the newest breakpoint, so that it can be read when there
        are others: ``break SPEC``, ``watch TARGET`` or ``catch EVENT``, then ``ignore $_ N``,
        ``disable $_``, ``commands $_ ... end``.

        Raises:
            FileNotWritten: the file cannot be written.
        """
        try:
            write_whole(path, breakpoint_script(self.breakpoints).encode())
        except OSError as error:
            raise FileNotWritten(
                f"The breakpoints cannot be written to {os.fspath(path)!r} ({error.strerror}): "
                "name another file."
            ) from error

    def _set_enabled(self, ids: Iterable[int], enabled: bool) -> None:
        self._check_not_running()
        for one in self._list.get_all(ids):
            one.enabled = enabled
        self._send_breakpoints()

    def _check_not_running(self) -> None:
        if self._current is not None and self._current.state == "running":
            raise NotStopped("The tool is running: interrupt it before changing breakpoints.")

    def _send_breakpoints(self) -> None:
        """Tell a stopped agent all breakpoints; else they are told when it starts."""
        if self._current is None or self._current.state != "stopped":
            return
        # What is left to ignore must not be begun anew.
        self._count_hits()
        self._ask(protocol.SetBreakpoints(breakpoints=self._on_wire()))

    def _on_wire(self) -> list[protocol.WireBreakpoint]:
        """Return what the agent is to stop at."""
        return self._list.on_wire()

    def _count_hits(self) -> None:
        run = self._current
        if run is None or run.state == "running":
            return
        if run.state == "exited":
            self._list.count(run.hits)
        elif self._hits_are_old:
            self._list.count(self._ask(protocol.GetHits()).hits)
            self._hits_are_old = False
