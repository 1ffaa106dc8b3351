"""The stack of actions at a stop, and what the action of the selected frame did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from actiondbg import protocol
from actiondbg.errors import NoSuchUnit, UnitErased, UsageError
from actiondbg.process.stop import Stop
from actiondbg.session.inspection.agent_access import AgentAccess


class Stack:
    """The stack of actions at a stop, and the selected frame.

    Every method raises NotStopped when there is no stop.
    """

    def __init__(self, agent: AgentAccess) -> None:
        self._agent = agent
        self._selected = 0

    @property
    def selected(self) -> int:
        """The index of the selected frame, 0 for the innermost action."""
        return self._selected

    def __getitem__(self, index: int) -> protocol.Frame:
        return self.frames()[index]

    def frames(self, *, units: bool = True) -> list[protocol.Frame]:
        """List the frames, the innermost action first.

        Args:
            units: with their IR units, whose text takes a fork of the tool.
        """
        return self._agent.ask(protocol.GetFrames(units=units)).frames

    def select(self, index: int) -> protocol.Frame:
        """Select a frame; the cursor goes to its first IR unit.

        Args:
            index: 0 for the innermost action.

        Raises:
            NoSuchUnit: there is no such frame.
        """
        frame = self._agent.ask(protocol.SelectFrame(index=index))
        self._selected = index
        return frame

    def show_anew(self, stop: Stop) -> None:
        """Select the innermost frame, and move the cursor to where it was at the stop."""
        self.select(0)
        cursor = stop.cursor
        if cursor is None or cursor.by == "action" or cursor.kind != "operation":
            return
        with contextlib.suppress(NoSuchUnit, UnitErased):  # by an edit at the stop
            self._agent.ask(protocol.MoveCursor(to="id", index=cursor.id))

    def action(self) -> protocol.Action:
        """Return the action of the selected frame in full."""
        return self._agent.ask(protocol.GetAction())

    def context(self) -> list[protocol.Unit]:
        """List the IR units of the action of the selected frame."""
        return self._agent.ask(protocol.GetContext()).units

    def reset(self) -> None:
        """Select the innermost frame again: the stop is over."""
        self._selected = 0


class Outcome:
    """What the action of a stop did: its result, the reasons of a failure, its changes."""

    def __init__(self, agent: AgentAccess, stop: Callable[[], Stop | None]) -> None:
        self._agent = agent
        self._stop = stop

    @property
    def result(self) -> protocol.Result | None:
        """How the action ended; None but after an action."""
        outcome = self._outcome()
        return None if outcome is None else outcome.result

    @property
    def reasons(self) -> list[str]:
        """Why the action failed, as its code reported it; empty but after a failed action."""
        outcome = self._outcome()
        return [] if outcome is None else list(outcome.reasons)

    def changes(self, nested: bool = True, limit: int = 1000) -> protocol.Changes:
        """List the changes that the action of the selected frame has made so far.

        Args:
            nested: those of its nested actions too.
            limit: how many at most, the first ones; from 0.

        Returns:
            The changes, the number of all and of each kind, and the number of the oldest ones
            that are no longer held.

        Raises:
            NotStopped: there is no stop.
        """
        if limit < 0:
            raise UsageError(f"{limit} changes cannot be listed: give a limit from 0.")
        return self._agent.ask(protocol.GetChanges(nested=nested, count=limit))

    def _outcome(self) -> protocol.Outcome | None:
        stop = self._stop()
        return None if stop is None else stop.outcome
