"""The controls of a session: from one stop to the next."""

from __future__ import annotations

from abc import ABC, abstractmethod

from actiondbg import protocol
from actiondbg.process.stop import Stop


class Controls(ABC):
    """The part of a session, of a tool or of a recording, that goes on event by event."""

    @abstractmethod
    def _resume(
        self, control: protocol.Control, count: int = 1, until: protocol.Until | None = None
    ) -> Stop:
        """Go on to the next stop."""

    def continue_(self, count: int = 1) -> Stop:
        """Go on to the ``count``-th next breakpoint, or the end."""
        return self._resume("continue", count)

    def step(self, count: int = 1) -> Stop:
        """Go on to the very next event: a nested action, or the end of this one."""
        return self._resume("step", count)

    def next(self, count: int = 1) -> Stop:
        """Go on to the end of this action, or, when it is over, to the next of its depth."""
        return self._resume("next", count)

    def finish(self, count: int = 1) -> Stop:
        """Go on to the end of the action around this one.

        Raises:
            ControlRefused: there is none.
        """
        return self._resume("finish", count)
