"""What the action of a stop did."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg import protocol
from actiondbg.errors import UsageError
from actiondbg.process.stop import Stop
from actiondbg.session.inspection.agent_access import AgentAccess


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
