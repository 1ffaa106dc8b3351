"""Every stop passes through here: waits for it, and brings the session up to date."""

from __future__ import annotations

from collections.abc import Callable

from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions

Resuming = Callable[[], None]
Update = Callable[[Stop], Stop]


class Arrival:
    """Takes the session to each stop, and updates it in a fixed order.

    Args:
        executions: the processes of the tool.
        resuming: called before the tool resumes, in this order.
        updates: called with the stop, in this order; each returns the stop for the next.
    """

    def __init__(
        self, executions: Executions, resuming: list[Resuming], updates: list[Update]
    ) -> None:
        self._executions = executions
        self._resuming = resuming
        self._updates = updates

    def arrive(self, wait: Callable[[], Stop]) -> Stop:
        """Resume the tool, wait for its stop, and update the session.

        Args:
            wait: resumes and waits. If it raises, nothing is updated.

        Raises:
            SkipMismatch: an action that is to be skipped is not there.
        """
        for each in self._resuming:
            each()
        stop = wait()
        for update in self._updates:
            stop = update(stop)
        return stop


class InnerStops:
    """Counts the stops inside of an action, after the same event: crashes, failures, interrupts."""

    def __init__(self) -> None:
        self.event = 0
        self.number = 0

    def update(self, stop: Stop) -> Stop:
        """Count a stop."""
        number = self.number if self.event == stop.event else 0
        if stop.when != "during":
            number = 0
        elif stop.reason != "interrupt":
            number += 1
        self.event, self.number = stop.event, number
        return stop
